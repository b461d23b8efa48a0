"""Pods, claims, volumes and nodes for the tests of the volume plugins, and what is decided with them."""

from typing import Any

from simulator.api import Manifest
from simulator.harness.decide import decide
from simulator.harness.decide.input import DecideInput

ZONE = "topology.kubernetes.io/zone"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
VOLUME_PLUGINS = {"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"}
NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
OUT_OF_REACH = "node(s) didn't match PersistentVolume's node affinity"
TOO_SMALL = "node(s) did not have enough free storage"
IN_USE = "node(s) had no available disk"
TOO_MANY = "node(s) exceed max volume count"


def node(name: str, **labels: str) -> Manifest:
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    labels = {ZONE if key == "zone" else key: value for key, value in labels.items()}
    return {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": {"allocatable": allocatable}}


def pod(name: str, *volumes: Any, on: str = "", priority: int = 0, namespace: str = "default") -> Manifest:
    """A volume is a claim's name or a volume source."""
    sources = [{"persistentVolumeClaim": {"claimName": v}} if isinstance(v, str) else v for v in volumes]
    spec: Manifest = {
        "priority": priority,
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": f"v{i}", **source} for i, source in enumerate(sources)],
    }
    if on:
        spec["nodeName"] = on
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}"},
        "spec": spec,
        "status": {"phase": "Running" if on else "Pending", "startTime": "2025-01-01T00:00:00Z"},
    }


def claim(
    name: str, *, to: str = "", storage_class: str = "", size: str = "1Gi", **metadata: Any
) -> Manifest:
    spec: Manifest = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    if to:
        spec["volumeName"] = to
        metadata.setdefault("annotations", BOUND)
    if storage_class:
        spec["storageClassName"] = storage_class
    return {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", **metadata},
        "spec": spec,
    }


def volume(name: str, size: str = "1Gi", *, zone: str = "", labels: Any = None, **spec: Any) -> Manifest:
    """An available volume, reachable from nodes of one zone if that is said."""
    if zone:
        expression = {"key": ZONE, "operator": "In", "values": [zone]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    if not {"awsElasticBlockStore", "gcePersistentDisk"} & spec.keys():
        spec.setdefault("csi", {"driver": "csi.example.com", "volumeHandle": name})
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], **spec},
        "status": {"phase": "Available"},
    }


def waiting_class(name: str, provisioner: str = "kubernetes.io/no-provisioner", **more: Any) -> Manifest:
    """A storage class whose claims wait for their first consumer."""
    mode = "WaitForFirstConsumer"
    return {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode, **more}


def csi_node(name: str, *, migrated: str = "", **limits: int) -> Manifest:
    drivers = [
        {"name": driver.replace("_", "."), "nodeID": name, "allocatable": {"count": count}}
        for driver, count in limits.items()
    ]
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": {"drivers": drivers}}


def decided(pending: Manifest, config: Manifest | None = None, **objects: list[Manifest]) -> Manifest:
    return decide(DecideInput("", objects, pending, config))


def reasons(answer: Manifest) -> dict[str, list[str] | None]:
    """Node -> the reason for which it was rejected, None = the pod fits."""
    return {name: status and status["reasons"] for name, status in answer["filter"].items()}


def without(*plugins: str) -> Manifest:
    """A configuration without some plugins."""
    disabled = {"disabled": [{"name": name} for name in plugins]}
    return {"profiles": [{"plugins": {"multiPoint": disabled}}]}
