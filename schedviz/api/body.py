"""Reads the bodies and query parameters of API requests, and builds the responses."""

import json
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse

from schedviz.api.warning_header import with_warnings
from simulator.api import Manifest
from simulator.apiserver import protobuf
from simulator.apiserver.manifest import ManifestError, TooLong, parse_documents
from simulator.apiserver.patches.patch_request import PatchBody, Patched, patched_object
from simulator.apiserver.query import Query, boolean_parameter, integer_parameter
from simulator.apiserver.request_decoding.decode_request import (
    DecodedRequest,
    cannot_be_handled,
    decode_protobuf_request,
    decode_request,
    strict_decoding_error,
    strict_warnings,
)
from simulator.apiserver.request_errors import NoSuchGroup, TooLarge, UnsupportedMediaType
from simulator.apiserver.request_options import (
    MAX_FIELD_MANAGER_BYTES,
    WriteOptions,
    check_write_options,
    decode_delete_options,
)
from simulator.apiserver.resource import Resource
from simulator.apiserver.response_json import response_json
from simulator.apiserver.status import BadRequest, StatusError

JSON = "application/json"
PROTOBUF = protobuf.MEDIA_TYPE
YAML = ("application/yaml", "text/yaml", "application/x-yaml")
APPLY = "application/apply-patch+yaml"
OBJECT_TYPES = (JSON, "application/yaml", PROTOBUF)
"""The media types of objects that an API server accepts."""

CREATED: Manifest = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
"""The body of the response to a binding and to an eviction."""


class ObjectResponse(HttpResponse):
    """A response with an object, in JSON. :func:`schedviz.api.media_types.as_accepted` encodes it as the
    request asks."""

    def __init__(self, value: Manifest, status: int) -> None:
        super().__init__(response_json(value), status=status, content_type=JSON)
        self.value = value


class ListResponse(HttpResponse):
    """A response with a list or a table of objects, which
    :func:`schedviz.api.media_types.as_accepted` encodes one by one: ``items`` or ``rows`` is an iterator."""

    def __init__(self, value: Manifest) -> None:
        super().__init__(content_type=JSON)
        self.value = value


def answer(value: Manifest, status: int = 200) -> HttpResponse:
    return ObjectResponse(value, status)


def refusal(error: StatusError) -> HttpResponse:
    if isinstance(error, NoSuchGroup):
        return HttpResponse(error.text, status=error.code, content_type="text/plain; charset=utf-8")
    response = with_warnings(answer(error.status(), error.code), error.warnings)
    if error.retry_after_seconds:
        response["Retry-After"] = str(error.retry_after_seconds)
    elif error.code == 503:
        response["Retry-After"] = "1"
    return response


def success(resource: Resource, manifest: Manifest) -> Manifest:
    """Return the Status of a successful deletion, whose response shows no object."""
    details = {
        "name": manifest["metadata"].get("name", ""),
        "group": resource.group,
        "kind": resource.plural,
        "uid": manifest["metadata"].get("uid", ""),
    }
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {field: value for field, value in details.items() if value},
    }


def manifest_of(request: HttpRequest, implied: tuple[str, str] = ("", "")) -> Manifest:
    """Parse the body, which must be one manifest, as JSON, YAML or Protocol Buffers. ``implied``: the
    apiVersion and kind of one in Protocol Buffers that does not say them. Raises StatusError."""
    accepted = (JSON, *YAML, PROTOBUF)
    if content_type(request) == PROTOBUF:
        return dict(parsed(lambda data: protobuf.decode_protobuf(data, implied), request))
    if content_type(request) not in ("", *accepted):
        raise _unsupported(accepted)
    found = parsed(parse_documents, request)
    if len(found) != 1:
        raise BadRequest(f"expected one object in the body, found {len(found)}")
    return dict(found[0])


class DecodedBody(NamedTuple):
    manifest: Manifest
    warnings: list[str]


def object_of(request: HttpRequest, resource: Resource, *, also: str = "") -> DecodedBody:
    """Decode the body, an object of the resource. Unknown and repeated fields are refused, returned as
    warnings, or dropped, depending on the query's fieldValidation. Raises StatusError."""
    kind = content_type(request)
    if kind == PROTOBUF:
        given = parsed(lambda data: decode_protobuf_request(resource, data, also=also), request)
        return DecodedBody(given, [])
    if kind not in ("", JSON, *YAML):
        raise _unsupported(OBJECT_TYPES)

    def parse(data: bytes) -> DecodedRequest:
        return decode_request(resource, data, is_yaml=kind in YAML, also=also)

    manifest, errors = parsed(parse, request)
    match request.GET.get("fieldValidation", ""):
        case "Strict" if errors:
            raise BadRequest(cannot_be_handled(resource, strict_decoding_error(errors)))
        case "Ignore":
            errors = []
    return DecodedBody(manifest, strict_warnings(errors))


