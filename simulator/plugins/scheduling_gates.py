"""SchedulingGates (pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go)."""

from simulator.framework.cluster_event import POD, ActionType
from simulator.framework.interface import EnqueueExtensions, PreEnqueuePlugin
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.status import Status, unresolvable
from simulator.objects.pod import Pod


class SchedulingGates(EnqueueExtensions, PreEnqueuePlugin):
    """Keeps a pod with scheduling gates out of activeQ."""

    name = "SchedulingGates"

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [register(POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED, gates_eliminated)]

    def pre_enqueue(self, pod: Pod) -> Status | None:
        if not pod.scheduling_gates:
            return None
        return unresolvable(f"waiting for scheduling gates: [{' '.join(pod.scheduling_gates)}]")


def gates_eliminated(pod: Pod, old: Pod, new: Pod) -> bool:
    """Queueing hint: queue if the updated pod is the rejected pod."""
    return new.uid == pod.uid
