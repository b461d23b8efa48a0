"""SchedulingQueue (PriorityQueue in pkg/scheduler/backend/queue/scheduling_queue.go).

A pending pod is in exactly one of these places:

* activeQ: ready for a scheduling attempt
* backoffQ: moves to activeQ when its backoff is completed
* unschedulablePods: waits for an event that can make it schedulable, or is gated by a PreEnqueue plugin
* in flight: its scheduling attempt has started and is not finished

Feature gates have their defaults: SchedulerQueueingHints and SchedulerPopFromBackoffQ are enabled.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, NamedTuple

from msgspec import UNSET

from simulator.api import SECOND, Micros
from simulator.framework import cluster_event
from simulator.framework.cluster_event import ClusterEvent
from simulator.objects.pod import Pod
from simulator.queueing.active_queue import ActiveQueue, SortKey, priority_sort
from simulator.queueing.backoff_queue import BackoffQueue
from simulator.queueing.hint_map import HintMap, QueueingStrategy, QueueProfile
from simulator.queueing.nominator import Nominator
from simulator.queueing.queued_pod import QueuedPod
from simulator.trace import IN_FLIGHT, Lane, QueuePlace

MAX_IN_UNSCHEDULABLE_PODS: Micros = 300 * SECOND
"""Time in unschedulablePods after which a pod is moved (DefaultPodMaxInUnschedulablePodsDuration)."""
LEFTOVER_PERIOD: Micros = 30 * SECOND
"""The interval at which the queue looks for pods that have been unschedulable for too long."""


class Move(NamedTuple):
    """A pod moved from one place to another; None = it was not in the queue before, or is not after it.
    ``plugin`` is the plugin whose queueing hint caused the move, "" if there is none."""

    info: QueuedPod
    source: Lane | None
    target: Lane | None
    event: str
    plugin: str


class SchedulingQueue:
    """The scheduling queue. ``clock`` returns the simulated time. ``profiles`` are by schedulerName.
    ``lister`` returns the current version of a pod by ``namespace/name``. ``moved`` is called for every move.
    Durations are in microseconds.
    """

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
        with_pod_groups: bool = False,
    ) -> None:
        """``with_pod_groups``: pods of a PodGroup are tried together (GenericWorkload)."""
        self._clock = clock
        self.hints = HintMap(profiles)
        self._moved = moved
        self._max_in_unschedulable_pods = max_in_unschedulable_pods
        self._with_pod_groups = with_pod_groups
        self._sequence = count()
        self._activations = count(1)
        self._sort_key = sort_key
        self.backoff_q = BackoffQueue(clock, self._order, initial_backoff, max_backoff)
        self.active_q = ActiveQueue(self._order, self.backoff_q)
        self.unschedulable_pods: dict[str, QueuedPod] = {}
        self.examined = 0
        """The number of pods that cluster events made look at so far."""
        self.nominator = Nominator(lister)
        self._kept: Mapping[str, QueuePlace] = {}
        self._returning: dict[str, Pod] = {}

    def _order(self, info: QueuedPod) -> tuple[Any, ...]:
        return *self._sort_key(info.pod, info.timestamp), info.sequence

    # Changes of pods

    def add(self, pod: Pod) -> None:
        """Add: add a new pod to activeQ, or to unschedulablePods if it is gated. One that has a place in the
        queue of an earlier scheduler (:meth:`keep`) waits for :meth:`restore`."""
        kept = self._kept.get(pod.key)
        if kept is not None and kept.uid == pod.uid:
            self._returning[pod.key] = pod
            return
        self._add_new(pod, cluster_event.UNSCHEDULED_POD_ADD.label)

    def _add_new(self, pod: Pod, event: str) -> None:
        self._move_to_active_q(QueuedPod(pod, self._clock(), next(self._sequence)), event)

    def update(self, old: Pod | None, new: Pod) -> list[ClusterEvent]:
        """Update: replace a pod without a node by its new version. Return the cluster events of the change.

        In activeQ and backoffQ only the pod is replaced. A pod in unschedulablePods is requeued if a queueing
        hint returns Queue for one of the events. For a pod in flight the events are stored, and the pod is
        not replaced: if the attempt fails, the scheduler reads its current version."""
        events = cluster_event.pod_scheduling_properties_change(new, old)
        if new.key in self._returning:
            self._returning[new.key] = new
            return events
        if self.active_q.add_events_if_pod_in_flight(new, old, events):
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
            strategy, plugin = self.hints.is_pod_worth_requeuing(info, event, old, new)
            if self._requeue(info, strategy, event.label, plugin):
                break
        return events

    def delete(self, pod: Pod) -> None:
        """Delete: remove a pod that was deleted or has a node now."""
        self.nominator.delete(pod)
        self._returning.pop(pod.key, None)
        info = self.active_q.remove(pod.key) or self.backoff_q.remove(pod.key)
        info = info or self.unschedulable_pods.pop(pod.key, None)
        if info is not None:
            self._report(info, None, cluster_event.UNSCHEDULED_POD_DELETE.label)

    def keep(self, places: Iterable[QueuePlace]) -> None:
        """Let the pods of the first list have the places that they had in the queue of an earlier scheduler.
        Upstream has no such thing: a scheduler that starts tries all pods."""
        self._kept = {place.pod: place for place in places}

    def restore(self) -> list[QueuePlace]:
        """Put the pods to their kept places, as the first list has ended. Return these places."""
        found = [(pod, self._kept[pod.key]) for pod in self._returning.values()]
        self._kept, self._returning = {}, {}
        for pod, place in sorted(found, key=lambda each: each[1].sequence):
            self._restore(pod, place)
        return [place for _, place in found]

    def _restore(self, pod: Pod, place: QueuePlace) -> None:
        """Add a pod at a kept place. An attempt that was under way begins again, and counts once."""
        attempts = max(0, place.attempts - (place.lane in IN_FLIGHT))
        pending = set(place.pending_plugins or ())
        info = QueuedPod(
            pod,
            place.queued,
            next(self._sequence),
            attempts=attempts,
            unschedulable_count=attempts if place.unschedulable_count is UNSET else place.unschedulable_count,
            consecutive_errors=place.consecutive_errors or 0,
            backoff_expiration=place.backoff_until,
            unschedulable_plugins={*place.plugins} - pending,
            pending_plugins=pending,
        )
        if attempts:
            info.first_active = next(self._activations)
        event = cluster_event.QUEUE_RESTORED
        self.nominator.add(pod)
        if place.lane == "unschedulable":
            self._keep_unschedulable(info, event, "")
        elif place.lane == "backoffQ":
            self._move_to_backoff_q(info, event, "")
        else:
            self._move_to_active_q(info, event)

    def pop(self) -> QueuedPod | None:
        """Pop: return the next pod, which is in flight until :meth:`done`; None if there is none."""
        from_backoff_q = not self.active_q
        info = self.active_q.pop()
        if info is not None:
            event = cluster_event.POP_FROM_BACKOFF_Q if from_backoff_q else "Pop"
            self._report(info, "inFlight", event)
        return info

    def pop_specific_pod(self, pod: Pod) -> QueuedPod | None:
        """PopSpecificPod: return this pod, wherever in the queue it is; it is in flight until :meth:`done`.
        None if it is not in the queue, or if a PreEnqueue plugin gates it now."""
        info = self.active_q.remove(pod.key) or self.backoff_q.remove(pod.key)
        if info is None:
            info = self.unschedulable_pods.get(pod.key)
            if info is None or self.hints.run_pre_enqueue(info):
                return None
            del self.unschedulable_pods[pod.key]
        if not info.first_active:
            info.first_active = next(self._activations)
        self.active_q.take(info)
        self._report(info, "inFlight", cluster_event.POP_SPECIFIC_POD)
        return info

    def done(self, uid: str) -> None:
        """Done: the pod is no longer in flight. Called when its attempt is finished, or when from now on only
        an error can make it fail."""
        self.active_q.done(uid)

    def add_unschedulable_if_not_present(self, info: QueuedPod, uid: str) -> bool:
        """Add a pod whose attempt failed (AddUnschedulableIfNotPresent). ``info.unschedulable_plugins`` and
        ``info.pending_plugins`` are the plugins that rejected it; both are empty after an error.

        ``uid`` is that of the popped pod. ``info.pod`` can have another uid if the pod was deleted and
        another one of the same name was created. Return False if a pod of this name is already in the
        queue."""
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
        strategy, event, plugin = self._determine_strategy_for_in_flight_pod(info)
        self._requeue(info, strategy, event, plugin)
        self.done(uid)
        return True

    def activate(self, pods: Iterable[Pod]) -> None:
        """Activate: move pods from unschedulablePods and backoffQ to activeQ, without backoff and queueing
        hints. The PreEnqueue plugins run for pods from unschedulablePods.

        A pod in flight is requeued if its attempt fails. Pods that are not in the queue are ignored.
        """
        for pod in pods:
            info = self.unschedulable_pods.get(pod.key)
            from_backoff_q = info is None
            if info is None:
                info = self.backoff_q.remove(pod.key)
            if info is None or not self._move_to_active_q(
                info, cluster_event.FORCE_ACTIVATE.label, from_backoff_q=from_backoff_q
            ):
                self.active_q.add_events_if_pod_in_flight(pod, None, [cluster_event.FORCE_ACTIVATE])

    def get(self, key: str) -> QueuedPod | None:
        return self.active_q.get(key) or self.backoff_q.get(key) or self.unschedulable_pods.get(key)

    def pending(self) -> list[QueuedPod]:
        """Return all pods in the queue, without those in flight: activeQ in the order in which it pops, then
        backoffQ and unschedulablePods (PendingPods)."""
        return [
            *self.active_q,
            *self.backoff_q.rejected,
            *self.backoff_q.errors,
            *self.unschedulable_pods.values(),
        ]

    def nominated_pods(self) -> dict[str, list[Pod]]:
        """Return the nominated pods by node name."""
        return {node: self.nominated_pods_for_node(node) for node in self.nominator.nodes()}

    def nominated_pods_for_node(self, node_name: str) -> list[Pod]:
        """Return the nominated pods of a node, in the version that the queue has (NominatedPodsForNode)."""
        pods = self.nominator.pods_for_node(node_name)
        return [info.pod if (info := self.get(pod.key)) else pod for pod in pods]

    # Cluster events

    def move_all(
        self, event: ClusterEvent, old: Any, new: Any, pre_check: Callable[[Pod], bool] | None = None
    ) -> None:
        """Requeue the pods in unschedulablePods for which ``pre_check`` returns True and a queueing hint
        returns Queue for the event (MoveAllToActiveOrBackoffQueue)."""
        infos = [i for i in self.unschedulable_pods.values() if pre_check is None or pre_check(i.pod)]
        self._move(infos, event, old, new)

    def _move(self, infos: list[QueuedPod], event: ClusterEvent, old: Any, new: Any) -> None:
        if not event.wildcard and not self.hints.interested_in(event):
            return
        self.examined += len(infos)
        label = event.label
        for info in infos:
            if info.gated and not self.hints.gating_plugin_registered(info, event):
                continue
            strategy, plugin = self.hints.is_pod_worth_requeuing(info, event, old, new)
            self._requeue(info, strategy, label, plugin)
        self.active_q.add_event_if_any_in_flight(event, old, new)

    # Pod groups that are tried without pause

    def members_in_backoff(self) -> dict[str, list[QueuedPod]]:
        """Return the pods in backoffQ that are in a group, by the key of the group."""
        found: dict[str, list[QueuedPod]] = {}
        for queue in (self.backoff_q.rejected, self.backoff_q.errors):
            for info in queue.items():
                if info.pod.pod_group:
                    found.setdefault(info.pod.pod_group, []).append(info)
        return found

    def failed_again(self, info: QueuedPod, times: int, at: Micros) -> None:
        """Note that a pod of a group in backoffQ was tried some more times, with the same outcome, last at
        this time."""
        info.attempts += times
        if info.failed_by_error:
            info.consecutive_errors += times
        else:
            info.unschedulable_count += times
        info.timestamp, info.sequence = at, next(self._sequence)
        info.backoff_expiration = None
        self.backoff_q.reorder(info)

    # Periodic functions

    def flush_backoff_completed(self) -> None:
        """Move pods whose backoff is completed to activeQ (flushBackoffQCompleted). It is called every
        second."""
        for info in self.backoff_q.pop_completed():
            self._move_to_active_q(info, cluster_event.BACKOFF_COMPLETE, from_backoff_q=True)

    def complete_backoffs(self) -> None:
        """Move all pods of backoffQ to activeQ, whenever their backoff is completed."""
        for queue in (self.backoff_q.rejected, self.backoff_q.errors):
            while (info := queue.pop()) is not None:
                self._move_to_active_q(info, cluster_event.BACKOFF_COMPLETE, from_backoff_q=True)

    def flush_unschedulable_leftover(self) -> None:
        """Requeue the pods that were in unschedulablePods for longer than ``max_in_unschedulable_pods``
        (flushUnschedulablePodsLeftover). It is called at multiples of LEFTOVER_PERIOD."""
        oldest = self._clock() - self._max_in_unschedulable_pods
        leftover = [info for info in self.unschedulable_pods.values() if info.timestamp < oldest]
        if leftover:
            self._move(leftover, cluster_event.UNSCHEDULABLE_TIMEOUT, None, None)

    def next_leftover(self) -> Micros | None:
        """Return the earliest time at which :meth:`flush_unschedulable_leftover` moves a pod that is not
        gated, None if there is no such pod."""
        times = (self.leftover_time(info) for info in self.unschedulable_pods.values() if not info.gated)
        return min((time for time in times if time is not None), default=None)

    def leftover_time(self, info: QueuedPod) -> Micros | None:
        """Return the time at which :meth:`flush_unschedulable_leftover` moves a pod that stays in
        unschedulablePods until then; None if the queue has no such flush."""
        oldest = info.timestamp + self._max_in_unschedulable_pods + 1
        return -(-oldest // LEFTOVER_PERIOD) * LEFTOVER_PERIOD

    # Hints

    def _determine_strategy_for_in_flight_pod(self, info: QueuedPod) -> tuple[QueueingStrategy, str, str]:
        """Return how to requeue a pod whose attempt failed, from the events that happened during the attempt;
        with the event and the plugin that determine it (determineSchedulingHintForInFlightPod)."""
        result = QueueingStrategy.SKIP, cluster_event.SCHEDULE_ATTEMPT_FAILURE, ""
        of_group = self._with_pod_groups and info.pod.pod_group  # all are tried again, whatever happened
        if info.failed_by_error or of_group or not self.active_q.is_in_flight(info.pod.uid):
            return QueueingStrategy.AFTER_BACKOFF, cluster_event.SCHEDULE_ATTEMPT_FAILURE, ""
        for event, old, new in self.active_q.cluster_events_for_pod(info.pod):
            strategy, plugin = self.hints.is_pod_worth_requeuing(info, event, old, new)
            if strategy is QueueingStrategy.IMMEDIATELY:
                return strategy, event.label, plugin
            if strategy is QueueingStrategy.AFTER_BACKOFF and result[0] is QueueingStrategy.SKIP:
                result = strategy, event.label, plugin
        return result

    # Moves

    def _requeue(self, info: QueuedPod, strategy: QueueingStrategy, event: str, plugin: str) -> bool:
        """Return whether the pod is in activeQ or backoffQ now (requeuePodWithQueueingStrategy)."""
        if strategy is QueueingStrategy.SKIP:
            self._keep_unschedulable(info, event, plugin)
            return False
        if strategy is QueueingStrategy.AFTER_BACKOFF and self.backoff_q.backing_off(info):
            return self._move_to_backoff_q(info, event, plugin)
        return self._move_to_active_q(info, event, plugin)

    def _move_to_active_q(
        self, info: QueuedPod, event: str, plugin: str = "", *, from_backoff_q: bool = False
    ) -> bool:
        """Run the PreEnqueue plugins unless the pod was in backoffQ; move the pod to activeQ, or to
        unschedulablePods if it is gated (moveToActiveQ). Return whether it is in activeQ."""
        if not from_backoff_q and self.hints.run_pre_enqueue(info):
            self._keep_unschedulable(info, event, plugin)
            return False
        key = info.pod.key
        if not info.first_active:
            info.first_active = next(self._activations)
        self.active_q.set(key, info)
        self.unschedulable_pods.pop(key, None)
        self.backoff_q.remove(key)
        self._report(info, "activeQ", event, plugin)
        if event in (cluster_event.UNSCHEDULED_POD_ADD.label, cluster_event.UNSCHEDULED_POD_UPDATE.label):
            self.nominator.add(info.pod)
        return True

    def _move_to_backoff_q(self, info: QueuedPod, event: str, plugin: str) -> bool:
        """Run the PreEnqueue plugins; move the pod to backoffQ, or to unschedulablePods if it is gated
        (moveToBackoffQ). Return whether it is in backoffQ."""
        if self.hints.run_pre_enqueue(info):
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
