"""The API of each sandbox under ``/s/<name>/``, and the server's own health.

No cookie and no other credential is looked at: these paths are exempt from Django's CSRF tokens. But a page
of another site, open in the browser of somebody whose machine runs schedviz, must write nothing:
:func:`refuse_cross_site`.
"""

import gzip
import logging
from collections.abc import Callable, Iterator
from functools import wraps
from io import BytesIO
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from schedviz.api import body, discovery, openapi, rest
from schedviz.api.target import parse
from schedviz.loop.presence import WORKERS, heartbeat_key
from schedviz.store import Gone, NoSandbox, Sandbox
from schedviz.store.archive import LEVEL
from schedviz.store.bounds import TRACE_LENGTH
from schedviz.store.default import default_store
from schedviz.store.recording import record
from simulator.apiserver.status import (
    Expired,
    MethodNotAllowed,
    NoSuchPath,
    NotFound,
    ServiceUnavailable,
    StatusError,
)
from simulator.trace import Event, numbered

log = logging.getLogger(__name__)

SAFE_METHODS = ("GET", "HEAD")
TRACE_BATCH = 1_000
"""Events read from Redis at once: some 200 kB."""

View = Callable[..., HttpResponseBase]


class CrossSite(StatusError):
    code, reason = 403, "Forbidden"


def refuse_cross_site(request: HttpRequest) -> None:
    """Raises CrossSite for a write that a browser says another origin's page asked for.

    kubectl, curl and the client libraries send neither header."""
    if request.method in SAFE_METHODS:
        return
    site = request.headers.get("Sec-Fetch-Site", "")
    origin = request.headers.get("Origin", "")
    if site not in ("", "same-origin", "none") or (origin and urlsplit(origin).netloc != request.get_host()):
        raise CrossSite("pages of other origins may not write to a sandbox")


def statuses(view: View) -> View:
    """A view whose every refusal is a Kubernetes Status."""

    @csrf_exempt
    @wraps(view)
    def answering(request: HttpRequest, *args: str, **kwargs: str) -> HttpResponseBase:
        try:
            refuse_cross_site(request)
            return view(request, *args, **kwargs)
        except StatusError as error:
            return body.refusal(error)
        except NoSandbox:
            return body.refusal(NotFound("sandboxes", kwargs.get("name", "")))
        except Gone as error:
            return body.refusal(Expired(str(error)))
        except (RedisConnectionError, RedisTimeoutError):
            return body.refusal(ServiceUnavailable("the store does not answer; please try again"))
        except Exception:
            log.exception("%s %s", request.method, request.path)
            return body.refusal(
                StatusError("an error on the server has prevented the request from succeeding")
            )

    return answering


@statuses
def api(request: HttpRequest, name: str, path: str) -> HttpResponseBase:
    """Everything under ``/s/<name>/api`` and ``/s/<name>/apis``."""
    sandbox = default_store().sandbox(name)
    segments = path.strip("/").split("/")
    if "" in segments:
        raise NoSuchPath()
    match segments:
        case ["api", "v1", *rest_of_path] if rest_of_path:
            return rest.respond(request, sandbox, parse("", "v1", rest_of_path))
        case ["apis", group, version, *rest_of_path] if rest_of_path:
            return rest.respond(request, sandbox, parse(group, version, rest_of_path))
    return _discovery(request, sandbox, segments)


@statuses
def version(request: HttpRequest, name: str) -> HttpResponse:
    default_store().sandbox(name)
    return body.answer(discovery.VERSION)


@statuses
def openapi_v3(request: HttpRequest, name: str, path: str) -> HttpResponse:
    sandbox = default_store().sandbox(name)
    root = path.strip("/")
    return body.answer(openapi.document(sandbox, root) if root else openapi.index(sandbox))


@statuses
def trace(request: HttpRequest, name: str) -> HttpResponseBase:
    """The trace after a number, as JSON Lines: docs/TRACE.md."""
    if request.method not in SAFE_METHODS:
        raise MethodNotAllowed()
    sandbox = default_store().sandbox(name)
    after = body.whole_number(request, "after", 0)
    lines = [numbered(number, event) for number, event in _events(sandbox, after)]
    return HttpResponse(b"".join(lines), content_type="application/jsonl")


@statuses
def recording(request: HttpRequest, name: str) -> HttpResponseBase:
    """All that the simulator was given, for it to be told again: docs/HISTORY.md. JSON Lines, gzipped; made
    whole first, some MB, so that what cannot be had is refused and not cut off."""
    if request.method not in SAFE_METHODS:
        raise MethodNotAllowed()
    packed = BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=LEVEL, mtime=0) as lines:
        for line in record(default_store().sandbox(name)):
            lines.write(line + b"\n")
    response = HttpResponse(packed.getvalue(), content_type="application/gzip")
    response["Content-Disposition"] = f'attachment; filename="{name}.recording.jsonl.gz"'
    return response


def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """Whether sandboxes run: Redis answers, and some worker is alive."""
    redis = default_store().redis
    checks = {"redis": False, "worker": False}
    try:
        checks["redis"] = bool(redis.ping())
        workers = [worker.decode() for worker in redis.smembers(WORKERS)]  # type: ignore[union-attr] # sync client
        checks["worker"] = any(redis.exists(heartbeat_key(worker)) for worker in workers)
    except RedisError as error:
        log.warning("readyz: %s", error)
    lines = [
        f"[{'+' if ready else '-'}]{check} {'ok' if ready else 'failed'}" for check, ready in checks.items()
    ]
    ready = all(checks.values())
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain", status=200 if ready else 503)


def _discovery(request: HttpRequest, sandbox: Sandbox, segments: list[str]) -> HttpResponse:
    if request.method not in SAFE_METHODS:
        raise MethodNotAllowed()
    match segments:
        case ["api"]:
            return body.answer(discovery.core_versions())
        case ["api", "v1"]:
            return body.answer(discovery.resources(sandbox, "", "v1"))
        case ["apis"]:
            return body.answer(discovery.groups(sandbox))
        case ["apis", group]:
            return body.answer(discovery.group(sandbox, group))
        case ["apis", group, version]:
            return body.answer(discovery.resources(sandbox, group, version))
    raise NoSuchPath()


def _events(sandbox: Sandbox, after: int) -> Iterator[tuple[int, Event]]:
    """The trace after a number; after 0, all that is not in the archive yet. Bounded by what the store keeps.
    Raises Gone."""
    if after == 0:
        yield from sandbox.trace_tail(TRACE_LENGTH)
        return
    head = sandbox.trace_head()
    while events := sandbox.trace(after, TRACE_BATCH):
        yield from events
        after = events[-1][0]
        if after >= head:
            return
