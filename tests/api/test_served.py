"""The work of discovery: definitions are read once for each change of them, however many requests come. The
documents stay right after each change."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest
from django.test import Client

from schedviz.api.kept_documents import Document, KeptDocuments
from schedviz.api.served import KEPT_SECONDS, find_served
from schedviz.cache import default_caches
from schedviz.store import Commit, Sandbox, codec
from simulator.api import Change, Manifest
from simulator.apiserver.resource import CRDS
from tests.api.test_discovery import AGGREGATED
from tests.round_trips import round_trips

DEFINITIONS = 20
OPENAPI_V3 = ("openapi/v3", "openapi/v3/apis/g1.example.com/v1")


def definition(number: int, *versions: str) -> Manifest:
    group = f"g{number}.example.com"
    schema = {"type": "object", "properties": {"spec": {"type": "object"}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}", "uid": str(number)},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [
                {"name": name, "served": True, "schema": {"openAPIV3Schema": schema}}
                for name in versions or ("v1",)
            ],
        },
    }


def put(sandbox: Sandbox, *definitions: Manifest) -> None:
    known = sandbox.names(CRDS)
    names = {each["metadata"]["name"]: each for each in definitions}
    changes = [Change(CRDS, name, each, None if name in known else 0) for name, each in names.items()]
    sandbox.commit(Commit(changes))


@contextmanager
def decoded_definitions() -> Iterator[Callable[[], int]]:
    """How many definitions this process has read since the last call."""
    count, decode = 0, codec.with_version

    def counted(data: bytes, version: int) -> Manifest:
        nonlocal count
        manifest = decode(data, version)
        count += manifest.get("kind") == "CustomResourceDefinition"
        return manifest

    def since_last() -> int:
        nonlocal count
        found, count = count, 0
        return found

    with patch.object(codec, "with_version", counted):
        yield since_last


@pytest.fixture(params=["store", "cache"])
def read(request: pytest.FixtureRequest, sandbox: Sandbox, client: Client) -> Callable[..., Any]:
    """Gets a document of the sandbox, which is read from the store or from a cache."""
    put(sandbox, *map(definition, range(DEFINITIONS)))
    if request.param == "cache":
        default_caches().read(sandbox.name)

    def get(path: str, accept: str = "application/json") -> Any:
        response = client.get(f"/s/{sandbox.name}/{path}", headers={"Accept": accept})
        assert response.status_code == 200
        return json.loads(response.content)

    return get


def discover(read: Callable[..., Any]) -> list[str]:
    """Read all documents of discovery, and return the groups of the definitions."""
    groups = [group["name"] for group in read("apis")["groups"] if group["name"].endswith(".example.com")]
    assert [item["metadata"]["name"] for item in read("apis", AGGREGATED)["items"]][
        -len(groups) - 1 : -1
    ] == groups
    listed = {group: [each["version"] for each in read(f"apis/{group}")["versions"]] for group in groups}
    roots = {f"apis/{group}/{version}" for group, versions in listed.items() for version in versions}
    for root in roots:
        (things,) = read(root)["resources"]
        assert (things["kind"], things["storageVersionHash"] != "") == ("Thing", True)
    assert {path for path in read("openapi/v3")["paths"] if ".example.com/" in path} == roots
    return groups


def test_definitions_are_read_once_for_each_change(sandbox: Sandbox, read: Callable[..., Any]) -> None:
    with decoded_definitions() as count:
        assert len(discover(read)) == DEFINITIONS
        assert count() == DEFINITIONS
        discover(read)
        find_served(sandbox)
        assert count() == 0
        put(sandbox, definition(3, "v1", "v2"))
        assert [each["version"] for each in read("apis/g3.example.com")["versions"]] == ["v2", "v1"]
        assert len(discover(read)) == DEFINITIONS
        assert count() == DEFINITIONS
        sandbox.commit(Commit([Change(CRDS, "things.g3.example.com", None)]))
        assert len(discover(read)) == DEFINITIONS - 1
        assert count() == DEFINITIONS - 1


def test_other_writes_leave_what_was_derived(sandbox: Sandbox, read: Callable[..., Any]) -> None:
    discover(read)
    thing = {"apiVersion": "g1.example.com/v1", "kind": "Thing", "metadata": {"name": "a", "namespace": "b"}}
    with decoded_definitions() as count:
        sandbox.commit(Commit([Change("things.g1.example.com", "b/a", thing, 0)]))
        discover(read)
        assert count() == 0


def test_objects_without_a_definition_have_resources(sandbox: Sandbox, read: Callable[..., Any]) -> None:
    discover(read)
    gadget = {
        "apiVersion": "other.example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": "a", "namespace": "b"},
    }
    sandbox.commit(Commit([Change("gadgets.other.example.com", "b/a", gadget, 0)]))
    assert read("apis/other.example.com/v1")["resources"][0]["kind"] == "Gadget"
    newer = {**gadget, "apiVersion": "other.example.com/v2"}
    sandbox.commit(Commit([Change("gadgets.other.example.com", "b/a", newer)]))
    assert read("apis/other.example.com/v2")["resources"][0]["kind"] == "Gadget"


def test_a_document_of_openapi_reads_the_definitions_of_its_group(
    sandbox: Sandbox, read: Callable[..., Any]
) -> None:
    read("openapi/v3")
    with decoded_definitions() as count:
        found = read("openapi/v3/apis/g1.example.com/v1")
        assert "com.example.g1.v1.Thing" in found["components"]["schemas"]
        assert count() == 1
        read("openapi/v3")
        assert count() == 0
    before = read("openapi/v3")["paths"]
    put(sandbox, definition(1, "v1") | {"status": {"conditions": []}})
    assert read("openapi/v3")["paths"] == before
    changed = definition(1)
    changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["more"] = {"type": "string"}
    put(sandbox, changed)
    after = read("openapi/v3")["paths"]
    assert {path for path in after if after[path] != before[path]} == {"apis/g1.example.com/v1"}


def test_what_was_derived_is_not_kept_for_longer_than_versions_are(sandbox: Sandbox) -> None:
    put(sandbox, definition(1))
    now = 1_000.0  # exact, as KEPT_SECONDS is added to it
    with decoded_definitions() as count, patch.object(time, "monotonic", lambda: now):
        find_served(sandbox)
        now += KEPT_SECONDS
        find_served(sandbox)
        assert count() == 1
        now += 1
        find_served(sandbox)
        assert count() == 1


def test_thousands_of_versions_are_derived_once(sandbox: Sandbox, client: Client) -> None:
    names = [f"v{number}" for number in range(1, 101)]
    put(sandbox, *(definition(number, *names) for number in range(45)))
    with decoded_definitions() as count, round_trips() as trips:
        for _ in range(3):
            found = client.get(f"/s/{sandbox.name}/apis", headers={"Accept": AGGREGATED})
        assert (found.status_code, count()) == (200, 45)
        before = trips()
        client.get(f"/s/{sandbox.name}/apis")
        assert trips() - before <= 3
    assert sum(len(group["versions"]) for group in found.json()["items"]) > 4_500


def test_documents_are_kept_up_to_a_size() -> None:
    kept = KeptDocuments(10)
    one, two, large = Document(b"123456", "one"), Document(b"1234", "two"), Document(b"12345678901", "large")
    assert kept.keep(one) == one
    kept.keep(two)
    assert kept.keep(large) == large
    assert (kept.find("one"), kept.find("two"), kept.find("large")) == (one, two, None)
    kept.find("one")
    kept.keep(Document(b"1", "three"))
    assert (kept.find("one"), kept.find("two")) == (one, None)
