"""TaintToleration (pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go, v1.34)."""

from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.plugins.taint_toleration import tolerated
from simulator.queueing.cluster_event import NODE, POD, ActionType
from simulator.queueing.hint import Registered, register

EFFECTS_THAT_KEEP_OUT = ("NoSchedule", "NoExecute")


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    return [
        register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT, node_changed),
        register(POD, ActionType.UPDATE_POD_TOLERATION, toleration_changed),
    ]


def toleration_changed(pod: Pod, old: Pod, new: Pod) -> bool:
    """A pod that this plugin turned away can only have got what it lacked."""
    return new.uid == pod.uid


def node_changed(pod: Pod, old: Node | None, new: Node) -> bool:
    return (old is None or not welcome(pod, old)) and welcome(pod, new)


def welcome(pod: Pod, node: Node) -> bool:
    return all(
        tolerated(taint, pod.tolerations) for taint in node.taints if taint.effect in EFFECTS_THAT_KEEP_OUT
    )
