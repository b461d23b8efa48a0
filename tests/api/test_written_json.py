"""The text of answers in JSON: client libraries compare it. One that is not indented ends in a line feed, and
its fields are in the order of Go's structs."""

import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.api.asking import PODS, pod_json, request
from tests.api.test_discovery import AGGREGATED
from tests.api.widget_definition import DEFINITIONS, definition, version
from tests.waiting import PATIENCE

NOT_FOUND = (
    '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \\"nope\\" not '
    'found","reason":"NotFound","details":{"name":"nope","kind":"pods"},"code":404}'
)
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
ROOT = ["kind", "apiVersion", "metadata"]


def text(url: str, agent: str = "client/1", accept: str = "application/json") -> str:
    asked = Request(url, headers={"User-Agent": agent, "Accept": accept})
    try:
        with urlopen(asked, timeout=PATIENCE) as response:
            return str(response.read().decode())
    except HTTPError as error:
        return error.read().decode()


def test_a_status_has_its_fields_in_order_and_ends_in_a_line_feed(url: str) -> None:
    assert text(f"{url}{PODS}/nope") == NOT_FOUND + "\n"
    assert text(f"{url}{PODS}/nope", "curl/8") == json.dumps(json.loads(NOT_FOUND), indent=2)
    assert text(f"{url}{PODS}/nope?pretty=false", "curl/8") == NOT_FOUND + "\n"


@pytest.mark.parametrize(
    ("path", "accept"),
    [
        ("/api", "application/json"),
        ("/apis", "application/json"),
        ("/apis", AGGREGATED),
        ("/api/v1", "application/json"),
        ("/apis/apps", "application/json"),
        (PODS, "application/json"),
        (PODS, "application/json;as=Table;g=meta.k8s.io;v=v1"),
        (PODS, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
        ("/api/v1/namespaces/default", "application/json"),
    ],
)
def test_each_answer_ends_in_one_line_feed(url: str, path: str, accept: str) -> None:
    found = text(url + path, accept=accept)
    assert found.endswith("}\n")
    assert "\n" not in found[:-1]
    assert next(iter(json.loads(found))) == "kind"


def test_the_version_is_always_indented(url: str) -> None:
    found = text(f"{url}/version")
    assert found == json.dumps(json.loads(found), indent=2)


def test_resources_have_the_order_of_their_struct(url: str) -> None:
    (pods,) = [each for each in json.loads(text(f"{url}/api/v1"))["resources"] if each["name"] == "pods"]
    assert [*pods] == [
        *("name", "singularName", "namespaced", "kind", "verbs", "shortNames", "categories"),
        "storageVersionHash",
    ]


def test_objects_lists_and_events_have_the_order_of_their_structs(url: str) -> None:
    body = json.loads(pod_json()) | {"metadata": {"labels": {"b": "x", "a": ""}, "name": "web"}}
    assert request(url + PODS, "POST", json.dumps(body))[0] == 201
    found = text(f"{url}{PODS}/web")
    assert '"labels":{"a":"","b":"x"}' in found
    pod = json.loads(found)
    assert [*pod] == [*ROOT, "spec", "status"]
    assert [*pod["metadata"]][:5] == ["name", "namespace", "uid", "resourceVersion", "generation"]
    listed = json.loads(text(url + PODS))
    assert [*listed] == [*ROOT, "items"]
    assert [*listed["items"][0]] == ["metadata", "spec", "status"]
    event = text(f"{url}{PODS}?watch=1&timeoutSeconds=1")
    assert event == f'{{"type":"ADDED","object":{found.strip()}}}\n'


def test_custom_resources_are_maps(url: str) -> None:
    assert request(url + DEFINITIONS, "POST", json.dumps(definition(version("v1", storage=True))))[0] == 201
    widget = {
        "spec": {"size": 1},
        "metadata": {"name": "w"},
        "kind": "Widget",
        "apiVersion": "example.com/v1",
    }
    assert request(url + WIDGETS, "POST", json.dumps(widget))[0] == 201
    found = json.loads(text(f"{url}{WIDGETS}/w"))
    assert [*found] == ["apiVersion", "kind", "metadata", "spec"]
    assert [*found["metadata"]] == sorted(found["metadata"])
    assert [*json.loads(text(url + WIDGETS))] == ["apiVersion", "items", "kind", "metadata"]
    stored = json.loads(text(f"{url}{DEFINITIONS}/widgets.example.com"))
    assert [*stored["spec"]] == ["group", "names", "scope", "versions", "conversion"]
    assert [*stored["spec"]["versions"][0]] == ["name", "served", "storage", "schema"]
