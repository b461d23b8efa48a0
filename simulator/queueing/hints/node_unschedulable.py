"""NodeUnschedulable (pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go, v1.34)."""

from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.queueing.cluster_event import NODE, POD, ActionType
from simulator.queueing.hint import Registered, register

UNSCHEDULABLE_TAINT = ("node.kubernetes.io/unschedulable", "", "NoSchedule")


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    return [
        register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT, node_changed),
        register(POD, ActionType.UPDATE_POD_TOLERATION, toleration_changed),
    ]


def toleration_changed(pod: Pod, old: Pod, new: Pod) -> bool:
    return new.uid == pod.uid and any(t.tolerates(*UNSCHEDULABLE_TAINT) for t in new.tolerations)


def node_changed(pod: Pod, old: Node | None, new: Node) -> bool:
    return not new.unschedulable and (old is None or old.unschedulable)
