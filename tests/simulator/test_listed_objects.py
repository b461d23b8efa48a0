"""What is read of the lists of a running cluster is what an import makes of a dump."""

import json
from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver import resources
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NODES, PODS
from simulator.dumps.imported import Import
from simulator.dumps.imported_kinds import IMPORTED_RESOURCES
from simulator.dumps.listed_objects import ListedObjects, ListFault, continue_token
from simulator.framework import snapshot
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles
from simulator.versions.features import DEFAULT_FEATURES
from tests.dumps import BORN, SECRET, cluster, pod
from tests.real_cluster import real_cluster


def page(items: list[Manifest], token: str = "") -> bytes:
    bare = [
        {key: value for key, value in each.items() if key not in ("apiVersion", "kind")} for each in items
    ]
    return json.dumps({"kind": "X", "metadata": {"continue": token}, "items": bare}).encode()


def listed(manifests: list[Manifest], pages: int = 2) -> ListedObjects:
    found = ListedObjects(0, b"salt", DEFAULT_FEATURES)
    lists: dict[Resource, list[Manifest]] = {}
    for manifest in manifests:
        resource = resources.find_by_kind(manifest["apiVersion"], manifest["kind"])
        if resource is not None and resource.id in IMPORTED_RESOURCES:
            lists.setdefault(resource, []).append(manifest)
    for resource, items in lists.items():
        found.begin(resource)
        for start in range(pages):
            found.take(resource, page(items[start::pages]))
    return found


def imported(manifests: list[Manifest]) -> dict[tuple[str, str], Manifest]:
    taken = Import(0, b"salt")
    for manifest in manifests:
        taken.take(manifest)
    changes = taken.changes(keep_owners=True)
    return {(change.resource, change.key): change.object or {} for change in changes}


def by_key(found: ListedObjects) -> dict[tuple[str, str], Manifest]:
    return {
        (resource.id, resource.key(item["metadata"].get("namespace", ""), item["metadata"]["name"])): item
        for resource, item in found.items()
    }


def view(manifest: Manifest) -> dict[str, Any]:
    """All that the scheduler's view of a pod has, but what is read of the manifest later. What other pods
    with the same spec had read before depends on the tests that ran before."""
    parsed = Pod.parse(manifest)
    lazy = ("tolerations", "node_selector", "affinity", "node_affinity", "own_requests", "images")
    fields = {name: value for name, value in vars(parsed).items() if name not in ("manifest", "spec_fields")}
    return {**fields, **{name: getattr(parsed, name) for name in lazy}}


def test_the_objects_are_those_of_an_import_of_the_same_cluster() -> None:
    manifests = [*real_cluster(), *(each for each in cluster() if each["metadata"]["name"] != "broken")]
    for each in manifests:
        if each["kind"] == "Pod":
            each["spec"].setdefault("priority", 0)  # as every API server does
    expected, found = imported(manifests), by_key(listed(manifests, pages=1))
    for key, manifest in expected.items():
        if key[0] == "pods":
            assert view(found[key]) == view(manifest)
        elif key[0] == "replicasets.apps":
            assert found[key]["spec"]["selector"] == manifest["spec"]["selector"]
        else:
            assert found[key] == manifest
    assert found.keys() == expected.keys()
    assert SECRET not in json.dumps([*found.values()])
    snapshot.read([*listed(manifests).items()], profiles(load(None)))


def test_pods_of_a_template_share_what_they_have_in_common() -> None:
    pods = [pod(f"web-7d4b9c6f5-{number}", "gke-main-pool-1") for number in range(3)]
    for number, each in enumerate(pods):
        # Each pod has a volume of its own name with the token of its service account.
        each["spec"]["volumes"].append({"name": f"kube-api-access-{number}", "projected": {"sources": []}})
        each["spec"]["containers"][0]["volumeMounts"].append({"name": f"kube-api-access-{number}"})
    first, second, _ = listed(pods).pods.values()
    assert first["spec"]["containers"] is second["spec"]["containers"]
    assert first["status"] is second["status"]
    assert first["status"] == {
        "phase": "Running",
        "startTime": BORN,
        "containerStatuses": [{"name": "web"}],
    }


def test_an_object_that_admission_would_refuse_is_left_out_and_named() -> None:
    wrong = pod("wrong")
    wrong["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2 cores"}}
    found = listed([wrong, pod("right")])
    assert [*found.pods] == ["shop/right"]
    [refused] = found.report.refused
    assert refused.startswith(
        'Pod shop/wrong: spec.containers[0].resources.requests.cpu: not a quantity: "2 c'
    )


def test_a_list_that_begins_anew_forgets_what_it_had() -> None:
    found = listed(real_cluster())
    names = [each["metadata"]["name"] for each in real_cluster() if each["kind"] == "Node"]
    for resource, kept in (
        (PODS, pod("only", names[0])),
        (NODES, next(each for each in real_cluster() if each["kind"] == "Node")),
    ):
        found.begin(resource)
        found.take(resource, page([kept]))
    assert [*found.pods] == ["shop/only"]
    assert [key for key in by_key(found) if key[0] == "nodes"] == [("nodes", names[0])]


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"items": 3}', b'{"items": [3]}', b"[]", b"\xff"])
def test_what_is_no_list_is_refused_in_one_line(body: bytes) -> None:
    for resource in (PODS, NODES):
        with pytest.raises(ListFault, match=r"^not a list of Kubernetes: .+$"):
            ListedObjects(0, b"", DEFAULT_FEATURES).take(resource, body)


def test_the_token_of_a_page() -> None:
    assert continue_token(page([], "next")) == "next"
    assert continue_token(b'{"items": []}') == ""
