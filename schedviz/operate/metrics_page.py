"""``/metrics``: the metrics of the whole server, as Prometheus reads them."""

import hmac
import logging
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

import schedviz.metrics.scheduler  # noqa: F401 (only workers count these)
from schedviz.local_names import is_local
from schedviz.metrics.registry import REGISTRY, Series
from schedviz.operate.server_state import server_state
from schedviz.operate.web_metrics import web_metrics
from schedviz.store.default import default_store

log = logging.getLogger(__name__)

FORWARDED: Final = ("Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via")
"""Headers that a proxy adds: the request came from elsewhere, although the proxy is on this machine."""

SUFFIXES: Final = ("", "_total", "_bucket", "_sum", "_count")


class Collected(Collector):
    """Metrics that were read before."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = [*metrics]

    def collect(self) -> Iterator[Metric]:
        return iter(self._metrics)


def metrics(request: HttpRequest) -> HttpResponse:
    if not may_read(request):
        text = "the metrics need the token of the setting METRICS_TOKEN, as a bearer token"
        if not settings.METRICS_TOKEN:
            text = "without the setting METRICS_TOKEN only programs on this machine may read the metrics"
        return HttpResponse(
            f"{text}\n", content_type="text/plain", status=401, headers={"WWW-Authenticate": "Bearer"}
        )
    shared = web_metrics()
    shared.write()  # so that what this process has counted until now is in the answer
    try:
        counted, measured = shared.read()
        families = [*as_metrics(counted | measured), *server_state(default_store())]
    except RedisError as error:
        log.warning("metrics: %s", error)
        return HttpResponse("Redis does not answer\n", content_type="text/plain", status=503)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collected(families))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def may_read(request: HttpRequest) -> bool:
    """Whether the request has the token; where none is set, whether it comes from this machine, and asks for
    a name of it. A proxy may add no header, but hand on the name that its client asked for."""
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "")
        return hmac.compare_digest(given.encode(), f"Bearer {settings.METRICS_TOKEN}".encode())
    if any(header in request.headers for header in FORWARDED) or not is_local(
        request.headers.get("Host", "")
    ):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def as_metrics(values: Mapping[Series, float]) -> list[Metric]:
    """Return the metrics that this program defines, with the values of all processes. Unknown series, of
    another version, are left out."""
    known = {
        metric.name: Metric(metric.name, metric.documentation, metric.type) for metric in REGISTRY.collect()
    }
    for series in sorted(values, key=_order):
        found = next(
            (known[base] for suffix in SUFFIXES if (base := series.name.removesuffix(suffix)) in known), None
        )
        if found is not None:
            found.add_sample(series.name, dict(series.labels), values[series])
    return [*known.values()]


def _order(series: Series) -> tuple[object, ...]:
    """Return the sort key of a sample: its labels, and for a bucket of a histogram its bound."""
    labels = [label for label in series.labels if label[0] != "le"]
    bound = float(dict(series.labels).get("le", "inf"))
    return labels, series.name, bound
