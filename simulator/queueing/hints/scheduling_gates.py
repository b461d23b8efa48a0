"""SchedulingGates (pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go, v1.34)."""

from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.objects.pod import Pod
from simulator.queueing.cluster_event import POD, ActionType
from simulator.queueing.hint import Registered, register


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    return [register(POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED, gates_eliminated)]


def gates_eliminated(pod: Pod, old: Pod, new: Pod) -> bool:
    return new.uid == pod.uid
