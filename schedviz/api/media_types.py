"""The media types of responses: JSON, YAML and Protocol Buffers, as the Accept header asks for them."""

from typing import Final

import msgspec
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from schedviz.api.accept import JSON, PROTOBUF, YAML, allows_no_conversion, negotiate
from schedviz.api.body import ListResponse, ObjectResponse
from schedviz.api.large_answers import list_parts, response_of
from schedviz.api.representation import META, Representation
from schedviz.api.yaml_text import is_large, yaml_of
from simulator.api import Manifest
from simulator.apiserver.protobuf import NoDescription
from simulator.apiserver.protobuf_encoding import encode_protobuf, protobuf_parts
from simulator.apiserver.response_json import response_json
from simulator.apiserver.status import StatusError
from simulator.apiserver.types.api_types import api_types

_TRUE: Final = ("1", "t", "T", "TRUE", "true", "True")


def as_accepted(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Encode the object of a response in the media type that the request prefers. It stays JSON where the
    request accepts nothing that is offered, and where this program has no numbers for its fields
    (discovery). Upstream: WriteObjectNegotiated and ErrorNegotiated in
    apiserver/pkg/endpoints/handlers/responsewriters/writers.go."""
    if isinstance(response, ListResponse):
        return _list_as_accepted(request, response)
    if not isinstance(response, ObjectResponse):
        return response
    media_type = _media_type(request, response.value) if "apiVersion" in response.value else JSON
    encoded = _encode(media_type, response)
    if encoded is not None:
        response["Content-Type"] = media_type
    elif _is_pretty(request):
        encoded = _indented(response.content)
    else:
        encoded = response.content + b"\n"
    response.content = encoded
    return response


def _list_as_accepted(request: HttpRequest, response: ListResponse) -> HttpResponseBase:
    media_type, parts = _media_type(request, response.value), []
    if media_type == PROTOBUF:
        try:
            parts = protobuf_parts(response.value)
        except NoDescription:
            media_type = JSON
    if not parts:
        parts = _list_parts(request, response.value, media_type)
    encoded = response_of(parts, media_type)
    for header, text in response.items():
        encoded.headers.setdefault(header, text)
    return encoded


def _list_parts(request: HttpRequest, value: Manifest, media_type: str) -> list[bytes]:
    """Return the parts of a list as JSON or YAML."""
    if media_type == JSON and _is_pretty(request):
        return list_parts(value, lambda document: _indented(response_json(document)))
    parts = list_parts(value, response_json)
    if media_type == YAML and not is_large(parts):
        return [yaml_of(msgspec.json.decode(b"".join(parts))).encode()]
    return [*parts, b"\n"]


def _media_type(request: HttpRequest, value: Manifest) -> str:
    """Return JSON where the header accepts nothing that there is."""
    if value["kind"] == "Status":
        accepted = negotiate(request.headers.get("Accept", ""), allows_no_conversion)
        return accepted.media_type if accepted else JSON
    group = value["apiVersion"].rpartition("/")[0]
    custom = group != META and not api_types().knows(value["apiVersion"], value["kind"])
    try:
        return Representation.of(request, custom=custom).media_type
    except StatusError:
        return JSON


def _is_pretty(request: HttpRequest) -> bool:
    """Whether JSON is indented: depending on the query parameter; else for people, who use a browser or curl
    (isPrettyPrint in apiserver/pkg/endpoints/handlers/negotiation/negotiate.go)."""
    if asked := request.GET.get("pretty", ""):
        return asked in _TRUE
    return request.headers.get("User-Agent", "").startswith(("curl", "Wget", "Mozilla/5.0"))


def _indented(content: bytes) -> bytes:
    return msgspec.json.format(content, indent=2)


def _encode(media_type: str, response: ObjectResponse) -> bytes | None:
    """None: as the response is."""
    if media_type == YAML:
        if is_large([response.content]):
            return response.content + b"\n"
        return yaml_of(msgspec.json.decode(response.content)).encode()
    if media_type == PROTOBUF:
        try:
            return encode_protobuf(response.value)
        except NoDescription:
            return None
    assert media_type == JSON
    return None
