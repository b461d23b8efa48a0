"""Extended resources that are served by a DeviceClass: the claim that the scheduler makes for them
(extendeddynamicresources.go, and extendedresourcecache.go in
staging/src/k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache)."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints, Rows
from simulator.cluster.other_objects import OtherObjects
from simulator.objects.metadata import annotations_of
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.objects.pod_requests import is_extended_resource
from simulator.objects.quantity import NANO, QuantityError, parse_quantity
from simulator.plugins.dynamic_resources.device_selectors import DEVICE_CLASSES, device_classes
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS, ResourceClaim, parse_claim

GATE: Final = "DRAExtendedResource"
CLASS_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
"""The beginning of the resource that each DeviceClass serves, before the name of the class."""
ANNOTATION: Final = "resource.kubernetes.io/extended-resource-claim"
SPECIAL_NAME: Final = "<extended-resources>"
"""The name of a claim that exists in memory only."""


def is_served_name(resource: str) -> bool:
    """Return whether a class can serve a resource of this name (IsDRAExtendedResourceName)."""
    return resource.startswith(CLASS_PREFIX) or is_extended_resource(resource)


def serving_classes(objects: OtherObjects) -> Mapping[str, str]:
    """Return the name of the DeviceClass of each resource that one serves. Of several with the same
    ``extendedResourceName`` the newest counts, then the one with the lower name.

    As in a scheduler that has just started, which lists the classes by name: a class that comes after a newer
    one of its resource serves nothing at all (updateResourceName2class)."""
    return objects.derived(_serving_classes, DEVICE_CLASSES)


def _serving_classes(objects: OtherObjects) -> dict[str, str]:
    classes = device_classes(objects)
    found: dict[str, str] = {}
    for name in sorted(classes):
        resource = (classes[name].get("spec") or {}).get("extendedResourceName")
        if resource in found and _created(classes[name]) <= _created(classes[found[resource]]):
            continue
        if resource:
            found[resource] = name
        found[f"{CLASS_PREFIX}{name}"] = name
    return found


def _created(manifest: Manifest) -> str:
    return manifest["metadata"].get("creationTimestamp") or ""


class ExtendedResources:
    """The extended resources of a pod of which classes serve some, and the claim for these. Each node needs
    its own variant of the claim: what a node has in its allocatable resources is left to NodeResourcesFit."""

    def __init__(self, pod: Pod, classes: Mapping[str, str], leftover: Manifest | None) -> None:
        """``leftover``: the claim that an earlier attempt made."""
        self.pod = pod
        requested = [name for name, n in pod.own_requests.items() if n and is_served_name(name)]
        self.served = {name: classes[name] for name in sorted(requested) if name in classes}
        self.others = [name for name in requested if name not in classes]
        self.claim = parse_claim(leftover or self._manifest(()))
        self.is_leftover = leftover is not None
        self._variants: dict[int, tuple[ResourceClaim, list[Manifest]]] = {}

    def _manifest(self, requests: Sequence[Manifest]) -> Manifest:
        owner = {"apiVersion": "v1", "kind": "Pod", "name": self.pod.name, "uid": self.pod.uid}
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {
                "namespace": self.pod.namespace,
                "name": SPECIAL_NAME,
                "uid": f"{self.pod.uid}/{SPECIAL_NAME}",
                "generateName": f"{self.pod.name}-extended-resources-",
                "annotations": {ANNOTATION: "true"},
                "ownerReferences": [{**owner, "controller": True}],
            },
            "spec": {"devices": {"requests": [*requests]} if requests else {}},
        }

    def needed(self, cluster: Cluster, rows: Rows) -> Ints:
        """Return int64[n], a set of bits for each node: the served resources that the node does not have in
        its allocatable resources."""
        found: Ints = np.zeros(len(rows), dtype=np.int64)
        for bit, name in enumerate(self.served):
            found |= (cluster.allocatable.column(name)[rows] == 0).astype(np.int64) << bit
        return found

    def lacking(self, cluster: Cluster, rows: Rows) -> Bools:
        """Return bool[n]: the nodes without one of the resources that no class serves."""
        found: Bools = np.zeros(len(rows), dtype=np.bool_)
        for name in self.others:
            absent = [name not in cluster.node(row).allocatable for row in rows.tolist()]
            found |= np.array(absent, dtype=np.bool_)
        return found

    def claim_for(self, needed: int) -> ResourceClaim:
        """Return the claim for the nodes that need these of the served resources."""
        return self._variant(needed)[0]

    def mappings_for(self, needed: int) -> list[Manifest]:
        """Return the requests of the claim for each container (ContainerExtendedResourceRequest)."""
        return self._variant(needed)[1]

    def _variant(self, needed: int) -> tuple[ResourceClaim, list[Manifest]]:
        if needed not in self._variants:
            requests: list[Manifest] = []
            mappings: list[Manifest] = []
            for bit, (resource, device_class) in enumerate(self.served.items()):
                if needed >> bit & 1:
                    made = _Requests(self.pod, resource, device_class)
                    requests += made.requests
                    mappings += made.mappings
            requests.sort(key=lambda request: request["name"])
            self._variants[needed] = parse_claim(self._manifest(requests)), mappings
        return self._variants[needed]


def extended_resources(cluster: Cluster, pod: Pod) -> ExtendedResources | None:
    """Return the extended resources of a pod; None if no class serves one of them."""
    classes = serving_classes(cluster)
    if not classes or not any(
        n and name in classes and is_served_name(name) for name, n in pod.own_requests.items()
    ):
        return None
    claims = cluster.objects(RESOURCE_CLAIMS).values()
    leftover = next((claim for claim in claims if is_extended_claim_of(claim, pod)), None)
    return ExtendedResources(pod, classes, leftover)


def is_extended_claim_of(claim: Manifest, pod: Pod) -> bool:
    """Return whether the scheduler made a claim for the extended resources of the pod
    (findExtendedResourceClaim)."""
    if annotations_of(claim).get(ANNOTATION) != "true":
        return False
    owner = controller_of(claim)
    return owner is not None and (owner["name"], owner["uid"]) == (pod.name, pod.uid)


class _Requests:
    """The requests for one resource (createRequestsAndMappings): one for each container that runs on, and the
    largest one of the init containers that end, which use the devices of the containers after them first."""

    def __init__(self, pod: Pod, resource: str, device_class: str) -> None:
        self._resource, self._class = resource, device_class
        init = pod.spec.get("initContainers") or []
        self._containers = [*init, *(pod.spec.get("containers") or ())]
        ending = {i for i, each in enumerate(init) if each.get("restartPolicy") != "Always"}
        running: dict[int, Manifest] = {}
        self.mappings: list[Manifest] = []
        for i in range(len(self._containers)):
            if i not in ending:
                made = self._request(i, [], self.mappings)
                if made is not None:
                    running[i] = made
        largest: Manifest | None = None
        of_ending: list[Manifest] = []
        names: set[str] = set()
        for i in sorted(ending):
            made = self._request(i, [each for j, each in running.items() if j >= i], of_ending)
            if made is not None:
                names.add(made["name"])
                if largest is None or largest["exactly"]["count"] < made["exactly"]["count"]:
                    largest = made
        if largest is not None:
            for mapping in of_ending:
                if mapping["requestName"] in names:
                    mapping["requestName"] = largest["name"]
        self.mappings += of_ending
        self.requests = [*([largest] if largest is not None else ()), *running.values()]

    def _request(self, i: int, reusable: list[Manifest], mappings: list[Manifest]) -> Manifest | None:
        """Return the request of a container for what ``reusable`` requests do not give it; None if nothing
        is left. Adds to ``mappings`` which requests the container uses."""
        container = self._containers[i]
        requested = (container.get("resources") or {}).get("requests") or {}
        left = _whole(requested.get(self._resource))
        if not left:
            return None
        for each in reusable:
            left -= each["exactly"]["count"]
            mappings.append(self._mapping(container, each["name"]))
            if left <= 0:
                return None
        name = f"container-{i}-request-{sorted(requested).index(self._resource)}"
        mappings.append(self._mapping(container, name))
        exactly = {"deviceClassName": self._class, "allocationMode": "ExactCount", "count": left}
        return {"name": name, "exactly": exactly}

    def _mapping(self, container: Manifest, request: str) -> Manifest:
        return {
            "containerName": container["name"],
            "resourceName": self._resource,
            "requestName": request,
        }


def _whole(quantity: object) -> int:
    """Return a whole amount; 0 for none and for one that is not whole (AsInt64)."""
    if not isinstance(quantity, str | int):
        return 0
    try:
        whole, rest = divmod(parse_quantity(quantity), NANO)
    except QuantityError:
        return 0
    return 0 if rest else whole
