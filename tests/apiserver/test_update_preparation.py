"""What an update through a subresource can change."""

import copy

import pytest

from simulator.api import Manifest
from simulator.apiserver.resources import PODS, find_built_in
from simulator.apiserver.status import Invalid
from simulator.apiserver.update import admit_update
from tests.apiserver.cluster import Cluster, pod

RESOURCES = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "2Gi"}}


def stored(cluster: Cluster, **spec: object) -> Manifest:
    (created,) = cluster.create([pod(**spec)])
    return created


def changed(cluster: Cluster, old: Manifest, new: Manifest, subresource: str) -> Manifest:
    """The object after the update; the old one if it changes nothing."""
    changes = admit_update(PODS, old, new, cluster, subresource=subresource).changes
    return changes[0].object or old if changes else old


@pytest.mark.parametrize("subresource", ["", "status", "ephemeralcontainers", "resize"])
def test_each_path_changes_its_own_part_only(subresource: str) -> None:
    cluster = Cluster()
    old = stored(cluster, containers=[{"name": "c", "image": "a", "resources": RESOURCES}])
    new = copy.deepcopy(old)
    new["spec"]["containers"][0]["image"] = "b"
    new["metadata"]["labels"] = {"a": "b"}
    new["status"]["phase"] = "Running"
    if subresource:
        new["spec"]["containers"][0]["resources"]["limits"]["cpu"] = "3"
    if subresource == "ephemeralcontainers":
        new["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "d"}]
    after = changed(cluster, old, new, subresource)
    assert after["spec"]["containers"][0]["image"] == ("a" if subresource else "b")
    assert after["spec"]["containers"][0]["resources"]["limits"]["cpu"] == (
        "3" if subresource == "resize" else "2"
    )
    assert ("ephemeralContainers" in after["spec"]) == (subresource == "ephemeralcontainers")
    assert after["status"]["phase"] == ("Running" if subresource == "status" else "Pending")
    assert after["metadata"].get("labels") == ({"a": "b"} if subresource in ("", "status") else None)
    assert after["metadata"]["generation"] == (1 if subresource == "status" else 2)


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ({}, "resource requests cannot be removed"),
        ({"requests": RESOURCES["requests"]}, "resource limits cannot be removed"),
        ({**RESOURCES, "requests": RESOURCES["limits"]}, "QOS Class may not change"),
        (
            {**RESOURCES, "limits": {**RESOURCES["limits"], "example.com/gpu": "1"}},
            "only cpu and memory resources are mutable",
        ),
    ],
)
def test_a_resize_changes_cpu_and_memory_and_removes_nothing(resources: Manifest, message: str) -> None:
    cluster = Cluster()
    old = stored(cluster, containers=[{"name": "c", "image": "a", "resources": RESOURCES}])
    new = copy.deepcopy(old)
    new["spec"]["containers"][0]["resources"] = resources
    with pytest.raises(Invalid, match=message):
        changed(cluster, old, new, "resize")


def test_the_addresses_of_a_pod_are_one_of_each_family_and_no_two_are_the_same() -> None:
    cluster = Cluster()
    old = stored(cluster)
    new = {**old, "status": {**old["status"], "podIPs": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}]}}
    with pytest.raises(Invalid) as refused:
        changed(cluster, old, new, "status")
    detail = "may specify no more than one IP for each IP family"
    assert [f"{cause.field}: {cause.message}" for cause in refused.value.causes] == [
        f'status.podIPs: Invalid value: [{{"IP":"10.0.0.1"}},{{"IP":"10.0.0.1"}}]: {detail}',
        'status.podIPs[1]: Duplicate value: {"IP":"10.0.0.1"}',
    ]


def test_a_status_counts_no_more_replicas_than_there_are() -> None:
    resource = find_built_in("apps", "deployments")
    assert resource is not None
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "a"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}
    cluster = Cluster()
    (old,) = cluster.create([manifest])
    new = {**old, "status": {"replicas": 1, "readyReplicas": 1, "availableReplicas": 2}}
    with pytest.raises(Invalid) as refused:
        admit_update(resource, old, new, cluster, subresource="status")
    assert [cause.message for cause in refused.value.causes] == [
        "Invalid value: 2: cannot be greater than status.replicas",
        "Invalid value: 2: cannot be greater than readyReplicas",
    ]
    with pytest.raises(Invalid) as refused:
        admit_update(resource, old, {**old, "status": {"replicas": -1}}, cluster, subresource="status")
    assert [f"{cause.field}: {cause.message}" for cause in refused.value.causes] == [
        "status.replicas: Invalid value: -1: must be greater than or equal to 0",
        *(
            f"status.{field}: Invalid value: 0: cannot be greater than status.replicas"
            for field in ("updatedReplicas", "readyReplicas", "availableReplicas")
        ),
    ]


@pytest.mark.parametrize(
    ("field", "value", "generation"), [("requiresRepublish", True, 1), ("fsGroupPolicy", "File", None)]
)
def test_a_driver_gets_a_generation_when_what_it_asks_of_nodes_changes(
    field: str, value: object, generation: int | None
) -> None:
    cluster = Cluster()
    driver = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": "d.io"},
        "spec": {},
    }
    (old,) = cluster.create([driver])
    resource = find_built_in("storage.k8s.io", "csidrivers")
    assert resource
    new = cluster.update(resource, old, {**old, "spec": {**old["spec"], field: value}})
    assert ("generation" in old["metadata"], new["metadata"].get("generation")) == (False, generation)
