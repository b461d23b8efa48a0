"""The handling of a pod whose attempt failed, in cache and queue, and the reports about it: an Event, and a
condition in its status (handleSchedulingFailure, handleBindingCycleError and updatePod in
pkg/scheduler/schedule_one.go)."""

from enum import Enum
from typing import Final

from simulator.api import Manifest
from simulator.client.event_recorder import FAILED_SCHEDULING, Note
from simulator.framework import cluster_event
from simulator.objects.conditions import with_condition
from simulator.objects.pod import Pod
from simulator.objects.status import with_status
from simulator.queueing.queued_pod import QueuedPod
from simulator.queueing.scheduling_queue import SchedulingQueue
from simulator.scheduler.cache import Cache
from simulator.scheduler.scheduler import Scheduler


class Requeued(Enum):
    """Whether the pod was requeued, or why not."""

    YES = "requeued"
    GONE = "the pod is gone"
    ASSIGNED = "the pod has a node"
    PRESENT = "a pod of this name is in the queue already"


def scheduling_failed(
    cache: Cache, queue: SchedulingQueue, info: QueuedPod, nominated_node: str | None
) -> Requeued:
    """Requeue the pod in its newest version, unless it is deleted or has a node by now.

    The plugin sets of ``info`` name the plugins that rejected the pod; they are empty for an error. With
    ``nominated_node`` None the nomination is that of the pod's status; "" clears it."""
    current = cache.pods.get(info.pod.key)
    if current is None or current.node_name:
        queue.done(info.pod.uid)
        requeued = Requeued.ASSIGNED if current else Requeued.GONE
    else:
        uid, info.pod = info.pod.uid, current
        requeued = Requeued.YES if queue.add_unschedulable_if_not_present(info, uid) else Requeued.PRESENT
    # The next cycle must see the nomination before the watch shows it in the pod's status.
    queue.nominator.add(info.pod, nominated_node)
    return requeued


def binding_failed(
    cache: Cache, queue: SchedulingQueue, info: QueuedPod, assumed: Pod, *, rejected: bool
) -> Requeued:
    """Forget the assumed pod, requeue it, and requeue the pods that may be helped by its leaving the node.

    A pod that was rejected (on Permit) is requeued before that event, so that the event does not help the pod
    itself. After an error in binding the event comes first, and may."""
    cache.forget(assumed)
    event = cluster_event.ASSIGNED_POD_DELETE
    if not rejected:
        queue.move_all(event, assumed, None)
    requeued = scheduling_failed(cache, queue, info, nominated_node="")
    if rejected:
        queue.move_all(event, assumed, None, lambda pod: pod.uid != assumed.uid)
    return requeued


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
