"""The reports about a pod that could not be scheduled: an Event, and a condition in the pod's status
(handleSchedulingFailure and updatePod in pkg/scheduler/schedule_one.go, v1.34)."""

from typing import Final

from simulator.api import Manifest
from simulator.client.event_recorder import FAILED_SCHEDULING, Note
from simulator.objects.conditions import with_condition
from simulator.objects.pod import Pod
from simulator.objects.status import with_status
from simulator.scheduler.scheduler import Scheduler

UNSCHEDULABLE: Final = "Unschedulable"
SCHEDULER_ERROR: Final = "SchedulerError"


def patch_status(
    scheduler: Scheduler, pod: Pod, reason: str, message: str, nominated_node: str | None
) -> None:
    """Patch the PodScheduled condition and the nomination (None leaves it, "" clears it), and write the
    Event, which is written even if the status stays the same. Nothing happens if the pod is gone."""
    world = scheduler.world

    def patched(manifest: Manifest) -> Manifest:
        new = with_condition(manifest, world.now, "PodScheduled", "False", reason=reason, message=message)
        current = (manifest.get("status") or {}).get("nominatedNodeName", "")
        if nominated_node is not None and nominated_node != current:
            new = with_status(new, nominatedNodeName=nominated_node or None)
        return new

    world.update("pods", pod.key, pod.uid, patched, note=Note(FAILED_SCHEDULING, message, pod))
    scheduler.lanes.entry_changed(pod.key)
