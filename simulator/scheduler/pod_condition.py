"""What the scheduler says of a pod that it could not place: in an event, and in the pod's own status
(handleSchedulingFailure and updatePod in pkg/scheduler/schedule_one.go, v1.34)."""

from typing import TYPE_CHECKING

from simulator.api import Change, Manifest
from simulator.objects.pod import Pod
from simulator.objects.pod_status import with_condition, with_status
from simulator.scheduler.event_recorder import FAILED_SCHEDULING

if TYPE_CHECKING:
    from simulator.scheduler.scheduler import Scheduler

UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"


def patch_status(
    scheduler: "Scheduler", pod: Pod, reason: str, message: str, nominated_node: str | None
) -> None:
    """One patch for the PodScheduled condition and the nomination (None leaves it, "" clears it), and with it
    the event, which is there even where the status says the same already.

    That the pod is gone does not matter.
    """
    world = scheduler.world

    def patched(manifest: Manifest) -> Manifest:
        new = with_condition(manifest, world.now, "PodScheduled", "False", reason=reason, message=message)
        current = (manifest.get("status") or {}).get("nominatedNodeName", "")
        if nominated_node is not None and nominated_node != current:
            new = with_status(new, nominatedNodeName=nominated_node or None)
        return new

    def recorded() -> list[Change]:
        return world.events.event(FAILED_SCHEDULING, message, pod)

    world.update("pods", pod.key, pod.uid, patched, record=recorded)
    scheduler.lanes.touched(pod.key)