def patched(request: HttpRequest, resource: Resource, subject: Manifest) -> Patched:
    """Apply the patch in the request's body to ``subject``. Raises StatusError."""
    validation = request.GET.get("fieldValidation", "")

    def apply(data: bytes) -> Patched:
        return patched_object(resource, PatchBody(content_type(request), data, validation), subject)

    result: Patched = parsed(apply, request)
    return result


def delete_options(request: HttpRequest) -> Manifest:
    """Return the DeleteOptions in the body; without a body those in the query, as upstream
    (apiserver/pkg/endpoints/handlers/delete.go, Convert_url_Values_To_v1_DeleteOptions in apimachinery).
    They are not checked. Raises StatusError."""
    if request.body and content_type(request) not in ("", JSON, *YAML, PROTOBUF):
        raise _unsupported(OBJECT_TYPES)
    if request.body and content_type(request) in (*YAML, PROTOBUF):
        return decode_delete_options(json.dumps(manifest_of(request, ("v1", "DeleteOptions"))))
    if request.body:
        options: Manifest = parsed(lambda data: decode_delete_options(data.decode(errors="replace")), request)
        return options
    options = {}
    if "gracePeriodSeconds" in request.GET:
        options["gracePeriodSeconds"] = integer_parameter(query(request), "gracePeriodSeconds")
    if "orphanDependents" in request.GET:
        options["orphanDependents"] = query(request)["orphanDependents"].lower() not in ("false", "0")
    if "propagationPolicy" in request.GET:
        options["propagationPolicy"] = query(request)["propagationPolicy"]
    if "dryRun" in request.GET:
        options["dryRun"] = request.GET.getlist("dryRun")
    preconditions = {name: text for name in ("uid", "resourceVersion") if (text := query(request).get(name))}
    if preconditions:
        options["preconditions"] = preconditions
    return options


def query(request: HttpRequest) -> Query:
    return {name: values[0] for name, values in request.GET.lists() if values}


def whole_number(request: HttpRequest, parameter: str, default: int) -> int:
    """Return a query parameter that is an integer >= 0. Raises BadRequest."""
    text = request.GET.get(parameter, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadRequest(f"{parameter} must be a whole number, not {text[:50]!r}")
    return int(text)


def is_dry_run(request: HttpRequest) -> bool:
    """Whether a write that is no deletion is a dry run, which stores nothing. Raises Invalid for invalid
    write options in the query."""
    asked = request.GET.getlist("dryRun")
    check_write_options(request.method or "", query(request), asked, is_apply=content_type(request) == APPLY)
    return bool(asked)


def write_options(request: HttpRequest) -> WriteOptions:
    """Return the options of a write that is no deletion. Raises Invalid."""
    dry_run = is_dry_run(request)
    forced = content_type(request) == APPLY and boolean_parameter(query(request), "force")
    return WriteOptions(field_manager(request), forced, dry_run=dry_run)


def field_manager(request: HttpRequest) -> str:
    """Return the name under which the client owns what it writes: the query's fieldManager, or else the first
    part of the User-Agent (managerOrUserAgent in apiserver/pkg/endpoints/handlers/create.go)."""
    asked = request.GET.get("fieldManager", "")
    if asked:
        return asked
    agent = request.headers.get("User-Agent", "").partition("/")[0]
    printable = "".join(filter(str.isprintable, agent))
    return printable.encode()[:MAX_FIELD_MANAGER_BYTES].decode(errors="ignore")


def content_type(request: HttpRequest) -> str:
    return (request.content_type or "").strip().lower()


def parsed(parse: Any, request: HttpRequest) -> Any:
    try:
        return parse(request.body)
    except TooLong as error:
        raise TooLarge(str(error)) from None
    except protobuf.NoDescription as error:
        raise UnsupportedMediaType(str(error)) from None
    except ManifestError as error:
        raise BadRequest(str(error)) from None


def _unsupported(accepted: tuple[str, ...]) -> UnsupportedMediaType:
    return UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(accepted)
    )
