"""NodeAffinity (pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go, v1.34)."""

from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.objects.node import Node
from simulator.objects.node_selector import matches, node_selector
from simulator.objects.pod import Pod
from simulator.queueing.cluster_event import NODE, ActionType
from simulator.queueing.hint import Registered, register


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    required = ((args.added_affinity if args else None) or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    added = node_selector(required)

    def node_changed(pod: Pod, old: Node | None, new: Node) -> bool:
        """Queue when the node has come to match: it did not before, or was not there."""
        if added is not None and not matches(added, new.name, new.labels):
            return False
        return selected(pod, new) and (old is None or not selected(pod, old))

    return [register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL, node_changed)]


def selected(pod: Pod, node: Node) -> bool:
    """GetRequiredNodeAffinity(pod).Match(node)."""
    if pod.node_selector is not None and not pod.node_selector.matches(node.labels):
        return False
    return pod.node_affinity is None or matches(pod.node_affinity, node.name, node.labels)
