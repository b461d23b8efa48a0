"""The answers under ``/api`` and ``/apis`` that say which groups, versions and resources there are.

Upstream: apiserver/pkg/endpoints/discovery and its package aggregated (wrapper.go, negotiation.go, etag.go).
"""

from hashlib import sha256
from typing import Final, NamedTuple

import msgspec
from django.http import HttpRequest, HttpResponse

from schedviz.api import body, discovery
from schedviz.api.accept import NOT_ACCEPTED, Conversion, allows_no_conversion, negotiate
from schedviz.api.representation import check_route
from schedviz.api.served import Served, find_served
from schedviz.store.past import Readable
from simulator.api import Manifest
from simulator.apiserver.request_errors import MethodNotAllowed, NoSuchPath, NotAcceptable

AGGREGATED: Final = Conversion("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList")
"""One document of all groups. Its version v2beta1 is no longer served (AggregatedDiscoveryRemoveBetaType)."""
_NOT_MODIFIED: Final = 304


def check_get(request: HttpRequest) -> None:
    """Check the method. Raises MethodNotAllowed for others than GET, also for HEAD, as an API server."""
    if request.method != "GET":
        raise MethodNotAllowed()


def respond(request: HttpRequest, sandbox: Readable, segments: list[str]) -> HttpResponse:
    """Return the response of discovery. segments: the parts of the path. Raises StatusError."""
    check_get(request)
    accept = request.headers.get("Accept", "")
    if len(segments) == 1 and accept and negotiate(accept, _is_aggregated, server_version=""):
        return _aggregated(request, find_served(sandbox), core=segments == ["api"])
    document = _document(sandbox, segments)
    if accept and segments != ["apis"]:
        check_route(accept)
    if negotiate(accept, allows_no_conversion, server_version="") is None:
        raise NotAcceptable(NOT_ACCEPTED)
    return body.answer(document)


def _document(sandbox: Readable, segments: list[str]) -> Manifest:
    match segments:
        case ["api"]:
            return discovery.core_versions()
        case ["api", "v1"]:
            return discovery.resources(find_served(sandbox), "", "v1")
        case ["apis"]:
            return discovery.groups(find_served(sandbox))
        case ["apis", group]:
            return discovery.group(find_served(sandbox), group)
        case ["apis", group, version]:
            return discovery.resources(find_served(sandbox), group, version)
    raise NoSuchPath()


def _is_aggregated(_: str, conversion: Conversion | None) -> bool:
    return conversion == AGGREGATED


class _Tagged(NamedTuple):
    content: bytes
    tag: str


def _tagged(served: Served, core: bool) -> _Tagged:
    content = msgspec.json.encode(discovery.aggregated(served, core=core))
    return _Tagged(content + b"\n", f'"{sha256(content).hexdigest().upper()}"')


def _aggregated(request: HttpRequest, served: Served, *, core: bool) -> HttpResponse:
    """Return the document, with a tag by which a client asks whether it has changed."""
    content, tag = served.document(("aggregated", core), lambda: _tagged(served, core))
    if request.headers.get("If-None-Match") == tag:
        response = HttpResponse(status=_NOT_MODIFIED)
        del response["Content-Type"]
    else:
        group, version, kind = AGGREGATED
        response = HttpResponse(content, content_type=f"application/json;g={group};v={version};as={kind}")
    response["ETag"], response["Vary"], response["Cache-Control"] = tag, "Accept", "private"
    return response
