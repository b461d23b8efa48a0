"""NodeResourcesFit (pkg/scheduler/framework/plugins/noderesources/fit.go, v1.34)."""

from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.queueing.cluster_event import NODE, POD, ActionType
from simulator.queueing.hint import Registered, left_room, register


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    return [
        register(POD, ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN, pod_changed),
        register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE, node_changed),
    ]


def node_changed(pod: Pod, old: Node | None, new: Node) -> bool:
    """Queue when the pod would fit the node if it were empty, and the node offers more of what it wants.

    Resources that the plugin is told to ignore are not ignored here; upstream's hint does not know them.
    """
    requests = {name: amount for name, amount in pod.own_requests.items() if amount}
    if new.allowed_pods < 1 or any(amount > new.allocatable.get(r, 0) for r, amount in requests.items()):
        return False
    if old is None or new.allowed_pods > old.allowed_pods:
        return True
    return any(new.allocatable.get(name, 0) > old.allocatable.get(name, 0) for name in requests)


def pod_changed(pod: Pod, old: Pod, new: Pod | None) -> bool:
    """Queue when a pod that took room is gone, when this pod itself asks for less, or when a running pod gave
    back some of what this one wants."""
    if new is None:
        return left_room(old)
    if new.uid == pod.uid:
        return True
    if not new.node_name:
        return False
    return any(
        old.requests.get(name, 0) > new.requests.get(name, 0)
        for name, amount in pod.own_requests.items()
        if amount
    )
