"""The API of each sandbox under ``/s/<name>/``.

The API reads no cookie and no other credential, so these paths are exempt from Django's CSRF tokens. But a
page of another site, in a browser on the machine that runs schedviz, must not write to a sandbox:
:func:`refuse_cross_site` prevents that.
"""

import gzip
import logging
from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from io import BytesIO

import msgspec
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from schedviz.access.asker import asker_of
from schedviz.api import (
    body,
    discovery,
    discovery_answers,
    openapi_answers,
    rest,
    reviews,
    sandbox_health,
    scheduler_settings,
)
from schedviz.api.cross_site import SAFE_METHODS, refuse_cross_site
from schedviz.api.discovery_answers import check_get
from schedviz.api.media_types import as_accepted
from schedviz.api.refused import REVIEWS
from schedviz.api.target import parse
from schedviz.api.trace_events import trace_events
from schedviz.cache import features_of, find_handle, read_current
from schedviz.store import Gone, NoSandbox, Trouble, Unreadable, trouble_of
from schedviz.store.archive import LEVEL
from schedviz.store.default import default_store
from schedviz.store.recording import recording_lines
from simulator.apiserver.request_errors import Expired, MethodNotAllowed, NoSuchPath
from simulator.apiserver.served_features import serving
from simulator.apiserver.status import BadRequest, NotFound, ServiceUnavailable, StatusError
from simulator.kernel.work import Abandoned
from simulator.trace import encode_numbered

log = logging.getLogger(__name__)

TROUBLE = {
    Trouble.AWAY: "the store does not answer; please try again",
    Trouble.FULL: "the store is out of memory: nothing was stored; please try again later",
    Trouble.READ_ONLY: "the store takes no writes now: nothing was stored; please try again later",
}
"""The messages of a Status. They are not translated, as all messages of the API server."""

View = Callable[..., HttpResponseBase]


def statuses(view: View) -> View:
    """Decorator: turns the exceptions of a view into a response with a Kubernetes Status."""

    @csrf_exempt
    @wraps(view)
    def with_status(request: HttpRequest, *args: str, **kwargs: str) -> HttpResponseBase:
        try:
            refuse_cross_site(request)
            with serving(features_of(kwargs["name"])) if "name" in kwargs else nullcontext():
                # Here objects of a list are decoded.
                return as_accepted(request, view(request, *args, **kwargs))
        except Abandoned:
            raise
        except Exception as error:
            refused = _status_of(error, kwargs.get("name", ""))
            if refused is None:
                log.exception("%s %s", request.method, request.path)
                refused = StatusError("an error on the server has prevented the request from succeeding")
            return as_accepted(request, body.refusal(refused))

    return with_status


def _status_of(error: Exception, sandbox: str) -> StatusError | None:
    """Return the Status for an exception of a view; None if nobody expects it."""
    match error:
        case StatusError():
            return error
        case SuspiciousOperation():
            # What Django refuses to read, such as more than 1,000 query parameters.
            return BadRequest(str(error))
        case NoSandbox():
            return NotFound("sandboxes", sandbox)
        case Gone():
            return Expired(str(error))
        case Unreadable():
            return StatusError(str(error))
    trouble = trouble_of(error)
    return ServiceUnavailable(TROUBLE[trouble]) if trouble else None


@statuses
def api(request: HttpRequest, name: str, path: str) -> HttpResponseBase:
    """Answer requests to ``/s/<name>/api`` and ``/s/<name>/apis``."""
    sandbox = find_handle(name)
    segments = path.strip("/").split("/")
    if "" in segments:
        raise NoSuchPath()
    match segments:
        case ["apis", group, reviews.VERSION, *rest_of_path] if group in REVIEWS and rest_of_path:
            return reviews.respond(request, name, group, rest_of_path, asker_of(request))
    match segments:
        case ["api", "v1", *rest_of_path] if rest_of_path:
            return rest.respond(request, sandbox, parse("", "v1", rest_of_path))
        case ["apis", group, version, *rest_of_path] if rest_of_path:
            return rest.respond(request, sandbox, parse(group, version, rest_of_path))
    return discovery_answers.respond(request, read_current(sandbox), segments)


@statuses
def alive(request: HttpRequest, name: str, endpoint: str, check: str = "") -> HttpResponse:
    """Answer ``/healthz``, ``/livez`` and ``/readyz`` of a sandbox, as an API server does."""
    default_store().sandbox(name)
    return sandbox_health.respond(request, endpoint, check)


@statuses
def version(request: HttpRequest, name: str) -> HttpResponse:
    check_get(request)
    default_store().sandbox(name)
    # It is always indented (WriteRawJSON in apiserver/pkg/endpoints/handlers/responsewriters/writers.go).
    content = msgspec.json.format(msgspec.json.encode(discovery.version_info()), indent=2)
    return HttpResponse(content, content_type=body.JSON)


@statuses
def openapi_of(request: HttpRequest, name: str, form: str, path: str) -> HttpResponse:
    """Return ``/openapi/v2`` and ``/openapi/v3`` of a sandbox."""
    source = read_current(default_store().sandbox(name))
    return openapi_answers.of_sandbox(request, source, form, path.strip("/"))


@statuses
def built_in_openapi(request: HttpRequest, path: str) -> HttpResponse:
    """Return ``/openapi/v3`` of the server."""
    return openapi_answers.of_server(request, path.strip("/"))


@statuses
def scheduler_of(request: HttpRequest, name: str) -> HttpResponse:
    """Return the settings of the scheduler: docs/GUEST.md."""
    sandbox = default_store().sandbox(name)
    return scheduler_settings.respond(request, sandbox)


@statuses
def trace(request: HttpRequest, name: str) -> HttpResponseBase:
    """Return the trace events after the number ``after``, as JSON Lines: docs/TRACE.md."""
    if request.method not in SAFE_METHODS:
        raise MethodNotAllowed()
    sandbox = default_store().sandbox(name)
    after = body.whole_number(request, "after", 0)
    lines = [encode_numbered(number, event) for number, event in trace_events(sandbox, after)]
    return HttpResponse(b"".join(lines), content_type="application/jsonl")


@statuses
def recording(request: HttpRequest, name: str) -> HttpResponseBase:
    """Return the recording of all inputs of the simulator, for replay: docs/HISTORY.md. JSON Lines, gzipped.
    It is built completely, some MB, before the response starts, so that an error gives a Status and not a
    truncated file."""
    if request.method not in SAFE_METHODS:
        raise MethodNotAllowed()
    packed = BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=LEVEL, mtime=0) as lines:
        for line in recording_lines(default_store().sandbox(name)):
            lines.write(line + b"\n")
    response = HttpResponse(packed.getvalue(), content_type="application/gzip")
    response["Content-Disposition"] = f'attachment; filename="{name}.recording.jsonl.gz"'
    return response
