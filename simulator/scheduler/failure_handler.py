"""What becomes of a pod whose attempt failed (handleSchedulingFailure and handleBindingCycleError in
pkg/scheduler/schedule_one.go, v1.34), as far as cache and queue are concerned."""

from enum import Enum

from simulator.objects.pod import Pod
from simulator.queueing import cluster_event
from simulator.queueing.queued_pod import QueuedPod
from simulator.queueing.scheduling_queue import SchedulingQueue
from simulator.scheduler.cache import Cache


class Requeued(Enum):
    """What was done with the pod."""

    YES = "requeued"
    GONE = "the pod is gone"
    ASSIGNED = "the pod has a node"
    PRESENT = "a pod of this name is in the queue already"


def scheduling_failed(
    cache: Cache, queue: SchedulingQueue, info: QueuedPod, nominated_node: str | None
) -> Requeued:
    """Send the pod back into the queue, in its newest version, unless it is gone or has a node by now.

    The plugin sets of ``info`` say who turned the pod away; they are empty for an error. ``nominated_node``
    None leaves the nomination to the pod's status, "" clears it."""
    current = cache.pods.get(info.pod.key)
    if current is None or current.node_name:
        queue.done(info.pod.uid)
        requeued = Requeued.ASSIGNED if current else Requeued.GONE
    else:
        uid, info.pod = info.pod.uid, current
        requeued = Requeued.YES if queue.add_unschedulable_if_not_present(info, uid) else Requeued.PRESENT
    # The scheduler's next cycle must know of the nomination before the pod's own status tells of it.
    queue.nominator.add(info.pod, nominated_node)
    return requeued


def binding_failed(
    cache: Cache, queue: SchedulingQueue, info: QueuedPod, assumed: Pod, *, rejected: bool
) -> Requeued:
    """The pod no longer counts on its node, which may help others.

    A pod that was rejected (on Permit) must not see the event of its own leaving: it is requeued first. After
    an error in binding everybody sees it."""
    cache.forget(assumed)
    event = cluster_event.ASSIGNED_POD_DELETE
    if not rejected:
        queue.move_all(event, assumed, None)
    requeued = scheduling_failed(cache, queue, info, nominated_node="")
    if rejected:
        queue.move_all(event, assumed, None, lambda pod: pod.uid != assumed.uid)
    return requeued
