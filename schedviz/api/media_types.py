"""The media types of responses: JSON, YAML and Protocol Buffers, as the Accept header asks for them."""

from typing import Final

import msgspec
import yaml
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from schedviz.api.body import ObjectResponse, refusal
from schedviz.api.representation import JSON, PROTOBUF, YAML, Representation, check_protobuf
from simulator.apiserver.protobuf import NoDescription
from simulator.apiserver.protobuf_encoding import encode_protobuf
from simulator.apiserver.status import NotAcceptable, StatusError

_TRUE: Final = ("1", "t", "T", "TRUE", "true", "True")


def as_accepted(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Encode the object of a response in the media type that the request prefers. It stays JSON where the
    request accepts nothing that is offered, and where this program does not know the numbers of its fields
    (discovery). Upstream: WriteObjectNegotiated and ErrorNegotiated in
    apiserver/pkg/endpoints/handlers/responsewriters/writers.go, v1.34."""
    if not isinstance(response, ObjectResponse):
        return response
    if _is_pretty(request):
        response.content = msgspec.json.format(response.content, indent=2)
    if "apiVersion" not in response.value:
        return response
    try:
        media_type = Representation.of(request).media_type
    except StatusError:
        return response
    if media_type == PROTOBUF:
        try:
            check_protobuf(response.value)
        except NotAcceptable as refused:
            return as_accepted(request, refusal(refused))
    encoded = _encode(media_type, response)
    if encoded is not None:
        response.content = encoded
        response["Content-Type"] = media_type
    return response


def _is_pretty(request: HttpRequest) -> bool:
    """Whether JSON is indented: as the query parameter says; else for people, who use a browser or curl
    (isPrettyPrint in apiserver/pkg/endpoints/handlers/negotiation/negotiate.go)."""
    if asked := request.GET.get("pretty", ""):
        return asked in _TRUE
    return request.headers.get("User-Agent", "").startswith(("curl", "Wget", "Mozilla/5.0"))


def _encode(media_type: str, response: ObjectResponse) -> bytes | None:
    """None: as the response is."""
    if media_type == YAML:
        # PyYAML writes the types of Python that JSON is decoded to, and no subclasses of them.
        value = msgspec.json.decode(response.content)
        text = yaml.dump(value, Dumper=yaml.CSafeDumper, default_flow_style=False, allow_unicode=True)
        return text.encode()
    if media_type == PROTOBUF:
        try:
            return encode_protobuf(response.value)
        except NoDescription:
            return None
    assert media_type == JSON
    return None
