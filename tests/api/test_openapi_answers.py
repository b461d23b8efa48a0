"""Clients cache the OpenAPI documents by their ETags."""

import json
from email.message import Message
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from schedviz.api.openapi_protobuf import ACCEPTED, MEDIA_TYPE
from tests.api.asking import request
from tests.api.widget_definition import DEFINITIONS, definition, version
from tests.waiting import PATIENCE


def headers_of(url: str, **headers: str) -> tuple[int, Message, str]:
    """The status, the headers, and the final URL of the response."""
    try:
        with urlopen(Request(url, headers=headers), timeout=PATIENCE) as response:
            return response.status, response.headers, response.url
    except HTTPError as error:
        return error.code, error.headers, url


def linked(url: str, root: str) -> str:
    """The URL of a document from the index."""
    paths: dict[str, Any] = request(f"{url}/openapi/v3")[1]["paths"]
    place = urlsplit(url)
    return f"{place.scheme}://{place.netloc}{paths[root]['serverRelativeURL']}"


def test_a_document_named_by_the_index_never_changes(url: str) -> None:
    address = linked(url, "apis/policy/v1")
    status, headers, _ = headers_of(address)
    assert (status, headers["Cache-Control"]) == (200, "private, immutable")
    assert headers["ETag"] == f'"{address.rpartition("=")[2]}"'
    assert headers["Expires"].endswith("GMT")


def test_an_old_openapi_address_redirects_to_the_new_one(url: str) -> None:
    address = linked(url, "apis/policy/v1")
    old = f"{address.rpartition('=')[0]}=OLD"
    status, _, found = headers_of(old)
    assert (status, found) == (200, address)


def test_a_client_that_has_an_openapi_document_gets_not_modified(url: str) -> None:
    for path in ("/openapi/v3/apis/policy/v1", "/openapi/v2"):
        status, headers, _ = headers_of(url + path)
        assert (status, headers["Cache-Control"]) == (200, "private, no-cache")
        again = headers_of(url + path, **{"If-None-Match": headers["ETag"]})
        assert (again[0], again[1]["ETag"]) == (304, headers["ETag"])


def test_a_definition_may_take_any_field(url: str) -> None:
    widgets = version("v1", storage=True)
    properties = widgets["schema"]["openAPIV3Schema"]["properties"]
    properties["any"] = {"type": "object", "additionalProperties": True}
    assert request(url + DEFINITIONS, "POST", json.dumps(definition(widgets)))[0] == 201
    for accept in ("application/json", ACCEPTED[1]):
        status, headers, _ = headers_of(f"{url}/openapi/v2", Accept=accept)
        assert (status, headers["Content-Type"]) == (200, MEDIA_TYPE if accept == ACCEPTED[1] else accept)
