"""pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go, v1.34."""

from simulator.framework.interface import PreEnqueuePlugin, Status, unresolvable
from simulator.objects.pod import Pod


class SchedulingGates(PreEnqueuePlugin):
    """A pod with scheduling gates is not even queued."""

    name = "SchedulingGates"

    def pre_enqueue(self, pod: Pod) -> Status | None:
        if not pod.scheduling_gates:
            return None
        return unresolvable(f"waiting for scheduling gates: [{' '.join(pod.scheduling_gates)}]")
