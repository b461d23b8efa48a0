"""NodePorts (pkg/scheduler/framework/plugins/nodeports/node_ports.go, v1.34)."""

from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.cluster.host_ports import conflict
from simulator.objects.pod import Pod
from simulator.queueing.cluster_event import NODE, POD, ActionType
from simulator.queueing.hint import Registered, left_room, register


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    return [register(POD, ActionType.DELETE, pod_deleted), register(NODE, ActionType.ADD)]


def pod_deleted(pod: Pod, old: Pod, new: None) -> bool:
    """Queue when the pod that is gone held a port that this one wants."""
    return left_room(old) and any(
        conflict(wanted, held) for wanted in pod.host_ports for held in old.host_ports
    )
