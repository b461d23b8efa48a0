"""The scheduling queues of older versions, for comparison, and the table by which a queue is selected."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from simulator.api import SECOND, Manifest, Micros
from simulator.framework import cluster_event
from simulator.framework.cluster_event import (
    ASSIGNED_POD,
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    ActionType,
    ClusterEvent,
)
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.status import Status
from simulator.objects.pod import Pod
from simulator.queueing.active_queue import ActiveQueue
from simulator.queueing.backoff_queue import BackoffQueue
from simulator.queueing.hint_map import HintMap, QueueingStrategy, QueueProfile, RunPreEnqueue
from simulator.queueing.queue_version import QueueVersion
from simulator.queueing.queued_pod import QueuedPod
from simulator.queueing.scheduling_queue import SchedulingQueue

INITIAL: Micros = 1 * SECOND
MAXIMUM: Micros = 60 * SECOND


@dataclass(slots=True)
class _Entry:
    """The backoff of a pod. ``duration`` is that of the next backoff, ``last_update`` the time of the last
    failure, ``until`` the end of the current backoff."""

    duration: Micros
    last_update: Micros
    until: Micros


class PodBackoff(BackoffQueue):
    """The pods whose attempt failed and whose backoff is not completed.

    In v1.8, a goroutine per failed pod waited for the backoff and then added the pod to the queue. The
    backoffs belong to the namespace and name of a pod. Each backoff is twice as long as the one before, at
    most 60 s. It starts again with 1 s for a pod that has not failed for 60 s. If a pod fails again before
    its backoff ends, the end remains the same. :meth:`pop` returns no pod."""

    def __init__(self, clock: Callable[[], Micros], order: Callable[[QueuedPod], tuple[Any, ...]]) -> None:
        super().__init__(clock, order, INITIAL, MAXIMUM)
        self._entries: dict[str, _Entry] = {}

    def expiration(self, info: QueuedPod) -> Micros:
        """Return the end of the backoff, which is not aligned to windows. The first call after a failure
        starts the backoff."""
        if info.backoff_expiration is None:
            info.backoff_expiration = self._start_backoff(info.pod.key)
        return info.backoff_expiration

    def _start_backoff(self, key: str) -> Micros:
        """Return the end of the backoff of a pod that fails now."""
        now = self._clock()
        self._entries = {k: e for k, e in self._entries.items() if now - e.last_update <= MAXIMUM}
        entry = self._entries.setdefault(key, _Entry(INITIAL, now, 0))
        entry.last_update = now
        if entry.until <= now:
            entry.until = now + entry.duration
            entry.duration = min(2 * entry.duration, MAXIMUM)
        return entry.until

    def backing_off(self, info: QueuedPod) -> bool:
        return self.expiration(info) > self._clock()

    def add(self, info: QueuedPod) -> None:
        self.errors.set(info.pod.key, info)

    def next_completion(self) -> Micros | None:
        info = self.errors.peek()
        return None if info is None else self.expiration(info)


SCHEDULING_GATES = "SchedulingGates"


class OlderQueue(SchedulingQueue):
    """The SchedulingQueue without queueing hints, without cluster events for pods in flight, without
    flush_unschedulable_leftover, and with PodBackoff.

    It differs from the real queues in two points. It gates pods with scheduling gates, although these
    versions had no scheduling gates. And a pod that is updated while it is in flight is not added to the
    queue before its attempt is finished; the real queues added it immediately."""

    registered: Mapping[str, list[ClusterEventWithHint]] = {}
    """The events that move pods. The events that plugins register have no effect."""

    def __init__(
        self,
        clock: Callable[[], Micros],
        profiles: Mapping[str, QueueProfile],
        lister: Callable[[str], Pod | None],
        **options: Any,
    ) -> None:
        """See :class:`SchedulingQueue`. The backoff durations in ``options`` have no effect."""
        super().__init__(clock, profiles, lister, **options)
        self._sequence = count(1)
        self.backoff_q = PodBackoff(clock, self._order)
        self.active_q = ActiveQueue(self._order, self.backoff_q)
        self.hints = HintMap(
            {
                name: QueueProfile(self.registered, _scheduling_gates_only(profile.pre_enqueue))
                for name, profile in profiles.items()
            }
        )

    def _updated_in_flight(self, info: QueuedPod) -> bool:
        """Whether the pod was updated since it was popped."""
        uid = info.pod.uid
        return self.active_q.is_in_flight(uid) and any(
            event.new.uid == uid for event in self.active_q.cluster_events_for_pod(info.pod)
        )

    def flush_unschedulable_leftover(self) -> None:
        """Do nothing: these versions did not move pods after a time."""

    def leftover_time(self, info: QueuedPod) -> Micros | None:
        return None


def _scheduling_gates_only(pre_enqueue: RunPreEnqueue) -> RunPreEnqueue:
    """Return a function that runs the PreEnqueue plugins and ignores all of them except SchedulingGates."""

    def run(pod: Pod, first: str) -> Status | None:
        status = pre_enqueue(pod, SCHEDULING_GATES)
        return status if status is not None and status.plugin == SCHEDULING_GATES else None

    return run


class Fifo(OlderQueue):
    """A queue without priorities. A pod is added at the end, both when it is new and when it is requeued.

    In the trace this queue is activeQ, and pods that wait for their backoff are in backoffQ. Cluster events
    move no pods. Only an update of the pod itself ends its backoff; this includes updates of its status by
    the scheduler. Nominated pods are not considered, so other pods can take the place of a victim."""

    def _order(self, info: QueuedPod) -> tuple[Any, ...]:
        return (info.place or info.sequence,)

    def update(self, old: Pod | None, new: Pod) -> list[ClusterEvent]:
        """Update: a pod in the queue keeps its position; a pod in backoff moves to the end of the queue."""
        info = self.backoff_q.get(new.key) or self.unschedulable_pods.get(new.key)
        if info is None:
            return super().update(old, new)
        info.pod = new
        self._move_to_active_q(info, cluster_event.UNSCHEDULED_POD_UPDATE.label)
        return cluster_event.pod_scheduling_properties_change(new, old)

    def move_all(self, event: ClusterEvent, old: Any, new: Any, pre_check: Any = None) -> None:
        """Do nothing: no pod waits for an event."""

    def nominated_pods(self) -> dict[str, list[Pod]]:
        return {}

    def nominated_pods_for_node(self, node_name: str) -> list[Pod]:
        return []

    def _determine_strategy_for_in_flight_pod(self, info: QueuedPod) -> tuple[QueueingStrategy, str, str]:
        if self._updated_in_flight(info):
            return QueueingStrategy.IMMEDIATELY, cluster_event.UNSCHEDULED_POD_UPDATE.label, ""
        return QueueingStrategy.AFTER_BACKOFF, cluster_event.SCHEDULE_ATTEMPT_FAILURE, ""

    def _move_to_active_q(
        self, info: QueuedPod, event: str, plugin: str = "", *, from_backoff_q: bool = False
    ) -> bool:
        if info.pod.key not in self.active_q:
            info.place = next(self._sequence)
        return super()._move_to_active_q(info, event, plugin, from_backoff_q=from_backoff_q)


MOVE_REQUEST: Final = "ReceivedMoveRequest"


class PriorityQueueV1_10(OlderQueue):  # noqa: N801  # "1_10" is a version number
    """A heap (activeQ), unschedulable pods, nominated pods, and the flag ``received_move_request``.

    Each event of ``registered`` moves all unschedulable pods to activeQ, without backoff, and sets the flag,
    which the next pop clears. A pod that is rejected while the flag is set moves to activeQ.

    It differs from v1.10 in two points. Pods of equal priority are in the order of their timestamps, as since
    v1.11; v1.10 did not define their order. A pod whose attempt failed by an error waits for its backoff; in
    v1.10 it moved to activeQ immediately, which would be an endless loop if simulated attempts take no time.
    """

    registered = {
        "": [
            register(ASSIGNED_POD, ActionType.DELETE),
            register(NODE, ActionType.ADD | ActionType.UPDATE),
            register(PERSISTENT_VOLUME, ActionType.ADD | ActionType.UPDATE),
            register(PERSISTENT_VOLUME_CLAIM, ActionType.ADD | ActionType.UPDATE),
        ]
    }
    """The events that call MoveAllToActiveQueue in pkg/scheduler/factory/factory.go, except those of
    Services: only ServiceAffinity needed them, which does not exist any more."""

    received_move_request = False

    def pop(self) -> QueuedPod | None:
        """Pop a pod, remove its nomination, and clear ``received_move_request``."""
        info = super().pop()
        if info is not None:
            self.received_move_request = False
            self.nominator.delete(info.pod)
        return info

    def update(self, old: Pod | None, new: Pod) -> list[ClusterEvent]:
        """Update: an unschedulable pod moves to activeQ if anything except its status changed."""
        info = self.unschedulable_pods.get(new.key)
        if info is None:
            return super().update(old, new)
        changed = _without_status(info.pod.manifest) != _without_status(new.manifest)
        info.pod = new
        self.nominator.update(old or new, new)
        if changed:
            self._move_to_active_q(info, cluster_event.UNSCHEDULED_POD_UPDATE.label)
        return cluster_event.pod_scheduling_properties_change(new, old)

    def move_all(
        self, event: ClusterEvent, old: Any, new: Any, pre_check: Callable[[Pod], bool] | None = None
    ) -> None:
        """Move pods to activeQ (MoveAllToActiveQueue). If a pod on a node was added or updated:
        AssignedPodAdded and AssignedPodUpdated, which move only pods with a required affinity term that
        matches this pod. All of them set ``received_move_request``. Events with a ``pre_check`` did not exist
        in v1.10."""
        if pre_check is not None:
            return
        infos = [*self.unschedulable_pods.values()]
        if event.resource == ASSIGNED_POD and event.action != ActionType.DELETE:
            infos = [i for i in infos if any(term.matches(new, {}) for term in i.pod.affinity.required)]
        elif not self.hints.interested_in(event):
            return
        for info in infos:
            self._move_to_active_q(info, event.label)
        self.received_move_request = True

    def _determine_strategy_for_in_flight_pod(self, info: QueuedPod) -> tuple[QueueingStrategy, str, str]:
        if info.failed_by_error:
            return QueueingStrategy.AFTER_BACKOFF, cluster_event.SCHEDULE_ATTEMPT_FAILURE, ""
        if self._updated_in_flight(info):
            return QueueingStrategy.IMMEDIATELY, cluster_event.UNSCHEDULED_POD_UPDATE.label, ""
        if self.received_move_request:
            return QueueingStrategy.IMMEDIATELY, MOVE_REQUEST, ""
        return QueueingStrategy.SKIP, cluster_event.SCHEDULE_ATTEMPT_FAILURE, ""


def _without_status(pod: Manifest) -> Manifest:
    """Return the parts of a pod whose change counts as an update (isPodUpdated)."""
    metadata = {k: v for k, v in pod["metadata"].items() if k not in ("resourceVersion", "generation")}
    return {**{k: v for k, v in pod.items() if k != "status"}, "metadata": metadata}


QUEUES: Final = {
    QueueVersion.KUBERNETES: SchedulingQueue,
    QueueVersion.V1_10: PriorityQueueV1_10,
    QueueVersion.FIFO: Fifo,
}
