"""The bodies of requests and answers."""

from typing import Any

import msgspec
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse

from simulator.api import Manifest
from simulator.apiserver import patch
from simulator.apiserver.bounds import MAX_BYTES
from simulator.apiserver.decoding import decode_as
from simulator.apiserver.manifest import ManifestError, TooLong, documents, json_document
from simulator.apiserver.resources import Resource
from simulator.apiserver.schema import schema_of
from simulator.apiserver.status import BadRequest, StatusError, TooLarge, UnsupportedMediaType

JSON = "application/json"
YAML = ("application/yaml", "text/yaml", "application/x-yaml")
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"


def answer(value: object, status: int = 200) -> HttpResponse:
    return HttpResponse(msgspec.json.encode(value), status=status, content_type=JSON)


def refusal(error: StatusError) -> HttpResponse:
    response = answer(error.status(), error.code)
    if error.code in (429, 503):
        response["Retry-After"] = "1"
    return response


def success(resource: Resource, manifest: Manifest) -> Manifest:
    """The Status that answers where there is no object to show."""
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


def manifest_of(request: HttpRequest) -> Manifest:
    """The one manifest of a request. Raises a StatusError."""
    accepted = (JSON, *YAML)
    if content_type(request) not in ("", *accepted):
        raise _unsupported(accepted)
    found = _parsed(documents, request)
    if len(found) != 1:
        raise BadRequest(f"expected one object in the body, found {len(found)}")
    return dict(found[0])


def patched(request: HttpRequest, resource: Resource, subject: Manifest) -> Manifest:
    """The object after the request's patch. Raises a StatusError."""
    kind = content_type(request)
    if kind not in (MERGE_PATCH, STRATEGIC_MERGE_PATCH, JSON_PATCH):
        raise _unsupported((JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH))
    change = _parsed(json_document, request)
    if kind == JSON_PATCH:
        result = patch.json_patch(subject, change)
    elif not isinstance(change, dict):
        raise BadRequest("the patch must be an object")
    elif kind == MERGE_PATCH:
        result = patch.merge(subject, change)
    else:
        result = patch.strategic(schema_of(resource), subject, change)
    if not isinstance(result, dict):
        raise BadRequest("the patch leaves no object")
    return result


def delete_options(request: HttpRequest) -> Manifest:
    """The DeleteOptions in the body, or none; a grace period and what becomes of dependents may stand in the
    query instead."""
    options: Manifest = {}
    if _raw(request):
        given = manifest_of(request)
        decoded, causes = decode_as("DeleteOptions", given)
        if causes:
            raise BadRequest(f"DeleteOptions: {causes[0]}", causes=causes)
        options = dict(decoded)
    if "gracePeriodSeconds" in request.GET:
        options["gracePeriodSeconds"] = whole_number(request, "gracePeriodSeconds", 0)
    if "propagationPolicy" in request.GET:
        options["propagationPolicy"] = request.GET["propagationPolicy"]
    return options


def whole_number(request: HttpRequest, parameter: str, default: int) -> int:
    """A query parameter that is a number from 0 on. Raises BadRequest."""
    text = request.GET.get(parameter, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadRequest(f"{parameter} must be a whole number, not {text[:50]!r}")
    return int(text)


def flag(request: HttpRequest, parameter: str) -> bool:
    return request.GET.get(parameter, "") in ("1", "true", "True")


def is_dry_run(request: HttpRequest, options: Manifest | None = None) -> bool:
    asked = request.GET.getlist("dryRun") or (options or {}).get("dryRun") or []
    if any(value != "All" for value in asked):
        raise BadRequest('dryRun: Unsupported value: supported values: "All"')
    return bool(asked)


def content_type(request: HttpRequest) -> str:
    return (request.content_type or "").strip().lower()


def _parsed(parse: Any, request: HttpRequest) -> Any:
    try:
        return parse(_raw(request))
    except TooLong as error:
        raise TooLarge(str(error)) from None
    except ManifestError as error:
        raise BadRequest(str(error)) from None


def _raw(request: HttpRequest) -> bytes:
    length = request.headers.get("Content-Length", "")
    try:
        # Before the body is taken into memory.
        if length.isdecimal() and int(length[:18]) > MAX_BYTES:
            raise TooLong()
        return request.body
    except (TooLong, RequestDataTooBig):
        raise TooLarge(str(TooLong())) from None


def _unsupported(accepted: tuple[str, ...]) -> UnsupportedMediaType:
    return UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(accepted)
    )
