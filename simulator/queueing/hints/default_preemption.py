"""DefaultPreemption (pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go, v1.34)."""

from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.objects.pod import Pod
from simulator.queueing.cluster_event import POD, ActionType
from simulator.queueing.hint import Registered, register


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    """Registered so that a preemptor, gated until its victims are told to go, hears of pods that are gone."""
    return [register(POD, ActionType.DELETE, never_by_itself)]


def never_by_itself(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Whether the room suffices is for the plugins to say that turned the pod away."""
    return False
