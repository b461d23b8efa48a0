"""Requests that kube-apiserver refuses, each with its whole message: ``refused_creates.yaml`` and
``refused_updates.yaml``. What stands beside them here is stored."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.api import Manifest
from simulator.apiserver.resources import Resource, find_by_kind
from simulator.apiserver.status import Invalid
from tests.apiserver.cluster import Cluster, pod, refusal

OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


def cases(name: str) -> list[Any]:
    found = yaml.safe_load(Path(__file__).with_name(name).read_text())
    return [pytest.param(each, id=each["message"][:60]) for each in found]


def resource_of(manifest: Manifest) -> Resource:
    resource = find_by_kind(manifest["apiVersion"], manifest["kind"])
    assert resource
    return resource


def changed(old: Manifest, changes: dict[str, Any]) -> Manifest:
    """A copy of an object with other values at some paths; None: without the field."""
    new = copy.deepcopy(old)
    for path, value in changes.items():
        *parents, last = path.split("/")
        holder: Any = new
        for name in parents:
            holder = holder[int(name)] if isinstance(holder, list) else holder.setdefault(name, {})
        if value is None:
            del holder[last]
        else:
            holder[last] = value
    return new


def object_of(kind: str, version: str = "v1", **fields: Any) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}, **fields}


def volume(**spec: Any) -> Manifest:
    return object_of(
        "PersistentVolume",
        spec={"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], **spec},
    )


def claim(**spec: Any) -> Manifest:
    resources = {"requests": {"storage": "2Gi"}}
    return object_of(
        "PersistentVolumeClaim", spec={"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}
    )


def affinity(key: str, *values: str) -> Manifest:
    requirement = {"key": key, "operator": "In", "values": [*values]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}}


def assert_is_refused(refused: object, case: dict[str, Any]) -> None:
    assert isinstance(refused, Invalid), "it is not refused"
    assert refused.message.partition(" is invalid: ")[2] == case["message"]
    assert len(refused.causes) == case["causes"]


@pytest.mark.parametrize("case", cases("refused_creates.yaml"))
def test_a_create_is_refused_in_the_words_of_the_api_server(case: dict[str, Any]) -> None:
    assert_is_refused(refusal(lambda: Cluster().admit([case["create"]], entry="api")), case)


@pytest.mark.parametrize("case", cases("refused_updates.yaml"))
def test_an_update_is_refused_in_the_words_of_the_api_server(case: dict[str, Any]) -> None:
    cluster = Cluster()
    (old,) = cluster.create([case["create"]])
    new = changed(old, case["change"])
    resource, subresource = resource_of(old), case.get("subresource", "")
    assert_is_refused(refusal(lambda: cluster.update(resource, old, new, subresource)), case)


@pytest.mark.parametrize(
    ("created", "changes"),
    [
        (
            volume(local={"path": "/d"}, nodeAffinity=affinity(OLD_ZONE, "a")),
            {"spec/nodeAffinity": affinity("topology.kubernetes.io/zone", "a")},
        ),
        (
            volume(csi={"driver": "d.io", "volumeHandle": "h"}),
            {"spec/csi/controllerExpandSecretRef": {"name": "a", "namespace": "b"}},
        ),
        (volume(hostPath={"path": "/d"}), {"spec/nodeAffinity": affinity("a", "b")}),
        (claim(), {"spec/storageClassName": "fast"}),
        (
            object_of("CSINode", "storage.k8s.io/v1", spec={"drivers": [{"name": "d", "nodeID": "n"}]}),
            {"spec/drivers": []},
        ),
        (object_of("CSIDriver", "storage.k8s.io/v1", spec={}), {"spec/requiresRepublish": True}),
        (pod("x"), {"spec/containers/0/image": "other"}),
        (object_of("Node", spec={}, status={}), {"spec/unschedulable": True}),
    ],
)
def test_what_may_change_is_stored(created: Manifest, changes: dict[str, Any]) -> None:
    cluster = Cluster()
    (old,) = cluster.create([created])
    stored = cluster.update(resource_of(created), old, changed(old, changes))
    assert stored["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]


def test_a_bound_claim_can_ask_for_more() -> None:
    cluster = Cluster()
    (old,) = cluster.create([claim()])
    resource = resource_of(old)
    bound = cluster.update(resource, old, {**old, "status": {"phase": "Bound"}}, "status")
    larger = changed(bound, {"spec/resources/requests": {"storage": "3Gi"}})
    assert cluster.update(resource, bound, larger)["spec"]["resources"] == {"requests": {"storage": "3Gi"}}
