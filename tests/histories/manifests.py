"""Random manifests: nodes, volumes, budgets, and what every cluster has.

The same random.Random gives the same manifests."""

from random import Random
from typing import Any

from simulator.api import Manifest

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
ZONES = ("a", "b", "c")
APPS = ("web", "db", "cache", "batch")
CLASSES = {"low": 10, "middle": 100, "high": 1000, "polite": 500}
"""PriorityClasses and their values; ``polite`` never preempts."""
NAMESPACES = ("default", "blue", "green")
STORAGE_CLASSES = ("immediate", "late", "local")
"""Bound at once, bound for the first consumer, and without a provisioner."""
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
EXTENDED = "example.com/gpu"
BEFORE_RESERVE = ("PreFilter", "Filter", "PostFilter", "PreScore", "Score")
FAULT_POINTS = (*BEFORE_RESERVE, "Reserve", "Permit", "PreBind", "Bind")
"""The points at which a fault can be injected."""
IMAGES = ("registry.example/web:1", "registry.example/db:2", "registry.example/large:3")


def basics() -> list[Manifest]:
    """What every history's cluster begins with, beside its nodes."""
    classes = [
        manifest("scheduling.k8s.io/v1", "PriorityClass", name, value=value)
        | ({"preemptionPolicy": "Never"} if name == "polite" else {})
        for name, value in CLASSES.items()
    ]
    namespaces = [manifest("v1", "Namespace", name) for name in NAMESPACES[1:]]
    namespaces[0]["metadata"]["labels"] = {"team": "blue"}
    services = [
        manifest("v1", "Service", app, spec={"selector": {"app": app}, "ports": [{"port": 80}]})
        for app in APPS[:2]
    ]
    return [*classes, *namespaces, *services, *storage_classes()]


def storage_classes() -> list[Manifest]:
    modes = ("Immediate", "WaitForFirstConsumer", "WaitForFirstConsumer")
    provisioners = ("disks.example", "disks.example", "kubernetes.io/no-provisioner")
    classes = []
    for name, mode, provisioner in zip(STORAGE_CLASSES, modes, provisioners, strict=True):
        made = manifest("storage.k8s.io/v1", "StorageClass", name)
        made |= {"provisioner": provisioner, "volumeBindingMode": mode}
        if name == "late":
            made["metadata"]["annotations"] = {"schedviz/provision-seconds": "3"}
        classes.append(made)
    return classes


def node(random: Random, name: str) -> Manifest:
    labels = {HOSTNAME: name, ZONE: random.choice(ZONES)}
    if random.random() < 0.4:
        labels["disk"] = random.choice(("ssd", "hdd"))
    spec: Manifest = {}
    if random.random() < 0.2:
        spec["taints"] = [taint(random)]
    if random.random() < 0.05:
        spec["unschedulable"] = True
    amounts = {"cpu": str(random.choice((2, 3, 4, 8))), "memory": random.choice(("4Gi", "8Gi", "16Gi"))}
    amounts["pods"] = random.choice(("5", "20", "110"))
    if random.random() < 0.3:
        amounts[EXTENDED] = str(random.randint(1, 3))
    images = [{"names": [image], "sizeBytes": 300_000_000} for image in IMAGES if random.random() < 0.4]
    made = manifest("v1", "Node", name, labels=labels, spec=spec)
    return made | {"status": {"allocatable": amounts, "capacity": amounts, "images": images}}


def taint(random: Random) -> Manifest:
    effect = random.choice(("NoSchedule", "NoSchedule", "PreferNoSchedule", "NoExecute"))
    return {"key": "dedicated", "value": random.choice(("one", "two")), "effect": effect}


def claim(random: Random, name: str) -> Manifest:
    namespace = random.choice(("default", "default", "default", "blue"))
    return manifest("v1", "PersistentVolumeClaim", name, namespace, spec=claim_spec(random))


def claim_spec(random: Random) -> Manifest:
    modes = ("ReadWriteOnce", "ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany")
    return {
        "accessModes": [random.choice(modes)],
        "resources": {"requests": {"storage": random.choice(("1Gi", "5Gi", "20Gi"))}},
        "storageClassName": random.choice(STORAGE_CLASSES),
    }


def volume(random: Random, name: str) -> Manifest:
    spec: Manifest = {
        "accessModes": ["ReadWriteOnce", "ReadWriteMany"],
        "capacity": {"storage": random.choice(("5Gi", "20Gi"))},
        "storageClassName": random.choice(("local", "late")),
        "persistentVolumeReclaimPolicy": random.choice(("Retain", "Delete")),
    }
    if random.random() < 0.5:
        spec["hostPath"] = {"path": "/data"}
    else:
        spec["csi"] = {"driver": "disks.example", "volumeHandle": name}
    if random.random() < 0.6:
        expression = {"key": ZONE, "operator": "In", "values": random.sample(ZONES, 2)}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    labels = {ZONE: random.choice(ZONES)} if random.random() < 0.3 else {}
    return manifest("v1", "PersistentVolume", name, labels=labels, spec=spec)


def csi_node(random: Random, node: str) -> Manifest:
    """How many volumes of the provisioner a node can take."""
    driver = {"name": "disks.example", "nodeID": node, "allocatable": {"count": random.randint(1, 3)}}
    return manifest("storage.k8s.io/v1", "CSINode", node, spec={"drivers": [driver]})


def capacity(random: Random, name: str) -> Manifest:
    """The storage capacity of a class."""
    made = manifest("storage.k8s.io/v1", "CSIStorageCapacity", name, "default")
    size = random.choice(("2Gi", "10Gi", "100Gi"))
    return made | {"storageClassName": "late", "capacity": size, "nodeTopology": {}}


def attachment(random: Random, name: str, node: str) -> Manifest:
    source = {"persistentVolumeName": f"volume-{random.randrange(9)}"}
    spec = {"attacher": "disks.example", "nodeName": node, "source": source}
    return manifest("storage.k8s.io/v1", "VolumeAttachment", name, spec=spec)


def budget(random: Random, app: str) -> Manifest:
    limit = random.choice(({"minAvailable": 1}, {"maxUnavailable": 1}, {"minAvailable": "50%"}))
    spec = {"selector": {"matchLabels": {"app": app}}, **limit}
    return manifest("policy/v1", "PodDisruptionBudget", app, "default", spec=spec)


def manifest(api_version: str, kind: str, name: str, namespace: str = "", **fields: Any) -> Manifest:
    """An object of this kind; a namespace or labels that are empty are left out."""
    labels = fields.pop("labels", None)
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    metadata = {field: value for field, value in metadata.items() if value}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
