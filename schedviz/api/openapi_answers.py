"""The answers under ``/openapi``. Each document has a tag, by which a client keeps it: the URLs in the index
of version 3 have the tag as ``hash``, and what is at such a URL never changes.

Upstream: kube-openapi, pkg/handler3/handler.go and pkg/handler/handler.go. A path without a document
is answered with 404 and no body.
"""

from typing import Final

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.utils.cache import patch_response_headers

from schedviz.api import openapi
from schedviz.api.accept import JSON, clauses_of
from schedviz.api.kept_documents import Document
from schedviz.api.openapi_protobuf import ACCEPTED, MEDIA_TYPE
from schedviz.store.past import Readable
from simulator.apiserver.request_errors import NoSuchPath
from simulator.apiserver.served_features import serving
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import MODELLED, KubernetesVersion

_YEAR: Final = 365 * 24 * 60 * 60
_NOT_MODIFIED: Final = 304


def of_sandbox(request: HttpRequest, source: Readable, form: str, root: str) -> HttpResponse:
    """Return the response of a sandbox's documents. ``form``: ``v2`` or ``v3``. ``root``: the rest of the
    path; "" = of the index, or of all types."""
    try:
        if form == "v3" and root:
            return _versioned(request, openapi.document(source, root))
        if form == "v3":
            return HttpResponse(openapi.index(source), content_type="text/plain; charset=utf-8")
        if not root:
            asked = [clause.media_type for clause in clauses_of(request.headers.get("Accept", ""))]
            protobuf = any(each in ACCEPTED for each in asked)
            found = openapi.swagger(source, protobuf=protobuf)
            return _tagged(request, found, MEDIA_TYPE if protobuf else JSON)
    except NoSuchPath:
        pass
    return _no_document()


def of_server(request: HttpRequest, root: str) -> HttpResponse:
    """Return the response ``/openapi/v3`` of the server: the documents that all sandboxes of a version have.
    Their hash says of which version one is asked for."""
    try:
        found = [_document_of(version, root) for version in MODELLED]
    except NoSuchPath:
        return _no_document()
    wanted = request.GET.get("hash", "")
    return _versioned(request, next((each for each in found if each.tag == wanted), found[-1]))


def _document_of(version: KubernetesVersion, root: str) -> Document:
    with serving(Features(version)):
        return openapi.built_in_document(root)


def _versioned(request: HttpRequest, document: Document) -> HttpResponse:
    wanted = request.GET.get("hash", "")
    if wanted and wanted != document.tag:
        return HttpResponsePermanentRedirect(f"{request.path}?hash={document.tag}")
    response = _tagged(request, document, JSON)
    if wanted:
        patch_response_headers(response, _YEAR)
        response["Cache-Control"] = "private, immutable"
    return response


def _tagged(request: HttpRequest, document: Document, content_type: str) -> HttpResponse:
    quoted = f'"{document.tag}"'
    if request.headers.get("If-None-Match") == quoted:
        response = HttpResponse(status=_NOT_MODIFIED)
        del response["Content-Type"]
    else:
        response = HttpResponse(document.content, content_type=content_type)
    # Kept by kubectl, which asks whether it has changed.
    response["ETag"], response["Vary"], response["Cache-Control"] = quoted, "Accept", "private, no-cache"
    return response


def _no_document() -> HttpResponse:
    response = HttpResponse(status=404)
    del response["Content-Type"]
    return response
