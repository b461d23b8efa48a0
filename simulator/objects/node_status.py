"""What a kubelet reports of its node: the conditions, and what it sets when the node joins (initialNode in
pkg/kubelet/kubelet_node_status.go)."""

from simulator.api import Manifest, Micros
from simulator.objects.addresses import AddressPool, internal_addresses
from simulator.objects.conditions import (
    NodeCondition,
    condition,
    condition_status,
    replace_condition,
    transition_time,
)
from simulator.objects.metadata import annotations_of
from simulator.objects.status import status_of, with_status
from simulator.objects.timestamps import timestamp
from simulator.versions.features import Features

FAILED = "schedviz/failed"
"""The annotation that makes a node fail ("true") and work again (any other value, or none)."""
FAILED_SINCE = "schedviz/failed-since"
"""The annotation that the kubelet sets beside it: the time from which it posts no status."""
PRESSURE = "schedviz/pressure"
"""The annotation that names what a node is short of: ``memory``, ``disk``, ``pid``, or several with
commas."""


def is_broken(node: Manifest) -> bool:
    return annotations_of(node).get(FAILED) == "true"


def pressures(node: Manifest) -> set[str]:
    """Return the resources that its annotation names as short."""
    return {word.strip() for word in annotations_of(node).get(PRESSURE, "").split(",")}


def is_unreachable(node: Manifest) -> bool:
    """Whether the node's kubelet does nothing: its pods neither start nor end."""
    return is_broken(node) or condition_status(node, "Ready") == "Unknown"


def with_node_condition(
    node: Manifest, now: Micros, kind: str, status: str, *, reason: str, message: str
) -> Manifest:
    """Return the node with this condition; the node itself if it has one of this status and reason
    already."""
    old = condition(node, kind)
    if old is not None and (old["status"], old.get("reason")) == (status, reason):
        return node
    new = NodeCondition(
        type=kind,
        status=status,
        reason=reason,
        message=message,
        last_heartbeat_time=timestamp(now),
        last_transition_time=transition_time(old, status, now),
    )
    return replace_condition(node, new)


NODE_PODS = "110"
"""The kubelet's default for maxPods."""
_DECLARED = (
    "InPlacePodLevelResourcesVerticalScaling",
    "RestartAllContainersOnContainerExits",
    "UserNamespacesHostNetworkSupport",
)
"""The feature gates that a kubelet declares where they are on (component-helpers/nodedeclaredfeatures)."""


def with_internal_address(node: Manifest, pool: AddressPool) -> Manifest:
    """Return the node with an InternalIP, and its name as its Hostname, as a kubelet without a cloud provider
    reports them (NodeAddress in pkg/kubelet/nodestatus/setters.go); the node itself if it has an InternalIP,
    or no address is free."""
    if internal_addresses(node):
        return node
    address, given = pool.free(), status_of(node).get("addresses") or ()
    if address is None:
        return node
    addresses = [{"type": "InternalIP", "address": address}, *given]
    if all(each.get("type") != "Hostname" for each in given):
        addresses.append({"type": "Hostname", "address": node["metadata"].get("name", "")})
    return with_status(node, addresses=addresses)


def joined_node(node: Manifest, now: str, features: Features) -> Manifest:
    """Return the node as its kubelet completes it: with the labels, the condition Ready, its version, the
    features that it declares and its system, and in capacity and allocatable what the other one has. ``now``
    is RFC 3339."""
    metadata, status = node["metadata"], node.get("status", {})
    labels = {
        "kubernetes.io/hostname": metadata.get("name", ""),
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
    }
    labels |= metadata.get("labels", {})
    capacity, allocatable = status.get("capacity", {}), status.get("allocatable", {})
    info = {
        "kubeletVersion": features.version.git_version,
        "operatingSystem": labels["kubernetes.io/os"],
        "architecture": labels["kubernetes.io/arch"],
    }
    given = status.get("nodeInfo", {})
    joined = {
        **status,
        "capacity": {"pods": NODE_PODS} | allocatable | capacity,
        "allocatable": {"pods": NODE_PODS} | capacity | allocatable,
        "nodeInfo": {**given, **{field: given.get(field) or value for field, value in info.items()}},
    }
    declared = [gate for gate in _DECLARED if features.enabled(gate)]
    # Another kubelet has said what it declares.
    if declared and features.enabled("NodeDeclaredFeatures") and not given.get("kubeletVersion"):
        joined.setdefault("declaredFeatures", declared)
    if not condition(node, "Ready"):
        ready = {
            "type": "Ready",
            "status": "True",
            "reason": "KubeletReady",
            "message": "kubelet is posting ready status",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        joined["conditions"] = [*status.get("conditions", ()), ready]
    return {**node, "metadata": {**metadata, "labels": labels}, "status": joined}
