"""Responses in JSON, YAML and Protocol Buffers, as the Accept header asks for them."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import yaml

from schedviz.api.accept import JSON, NOT_ACCEPTED, PROTOBUF, YAML
from simulator.apiserver.protobuf import decode_protobuf
from simulator.apiserver.protobuf_encoding import encode_protobuf
from tests.api.asking import PODS, pod_json, request
from tests.api.widget_definition import DEFINITIONS, definition, version
from tests.apiserver.test_protobuf import MAGIC
from tests.waiting import PATIENCE

KUBE_SCHEDULER = f"{PROTOBUF},{JSON}"
"""What kube-scheduler accepts."""
TIMETABLES = "/apis/schedviz/v1/timetables"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
STREAMED = f"only the following media types are accepted: {JSON};stream=watch, {PROTOBUF};stream=watch"


def fetch(url: str, accept: str) -> tuple[int, str, bytes]:
    """The status, the content type and the body."""
    asked = Request(url, headers={"Accept": accept})
    try:
        with urlopen(asked, timeout=PATIENCE) as response:
            return response.status, response.headers["Content-Type"], response.read()
    except HTTPError as error:
        return error.code, error.headers["Content-Type"], error.read()


@pytest.fixture
def pod(url: str) -> dict[str, Any]:
    """A pod, as JSON shows it."""
    made: dict[str, Any] = request(url + PODS, "POST", pod_json())[1]
    return made


def test_an_object_a_list_and_an_error_come_as_the_request_asks(url: str, pod: dict[str, Any]) -> None:
    status, media_type, body = fetch(f"{url}{PODS}/web", KUBE_SCHEDULER)
    assert (status, media_type) == (200, PROTOBUF)
    assert body == encode_protobuf(pod)
    status, media_type, body = fetch(f"{url}{PODS}/web", YAML)
    assert (status, media_type, yaml.safe_load(body)) == (200, YAML, pod)
    status, media_type, body = fetch(f"{url}{PODS}", KUBE_SCHEDULER)
    assert (status, media_type) == (200, PROTOBUF)
    assert body == encode_protobuf(request(f"{url}{PODS}")[1])
    status, media_type, body = fetch(f"{url}{PODS}/none", KUBE_SCHEDULER)
    assert (status, media_type) == (404, PROTOBUF)
    assert decode_protobuf(body)["message"] == 'pods "none" not found'


def test_the_response_to_a_write_is_yaml_if_asked_for(url: str) -> None:
    headers = {"Accept": YAML, "Content-Type": JSON}
    sent = Request(url + PODS, pod_json(nodeName="n").encode(), headers, method="POST")
    with urlopen(sent, timeout=PATIENCE) as response:
        assert yaml.safe_load(response.read())["spec"]["nodeName"] == "n"
    revision = {"metadata": {"name": "r"}, "data": {"a": {}}, "revision": 1}
    path = f"{url}/apis/apps/v1/namespaces/default/controllerrevisions"
    sent = Request(path, json.dumps(revision).encode(), headers, method="POST")
    with urlopen(sent, timeout=PATIENCE) as response:
        assert yaml.safe_load(response.read())["data"] == {"a": {}}


def test_a_client_may_prefer_json(url: str, pod: dict[str, Any]) -> None:
    for accept in (f"{PROTOBUF};q=0.5, {JSON}", f"{JSON},{PROTOBUF}", "*/*"):
        assert fetch(f"{url}{PODS}/web", accept)[:2] == (200, JSON)


def messages(stream: bytes) -> Iterator[bytes]:
    """The messages of a watch, without the length before each of them."""
    while stream:
        length = int.from_bytes(stream[:4], "big")
        yield stream[4 : 4 + length]
        stream = stream[4 + length :]


def test_a_watch_sends_messages_with_their_length(url: str, pod: dict[str, Any]) -> None:
    query = "?watch=1&timeoutSeconds=1&allowWatchBookmarks=true"
    status, media_type, body = fetch(f"{url}{PODS}{query}", KUBE_SCHEDULER)
    assert (status, media_type) == (200, f"{PROTOBUF};stream=watch")
    added, *_, bookmark = messages(body)
    assert added == b"\n\x05ADDED" + added[7:]
    assert decode_protobuf(added[added.index(MAGIC) :])["metadata"]["uid"] == pod["metadata"]["uid"]
    assert bookmark.startswith(b"\n\x08BOOKMARK")
    shown = decode_protobuf(bookmark[bookmark.index(MAGIC) :])
    assert int(shown["metadata"]["resourceVersion"]) >= int(pod["metadata"]["resourceVersion"])


def test_a_resource_without_protobuf_messages_is_not_acceptable(url: str) -> None:
    request(
        url + WIDGETS,
        "POST",
        b'{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}',
    )
    for path in (f"{WIDGETS}/w", WIDGETS, f"{WIDGETS}?watch=1"):
        status, media_type, body = fetch(url + path, PROTOBUF)
        assert (status, media_type) == (406, PROTOBUF), path
        assert decode_protobuf(body)["message"] == NOT_ACCEPTED, path
        assert fetch(f"{url}{path}{'&timeoutSeconds=1' if '?' in path else ''}", KUBE_SCHEDULER)[:2] == (
            *(200, JSON),
        ), path
    status, media_type, body = fetch(url + PODS, f"{PROTOBUF};as=Table;v=v1;g=meta.k8s.io")
    assert (status, media_type, json.loads(body)["message"]) == (406, JSON, NOT_ACCEPTED)
    status, media_type, body = fetch(f"{url}{PODS}?watch=1", YAML)
    assert (status, media_type, yaml.safe_load(body)["message"]) == (406, YAML, STREAMED)


def test_a_definition_has_messages(url: str) -> None:
    made = json.dumps(definition(version("v1", storage=True)))
    assert request(url + DEFINITIONS, "POST", made)[0] == 201
    path = f"{url}{DEFINITIONS}/widgets.example.com"
    status, media_type, body = fetch(path, KUBE_SCHEDULER)
    assert (status, media_type, body) == (200, PROTOBUF, encode_protobuf(request(path)[1]))
    assert (
        fetch(f"{url}{DEFINITIONS}?watch=1&timeoutSeconds=1", KUBE_SCHEDULER)[1] == f"{PROTOBUF};stream=watch"
    )


def test_kinds_whose_fields_have_no_numbers_are_answered_in_json(url: str) -> None:
    for path in (TIMETABLES, f"{TIMETABLES}?watch=1&timeoutSeconds=1"):
        assert fetch(url + path, KUBE_SCHEDULER)[:2] == (200, JSON), path


def test_discovery_is_json_for_any_accept_header(url: str) -> None:
    for path in ("/api", "/apis", "/api/v1", "/version"):
        assert fetch(url + path, KUBE_SCHEDULER)[:2] == (200, JSON)
