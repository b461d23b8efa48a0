"""Requests that kube-apiserver refuses, each with its whole message: ``refused_creates.yaml`` and
``refused_updates.yaml``. The requests in this file are stored."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.api import Manifest
from simulator.apiserver.managed_fields.field_writes import FieldWrite
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import find_by_kind
from simulator.apiserver.status import Invalid
from simulator.apiserver.update import admit_update
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
def test_a_refused_create_has_the_message_of_the_api_server(case: dict[str, Any]) -> None:
    assert_is_refused(refusal(lambda: Cluster().admit([case["create"]], entry="api")), case)


@pytest.mark.parametrize("case", cases("refused_updates.yaml"))
def test_a_refused_update_has_the_message_of_the_api_server(case: dict[str, Any]) -> None:
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
def test_mutable_fields_are_stored(created: Manifest, changes: dict[str, Any]) -> None:
    cluster = Cluster()
    (old,) = cluster.create([created])
    stored = cluster.update(resource_of(created), old, changed(old, changes))
    assert stored["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]


@pytest.mark.parametrize(
    ("phase", "may_grow", "message"),
    [
        ("Pending", True, None),
        ("Bound", True, ""),
        (
            "Bound",
            False,
            (
                'persistentvolumeclaims "x" is forbidden: only dynamically provisioned pvc can be resized '
                "and the storageclass that provisions the pvc must support resize"
            ),
        ),
    ],
)
def test_a_bound_claim_can_ask_for_more_if_its_class_says_so(
    phase: str, may_grow: bool, message: str | None
) -> None:
    cluster = Cluster()
    storage_class = object_of(
        "StorageClass", "storage.k8s.io/v1", provisioner="p.io", allowVolumeExpansion=may_grow
    )
    _, old = cluster.create([storage_class, claim(storageClassName="x")])
    resource = resource_of(old)
    if phase == "Bound":
        old = cluster.update(resource, old, {**old, "status": {"phase": phase}}, "status")
    larger = changed(old, {"spec/resources/requests": {"storage": "3Gi"}})
    refused = refusal(lambda: cluster.update(resource, old, larger))
    if message is None:
        assert isinstance(refused, Invalid)
    else:
        assert (refused.message if refused else "") == message


@pytest.mark.parametrize(
    ("current", "given", "message"),
    [
        (None, None, ""),
        (None, "", ""),
        ("a", "b", ""),
        ("a", None, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil"),
        (
            "a",
            "",
            "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil",
        ),
    ],
)
def test_a_bound_claim_keeps_a_class_once_its_volume_has_the_attributes_of_one(
    current: str | None, given: str | None, message: str
) -> None:
    cluster = Cluster()
    (old,) = cluster.create([claim(volumeAttributesClassName="a")])
    resource = resource_of(old)
    status = {"phase": "Bound"}
    if current:
        status["currentVolumeAttributesClassName"] = current
    bound = cluster.update(resource, old, {**old, "status": status}, "status")
    other = changed(bound, {"spec/volumeAttributesClassName": given})
    refused = refusal(lambda: cluster.update(resource, bound, other))
    path = "spec.volumeAttributesClassName: Forbidden: "
    assert (refused.message.partition(path)[2] if refused else "") == message


def test_a_larger_claim_stays_within_the_bounds_of_its_namespace() -> None:
    cluster = Cluster()
    storage_class = object_of(
        "StorageClass", "storage.k8s.io/v1", provisioner="p.io", allowVolumeExpansion=True
    )
    limit = {"type": "PersistentVolumeClaim", "max": {"storage": "3Gi"}}
    _, _, old = cluster.create(
        [storage_class, object_of("LimitRange", spec={"limits": [limit]}), claim(storageClassName="x")]
    )
    bound = cluster.update(resource_of(old), old, {**old, "status": {"phase": "Bound"}}, "status")
    larger = changed(bound, {"spec/resources/requests": {"storage": "4Gi"}})
    refused = refusal(lambda: cluster.update(resource_of(old), bound, larger))
    assert refused
    assert refused.message == (
        'persistentvolumeclaims "x" is forbidden: maximum storage usage per PersistentVolumeClaim is 3Gi, '
        "but request is 4Gi"
    )


@pytest.mark.parametrize(
    ("given", "path", "stored"),
    [
        (object_of("ServiceAccount", secrets=[{"kind": "Secret", "name": "a"}]), "secrets", [{"name": "a"}]),
        (
            object_of("Namespace", spec={"finalizers": ["a.io/b"]}),
            "spec/finalizers",
            ["a.io/b", "kubernetes"],
        ),
        (object_of("Node", spec={"configSource": {}}), "spec", {}),
        (
            object_of("CSIDriver", "storage.k8s.io/v1", spec={"nodeAllocatableUpdatePeriodSeconds": 60}),
            "spec/nodeAllocatableUpdatePeriodSeconds",
            None,
        ),
        (
            claim(dataSourceRef={"kind": "PersistentVolumeClaim", "name": "a", "namespace": "b"}),
            "spec/dataSourceRef",
            None,
        ),
        (claim(dataSource={"kind": "A", "apiGroup": "b.io", "name": "c"}), "spec/dataSource", None),
    ],
)
def test_what_a_strategy_clears_or_adds(given: Manifest, path: str, stored: object) -> None:
    (value,) = Cluster().create([given])
    for name in path.split("/"):
        value = value.get(name)
    assert value == stored


def test_a_volume_has_the_time_of_its_phase() -> None:
    cluster = Cluster()
    (old,) = cluster.create([volume(hostPath={"path": "/d"})])
    write = FieldWrite("test", "2030-01-01T00:00:00Z", "status")
    resource = resource_of(old)

    def phase_time(status: Manifest) -> str:
        new = {**old, "status": status}
        (change,) = admit_update(resource, old, new, cluster, subresource="status", write=write).changes
        assert change.object
        return str(change.object["status"]["lastPhaseTransitionTime"])

    first, other = old["status"]["lastPhaseTransitionTime"], "2031-01-01T00:00:00Z"
    assert phase_time({**old["status"], "phase": "Bound"}) == write.time
    assert phase_time({"phase": "Bound", "lastPhaseTransitionTime": other}) == other
    assert phase_time({"phase": "Pending", "message": "a"}) == first


def test_a_field_has_the_name_that_old_clients_know() -> None:
    cluster = Cluster()
    node, web = cluster.create(
        [object_of("Node", spec={"podCIDR": "10.1.0.0/24"}, status={}), pod("x", serviceAccount="a")]
    )
    assert node["spec"] == {"podCIDR": "10.1.0.0/24", "podCIDRs": ["10.1.0.0/24"]}
    assert web["spec"]["serviceAccountName"] == "a"
    assigned = {"status": {**web["status"], "podIPs": [{"ip": "10.1.0.2"}, {"ip": "fd00::2"}]}}
    web = cluster.update(resource_of(web), web, {**web, **assigned}, "status")
    assert web["status"]["podIP"] == "10.1.0.2"
    assigned = {"status": {**web["status"], "podIP": "10.1.0.3"}}
    web = cluster.update(resource_of(web), web, {**web, **assigned}, "status")
    assert web["status"]["podIPs"] == [{"ip": "10.1.0.3"}]


@pytest.mark.parametrize(
    ("policy", "kind", "exit_code", "is_refused"),
    [
        ("Never", "containerStatuses", 1, True),
        ("OnFailure", "containerStatuses", 1, False),
        ("OnFailure", "containerStatuses", 0, True),
        ("Never", "initContainerStatuses", 0, False),
        ("Always", "ephemeralContainerStatuses", 0, True),
    ],
)
def test_a_container_that_ended_does_not_run_again(
    policy: str, kind: str, exit_code: int, is_refused: bool
) -> None:
    cluster = Cluster()
    sidecar = {"name": "main-side", "image": "a", "restartPolicy": "Always"}
    (web,) = cluster.create([pod("x", restartPolicy=policy, initContainers=[sidecar])])

    def with_state(state: Manifest) -> Manifest:
        status = {"name": "main-side", "state": state, "image": "", "imageID": "", "ready": True}
        return {**web, "status": {**web["status"], kind: [{**status, "restartCount": 0}]}}

    resource = resource_of(web)
    ended = cluster.update(resource, web, with_state({"terminated": {"exitCode": exit_code}}), "status")
    running = with_state({"running": {}})
    running["metadata"] = ended["metadata"]
    refused = refusal(lambda: cluster.update(resource, ended, running, "status"))
    message = f"status.{kind}[0].state: Forbidden: may not be transitioned to non-terminated state"
    assert (refused.message if refused else "") == (f'Pod "x" is invalid: {message}' if is_refused else "")
