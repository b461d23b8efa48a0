"""Validation of the probes and the lifecycle handlers of containers.

Upstream: validateProbe, validateHandler and validateLifecycle in pkg/apis/core/validation/validation.go,
v1.34.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.enumerations import SCHEMES
from simulator.apiserver.field_checks import check_not_negative, check_port
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required

_COUNTS: Final = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)
_HEADER: Final = re.compile(r"[-A-Za-z0-9]+")
_HEADER_RULE: Final = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used "
    "for validation is '[-A-Za-z0-9]+')"
)
GRACE: Final = "terminationGracePeriodSeconds"


def validate_probes(container: Manifest, path: str, grace_seconds: int) -> Iterator[Cause]:
    """Validate the lifecycle and the probes of a container that runs as long as its pod."""
    lifecycle = container.get("lifecycle", {})
    for field in ("postStart", "preStop"):
        if field in lifecycle:
            yield from _handler(lifecycle[field], f"{path}.lifecycle.{field}", grace_seconds)
    for kind in ("livenessProbe", "readinessProbe", "startupProbe"):
        if kind in container:
            yield from _probe(container[kind], kind, f"{path}.{kind}", grace_seconds)


def forbid_probes(container: Manifest, path: str) -> Iterator[Cause]:
    """Refuse the lifecycle and the probes of an init container that ends before the others start."""
    for field in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
        if field in container:
            detail = "may not be set for init containers without restartPolicy=Always"
            yield forbidden(f"{path}.{field}", detail)


def _probe(probe: Manifest, kind: str, path: str, grace_seconds: int) -> Iterator[Cause]:
    yield from _handler(probe, path, grace_seconds)
    yield from check_not_negative(probe, _COUNTS, path)
    grace = probe.get(GRACE)
    if grace is not None and grace <= 0:
        yield invalid(f"{path}.{GRACE}", grace, "must be greater than 0")
    if kind == "readinessProbe":
        if grace is not None:
            yield invalid(f"{path}.{GRACE}", grace, "must not be set for readinessProbes")
    elif probe.get("successThreshold", 1) != 1:
        yield invalid(f"{path}.successThreshold", probe["successThreshold"], "must be 1")


def _handler(handler: Manifest, path: str, grace_seconds: int) -> Iterator[Cause]:
    given = [field for field in (*_HANDLERS, "sleep") if field in handler]
    for number, field in enumerate(given):
        at = f"{path}.{field}"
        if number:
            yield forbidden(at, "may not specify more than 1 handler type")
        elif field == "sleep":
            seconds = handler[field].get("seconds", 0)
            if not 0 <= seconds <= grace_seconds:
                detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_seconds})"
                yield invalid(at, seconds, detail)
        else:
            yield from _HANDLERS[field](handler[field], at)
    if not given:
        yield required(path, "must specify a handler type")


def _exec(action: Manifest, path: str) -> Iterator[Cause]:
    if not action.get("command"):
        yield required(f"{path}.command")


def _http_get(action: Manifest, path: str) -> Iterator[Cause]:
    if not action.get("path"):
        yield required(f"{path}.path")
    yield from check_port(action.get("port"), f"{path}.port")
    if action.get("scheme", "HTTP") not in SCHEMES:
        yield not_supported(f"{path}.scheme", action["scheme"], SCHEMES)
    for header in action.get("httpHeaders", ()):
        if not _HEADER.fullmatch(header["name"]):
            yield invalid(f"{path}.httpHeaders", header["name"], _HEADER_RULE)


def _socket(action: Manifest, path: str) -> Iterator[Cause]:
    yield from check_port(action.get("port"), f"{path}.port")


_HANDLERS: Final[dict[str, Callable[[Manifest, str], Iterator[Cause]]]] = {
    "exec": _exec,
    "httpGet": _http_get,
    "tcpSocket": _socket,
    "grpc": _socket,
}
