"""The namespace controller, and the protection of claims and volumes in use."""

from simulator.api import Manifest
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NAMESPACES, find_built_in
from tests.simulator.lab import Lab, node, pod


def found(plural: str, group: str = "") -> Resource:
    resource = find_built_in(group, plural)
    assert resource is not None
    return resource


def delete(lab: Lab, resource: Resource, key: str) -> None:
    """As a DELETE request does."""
    change = admit_delete(resource, lab.api.objects[resource.id][key], lab.now)
    assert change is not None
    lab.api.commit([change])
    lab.simulation.observe(lab.api.take_events())


def manifest(kind: str, name: str, namespace: str = "", **fields: object) -> Manifest:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields}


def test_a_namespace_is_deleted_after_its_pods_and_objects() -> None:
    lab = Lab()
    web = pod("web")
    web["metadata"]["namespace"] = "team"
    lab.create(node("n"), manifest("Namespace", "team"), web, manifest("ConfigMap", "c", "team"))
    lab.create(manifest("ConfigMap", "c", "default"))
    lab.run(5)
    delete(lab, NAMESPACES, "team")
    lab.run(2)
    terminating = lab.api.objects["pods"]["team/web"]["metadata"]
    assert terminating["deletionGracePeriodSeconds"] == 30
    assert "team/c" in lab.api.objects["configmaps"], "pods go first"
    lab.run(60)
    assert "team" not in lab.api.objects["namespaces"]
    assert [*lab.api.objects["configmaps"]] == ["default/c"]


def test_a_namespace_waits_for_finalizers() -> None:
    lab = Lab()
    kept = manifest("ConfigMap", "c", "team")
    kept["metadata"]["finalizers"] = ["example.com/audit"]
    lab.create(manifest("Namespace", "team"), kept)
    delete(lab, NAMESPACES, "team")
    lab.run(60)
    assert "team" in lab.api.objects["namespaces"]
    assert "deletionTimestamp" in lab.api.objects["configmaps"]["team/c"]["metadata"]
    lab.delete("configmaps", "team/c")
    lab.run(60)
    assert "team" not in lab.api.objects["namespaces"]


def test_a_claim_waits_for_the_pod_that_uses_it_and_a_volume_for_its_claim() -> None:
    lab = Lab()
    size = {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]}
    volume = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/data"},
        "persistentVolumeReclaimPolicy": "Retain",
    }
    web = pod("web")
    web["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    claim = manifest("PersistentVolumeClaim", "data", "default", spec={**size, "storageClassName": ""})
    lab.create(node("n"), manifest("PersistentVolume", "v", spec=volume), claim, web)
    lab.run(10)
    assert lab.api.objects["pods"]["default/web"]["spec"]["nodeName"] == "n"
    delete(lab, found("persistentvolumes"), "v")
    delete(lab, found("persistentvolumeclaims"), "default/data")
    lab.run(60)
    claim = lab.api.objects["persistentvolumeclaims"]["default/data"]
    assert claim["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    assert lab.api.objects["persistentvolumes"]["v"]["status"]["phase"] == "Bound"
    lab.delete_pod("web")
    lab.run(60)
    assert not lab.api.objects.get("persistentvolumeclaims")
    assert not lab.api.objects.get("persistentvolumes")
