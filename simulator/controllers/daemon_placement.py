"""The nodes of a DaemonSet's pods: which accept one, and how a pod requires its node
(pkg/controller/daemon/daemon_controller.go, util/daemonset_util.go)."""

import copy
from collections.abc import Sequence

from simulator.api import Manifest
from simulator.objects import node_selector
from simulator.objects.node import Node
from simulator.objects.pod import Pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
"""The taints that all pods of DaemonSets tolerate."""
TOLERATED_ON_HOST_NETWORK = ("node.kubernetes.io/network-unavailable", "NoSchedule")


def add_daemon_tolerations(spec: Manifest) -> None:
    """Add the tolerations of daemon pods (AddOrUpdateDaemonPodTolerations)."""
    tolerated = [*TOLERATED, TOLERATED_ON_HOST_NETWORK] if spec.get("hostNetwork") else TOLERATED
    tolerations = spec.setdefault("tolerations", [])
    for key, effect in tolerated:
        tolerations.append({"key": key, "operator": "Exists", "effect": effect})


def target_node_name(pod: Manifest) -> str:
    """Return the node that the pod is bound to or requires; "" without one (GetTargetNodeName)."""
    name: str = pod["spec"].get("nodeName", "")
    if name:
        return name
    affinity = ((pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED) or {}
    for term in affinity.get("nodeSelectorTerms", ()):
        for field in term.get("matchFields", ()):
            if field["key"] == "metadata.name" and field["operator"] == "In":
                return str(field["values"][0])
    return ""


def with_target_node(affinity: Manifest, name: str) -> Manifest:
    """Return a copy of the affinity that requires one node (ReplaceDaemonSetPodNodeNameNodeAffinity)."""
    new = copy.deepcopy(affinity)
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    term = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    new.setdefault("nodeAffinity", {})[REQUIRED] = term
    return new


def accepts_daemon_pod(node: Node, daemon: Pod, effects: Sequence[str]) -> bool:
    """Whether the pod requires no other node, its node selector and affinity match the node, and it tolerates
    the node's taints with these effects (NodeShouldRunDaemonPod)."""
    if daemon.node_name not in ("", node.name):
        return False
    if daemon.node_selector is not None and not daemon.node_selector.matches(node.labels):
        return False
    affinity = daemon.node_affinity
    if affinity is not None and not node_selector.node_selector_matches(affinity, node.name, node.labels):
        return False
    return all(
        any(toleration.tolerates(taint.key, taint.value, taint.effect) for toleration in daemon.tolerations)
        for taint in node.taints
        if taint.effect in effects
    )
