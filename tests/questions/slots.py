"""Things that nodes have for pods, by claims: devices, local volumes, and volumes that are provisioned in a
zone. To the exhaustive search, a *slot* is an amount of the node, of which each pod requests one."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Final

from simulator.api import Manifest
from simulator.objects.node import ZONE
from tests.questions.random_clusters import HOSTNAME

GROUP: Final = {"apiVersion": "resource.k8s.io/v1"}
DRIVER: Final = "gpu.example.com"
STORAGE: Final = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
KINDS: Final = ("devices", "local volumes", "zonal volumes")
MANY: Final = 20


def slot_objects(kind: str, counts: Mapping[str, int]) -> list[Manifest]:
    """counts: the number of slots of each node; zonal volumes are as many as there are pods."""
    if kind == "devices":
        of_driver = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
        asks = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
        found: list[Manifest] = [
            {**GROUP, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {"selectors": [of_driver]}},
            {**GROUP, "kind": "ResourceClaimTemplate", "metadata": {"name": "one"}, "spec": {"spec": asks}},
            {**GROUP, "kind": "ResourceClaim", "metadata": {"name": "shared"}, "spec": asks},
        ]
        return found + [_slice(node, count) for node, count in counts.items()]
    local = kind == "local volumes"
    storage_class: Manifest = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "slots"},
        "provisioner": "kubernetes.io/no-provisioner" if local else "disk.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    if not local:
        zones = {"key": ZONE, "values": ["a"]}
        return [{**storage_class, "allowedTopologies": [{"matchLabelExpressions": [zones]}]}]
    return [storage_class, *(_volume(node, i) for node, count in counts.items() for i in range(count))]


def _slice(node: str, count: int) -> Manifest:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"gpu-{i}"} for i in range(count)]
    spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices}
    return {**GROUP, "kind": "ResourceSlice", "metadata": {"name": node}, "spec": spec}


def _volume(node: str, number: int) -> Manifest:
    rule = {"key": HOSTNAME, "operator": "In", "values": [node]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"disk-{node}-{number}"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "slots",
            "local": {"path": "/disk"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}},
        },
    }


def slot_spec(kind: str) -> Manifest:
    """Return the spec of a pod that needs a slot."""
    if kind == "devices":
        return {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}]}
    template = {"spec": {**STORAGE, "storageClassName": "slots"}}
    return {"volumes": [{"name": "data", "ephemeral": {"volumeClaimTemplate": template}}]}


def seen_by_search(kind: str, counts: Mapping[str, int], nodes: list[Manifest]) -> list[Manifest]:
    """Return the nodes with their slots as an amount."""
    found = deepcopy(nodes)
    for node in found:
        amount = counts.get(node["metadata"]["name"], 0)
        if kind == "zonal volumes":
            amount = MANY * (node["metadata"]["labels"][ZONE] == "a")
        node["status"]["allocatable"]["slot"] = str(amount)
    return found


def with_slot(pod: Manifest) -> Manifest:
    """Return the pod as the search sees it."""
    found = deepcopy(pod)
    found["spec"]["containers"][0]["resources"]["requests"]["slot"] = "1"
    return found
