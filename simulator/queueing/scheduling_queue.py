"""The scheduling queue (PriorityQueue, pkg/scheduler/backend/queue/scheduling_queue.go, v1.34).

A pending pod is in one place at a time: activeQ (ready), backoffQ (to be tried again when its backoff is
over), among the unschedulable pods (waiting for an event that may help it; the gated ones, which PreEnqueue
keeps out, are there too), or in flight (popped, its attempt under way).

Feature gates are at their defaults: SchedulerQueueingHints and SchedulerPopFromBackoffQ are on.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, NamedTuple

from simulator.api import SECOND, Micros
from simulator.objects.pod import Pod
from simulator.queueing import cluster_event
from simulator.queueing.active_queue import ActiveQueue
from simulator.queueing.backoff_queue import BackoffQueue
from simulator.queueing.cluster_event import ClusterEvent
from simulator.queueing.hint_map import HintMap, QueueProfile, Strategy
from simulator.queueing.nominator import Nominator
from simulator.queueing.queued_pod import QueuedPod
from simulator.trace import Lane

MAX_IN_UNSCHEDULABLE_PODS: Micros = 300 * SECOND
"""How long a pod may wait for an event before it is tried again all the same."""

SortKey = Callable[[Pod, Micros], tuple[Any, ...]]
"""What the QueueSort plugin orders pods by, smallest first, given the pod and its timestamp in the queue."""


def priority_sort(pod: Pod, timestamp: Micros) -> tuple[Any, ...]:
    """Higher priority first, then the earlier timestamp."""
    return -pod.priority, timestamp


class Move(NamedTuple):
    """A pod went from one place to another; "" is outside of the queue. ``plugin``: whose hint said so."""

    info: QueuedPod
    source: Lane | None
    target: Lane | None
    event: str
    plugin: str


class SchedulingQueue:
    """``profiles`` by schedulerName; ``lister`` finds a pod's current version by ``namespace/name``;
    ``moved`` is told of every move; ``clock`` gives the simulated time. Durations in microseconds."""

    def __init__(
        self,
        clock: Callable[[], Micros],
        profiles: Mapping[str, QueueProfile],
        lister: Callable[[str], Pod | None],
        *,
        sort_key: SortKey = priority_sort,
        moved: Callable[[Move], None] = lambda move: None,
        initial_backoff: Micros = SECOND,
        max_backoff: Micros = 10 * SECOND,
        max_in_unschedulable_pods: Micros = MAX_IN_UNSCHEDULABLE_PODS,
    ) -> None:
        self._clock = clock
        self.hints = HintMap(profiles)
        self._moved = moved
        self._max_in_unschedulable_pods = max_in_unschedulable_pods
        self._sequence = count()
        self._sort_key = sort_key
        self.backoff_q = BackoffQueue(clock, self._order, initial_backoff, max_backoff)
        self.active_q = ActiveQueue(self._order, self.backoff_q)
        self.unschedulable_pods: dict[str, QueuedPod] = {}
        self.nominator = Nominator(lister)

    def _order(self, info: QueuedPod) -> tuple[Any, ...]:
        return *self._sort_key(info.pod, info.timestamp), info.sequence

    # What pods do

    def add(self, pod: Pod) -> None:
        """A new pod, which is in no queue yet."""
        self._add_new(pod, cluster_event.UNSCHEDULED_POD_ADD.label)

    def _add_new(self, pod: Pod, event: str) -> None:
        self._move_to_active_q(QueuedPod(pod, self._clock(), next(self._sequence)), event)

    def update(self, old: Pod | None, new: Pod) -> list[ClusterEvent]:
        """A new version of a pod that has no node; the events that its change means.

        In activeQ and backoffQ it takes the old one's place. An unschedulable pod may be worth another
        attempt now. For one in flight the events are kept: should the attempt fail, the newest version is
        read anyway."""
        events = cluster_event.pod_scheduling_properties_change(new, old)
        if self.active_q.record_for(new, old, events):
            return events
        if (
            old is not None
            and (info := self.active_q.get(old.key) or self.backoff_q.get(old.key)) is not None
        ):
            info.pod = new
            if old.key in self.active_q:
                self.active_q.set(new.key, info)
            else:
                self.backoff_q.reorder(info)
            self.nominator.update(old, new)
            return events
        info = self.unschedulable_pods.get(new.key)
        if info is None:
            self._add_new(new, cluster_event.UNSCHEDULED_POD_UPDATE.label)
            return events
        info.pod = new
        self.nominator.update(old or new, new)
        for event in events:
            strategy, plugin = self.hints.worth_requeuing(info, event, old, new)
            if self._requeue(info, strategy, event.label, plugin):
                break
        return events

    def delete(self, pod: Pod) -> None:
        """The pod is gone, or has a node now."""
        self.nominator.delete(pod)
        info = self.active_q.remove(pod.key) or self.backoff_q.remove(pod.key)
        info = info or self.unschedulable_pods.pop(pod.key, None)
        if info is not None:
            self._report(info, None, cluster_event.UNSCHEDULED_POD_DELETE.label)

    def pop(self) -> QueuedPod | None:
        """The next pod to try, now in flight until :meth:`done`; None where there is none."""
        early = not self.active_q
        info = self.active_q.pop()
        if info is not None:
            self._report(info, "inFlight", cluster_event.POP_FROM_BACKOFF_Q if early else "Pop")
        return info

    def done(self, uid: str) -> None:
        """The attempt is over, or has passed the point after which only an error can send the pod back."""
        self.active_q.done(uid)

    def add_unschedulable_if_not_present(self, info: QueuedPod, uid: str) -> bool:
        """Take back a pod whose attempt failed: by plugins, named in its sets, or by an error (empty sets).

        ``uid`` is the one that was popped: the pod in ``info`` may be its successor by the same name. False
        where a pod of this name is here already."""
        if self.get(info.pod.key) is not None:
            self.done(uid)
            return False
        if info.failed_by_error:
            info.consecutive_errors += 1
        else:
            info.unschedulable_count += 1
            info.consecutive_errors = 0
        info.timestamp, info.sequence = self._clock(), next(self._sequence)
        info.backoff_expiration = None
        strategy, event, plugin = self._hint_for_in_flight_pod(info)
        self._requeue(info, strategy, event, plugin)
        self.done(uid)
        return True

    def activate(self, pods: Iterable[Pod]) -> None:
        """Move pods to activeQ without backoff and hints; PreEnqueue is asked again unless they were in
        backoffQ.

        One in flight is requeued when it comes back. Unknown pods are ignored.
        """
        for pod in pods:
            info = self.unschedulable_pods.get(pod.key)
            from_backoff_q = info is None
            if info is None:
                info = self.backoff_q.remove(pod.key)
            if info is None or not self._move_to_active_q(
                info, cluster_event.FORCE_ACTIVATE.label, from_backoff_q=from_backoff_q
            ):
                self.active_q.record_for(pod, None, [cluster_event.FORCE_ACTIVATE])

    def get(self, key: str) -> QueuedPod | None:
        return self.active_q.get(key) or self.backoff_q.get(key) or self.unschedulable_pods.get(key)

    def nominated_pods(self) -> dict[str, list[Pod]]:
        """Node name -> the pods nominated to it, each as it stands in the queue."""
        return {node: self.nominated_pods_for_node(node) for node in self.nominator.nodes()}

    def nominated_pods_for_node(self, node_name: str) -> list[Pod]:
        pods = self.nominator.pods_for_node(node_name)
        return [info.pod if (info := self.get(pod.key)) else pod for pod in pods]

    # What happens in the cluster

    def move_all(
        self, event: ClusterEvent, old: Any, new: Any, pre_check: Callable[[Pod], bool] | None = None
    ) -> None:
        """MoveAllToActiveOrBackoffQueue: give unschedulable pods that ``pre_check`` lets through a new
        chance, where a hint says that the event may help them."""
        infos = [i for i in self.unschedulable_pods.values() if pre_check is None or pre_check(i.pod)]
        self._move(infos, event, old, new)

    def _move(self, infos: list[QueuedPod], event: ClusterEvent, old: Any, new: Any) -> None:
        if not event.wildcard and not self.hints.interested_in(event):
            return
        for info in infos:
            if info.gated and not self.hints.interest_gating_plugin(info, event):
                continue
            strategy, plugin = self.hints.worth_requeuing(info, event, old, new)
            self._requeue(info, strategy, event.label, plugin)
        self.active_q.record(event, old, new)

    # What time does

    def flush_backoff_completed(self) -> None:
        """Once a second: pods whose backoff is over go to activeQ."""
        for info in self.backoff_q.pop_completed():
            self._move_to_active_q(info, cluster_event.BACKOFF_COMPLETE, from_backoff_q=True)

    def flush_unschedulable_leftover(self) -> None:
        """Every 30 seconds: pods that no event helped for long are tried again."""
        oldest = self._clock() - self._max_in_unschedulable_pods
        leftover = [info for info in self.unschedulable_pods.values() if info.timestamp < oldest]
        if leftover:
            self._move(leftover, cluster_event.UNSCHEDULABLE_TIMEOUT, None, None)

    def next_leftover(self) -> Micros | None:
        """When the next ungated pod will have waited too long; None where none waits."""
        waiting = [info.timestamp for info in self.unschedulable_pods.values() if not info.gated]
        return min(waiting) + self._max_in_unschedulable_pods + 1 if waiting else None

    # Hints

    def _hint_for_in_flight_pod(self, info: QueuedPod) -> tuple[Strategy, str, str]:
        """What happened while the pod was in flight may have helped it: the best that any of it gives, with
        the event and the plugin."""
        best = Strategy.SKIP, cluster_event.SCHEDULE_ATTEMPT_FAILURE, ""
        if info.failed_by_error or not self.active_q.in_flight(info.pod.uid):
            return Strategy.AFTER_BACKOFF, cluster_event.SCHEDULE_ATTEMPT_FAILURE, ""
        for event, old, new in self.active_q.events_since_pop(info.pod):
            strategy, plugin = self.hints.worth_requeuing(info, event, old, new)
            if strategy is Strategy.IMMEDIATELY:
                return strategy, event.label, plugin
            if strategy is Strategy.AFTER_BACKOFF and best[0] is Strategy.SKIP:
                best = strategy, event.label, plugin
        return best

    # Moves

    def _requeue(self, info: QueuedPod, strategy: Strategy, event: str, plugin: str) -> bool:
        """requeuePodWithQueueingStrategy: whether it came to activeQ or backoffQ."""
        if strategy is Strategy.SKIP:
            self._keep_unschedulable(info, event, plugin)
            return False
        if strategy is Strategy.AFTER_BACKOFF and self.backoff_q.backing_off(info):
            return self._move_to_backoff_q(info, event, plugin)
        return self._move_to_active_q(info, event, plugin)

    def _move_to_active_q(
        self, info: QueuedPod, event: str, plugin: str = "", *, from_backoff_q: bool = False
    ) -> bool:
        if not from_backoff_q and self.hints.gate(info):
            self._keep_unschedulable(info, event, plugin)
            return False
        key = info.pod.key
        self.active_q.set(key, info)
        self.unschedulable_pods.pop(key, None)
        self.backoff_q.remove(key)
        self._report(info, "activeQ", event, plugin)
        if event in (cluster_event.UNSCHEDULED_POD_ADD.label, cluster_event.UNSCHEDULED_POD_UPDATE.label):
            self.nominator.add(info.pod)
        return True

    def _move_to_backoff_q(self, info: QueuedPod, event: str, plugin: str) -> bool:
        if self.hints.gate(info):
            self._keep_unschedulable(info, event, plugin)
            return False
        self.unschedulable_pods.pop(info.pod.key, None)
        self.backoff_q.add(info)
        self._report(info, "backoffQ", event, plugin)
        return True

    def _keep_unschedulable(self, info: QueuedPod, event: str, plugin: str) -> None:
        key = info.pod.key
        if info.gated and (key in self.active_q or self.backoff_q.get(key) is not None):
            return
        self.unschedulable_pods[key] = info
        self._report(info, "gated" if info.gated else "unschedulable", event, plugin)

    def _report(self, info: QueuedPod, target: Lane | None, event: str, plugin: str = "") -> None:
        if info.lane != target:
            source, info.lane = info.lane, target
            self._moved(Move(info, source, target, event, plugin))
