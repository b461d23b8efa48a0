"""ActiveQueue: activeQ and the pods in flight (pkg/scheduler/backend/queue/active_queue.go)."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from simulator.api import Micros
from simulator.framework.cluster_event import ClusterEvent
from simulator.objects.pod import Pod
from simulator.queueing.backoff_queue import BackoffQueue
from simulator.queueing.keyed_heap import KeyedHeap
from simulator.queueing.queued_pod import QueuedPod

SortKey = Callable[[Pod, Micros], tuple[Any, ...]]
"""The sort key of activeQ from a pod and its timestamp, the smallest first. See QueueSortPlugin.sort_key."""


def priority_sort(pod: Pod, timestamp: Micros) -> tuple[Any, ...]:
    """Return the sort key of the PrioritySort plugin: higher priority first, then the earlier timestamp."""
    return -pod.priority, timestamp


class InFlightEvent(NamedTuple):
    """A cluster event that happened while pods were in flight. ``old`` and ``new`` are the object before and
    after it (None = it was added or deleted)."""

    event: ClusterEvent
    old: Any
    new: Any


class ActiveQueue(KeyedHeap[QueuedPod]):
    """The pods that are ready for a scheduling attempt, and the pods in flight: those whose attempt has
    started and is not finished.

    An event that happens while a pod is in flight can make the pod schedulable after it was rejected. So
    events are kept as long as a pod is in flight that was popped before them. Pods and events are in one list
    (inFlightEvents upstream), in the order in which pods were popped and events happened."""

    def __init__(self, order: Callable[[QueuedPod], tuple[Any, ...]], backoff_queue: BackoffQueue) -> None:
        super().__init__(order)
        self._backoff_queue = backoff_queue
        self._in_flight_pods: dict[str, int] = {}
        """The key in ``_in_flight_events`` of each pod in flight, by uid."""
        self._in_flight_events: dict[int, Pod | InFlightEvent] = {}
        self._last_key = 0
        self.scheduling_cycle = 0
        """The number of pods that were popped."""

    def pop(self) -> QueuedPod | None:
        """Return the first pod of activeQ; if activeQ is empty, the first rejected pod of backoffQ, although
        its backoff is not completed (SchedulerPopFromBackoffQ). None if there is none; upstream waits."""
        info = super().pop() or self._backoff_queue.pop()
        if info is not None:
            self.take(info)
        return info

    def take(self, info: QueuedPod) -> None:
        """Begin an attempt of a pod that was taken out of the queue: it is in flight from now on."""
        info.attempts += 1
        info.backoff_expiration = None
        self._in_flight_pods[info.pod.uid] = self._append(info.pod)
        self.scheduling_cycle += 1
        # New sets are assigned, because callers may keep references to the old ones.
        info.unschedulable_plugins, info.pending_plugins, info.gating_plugin = set(), set(), ""

    def _append(self, entry: Pod | InFlightEvent) -> int:
        self._last_key += 1
        self._in_flight_events[self._last_key] = entry
        return self._last_key

    def is_in_flight(self, uid: str) -> bool:
        return uid in self._in_flight_pods

    def in_flight_pods(self) -> Iterator[Pod]:
        return (entry for entry in self._in_flight_events.values() if isinstance(entry, Pod))

    def add_events_if_pod_in_flight(self, pod: Pod, old: Pod | None, events: Sequence[ClusterEvent]) -> bool:
        """Add events of this pod if it is in flight (addEventsIfPodInFlight). Return whether it is."""
        if pod.uid not in self._in_flight_pods:
            return False
        for event in events:
            self._append(InFlightEvent(event, old, pod))
        return True

    def add_event_if_any_in_flight(self, event: ClusterEvent, old: Any, new: Any) -> None:
        """Add an event if any pod is in flight (addEventIfAnyInFlight)."""
        if self._in_flight_pods:
            self._append(InFlightEvent(event, old, new))

    def cluster_events_for_pod(self, pod: Pod) -> list[InFlightEvent]:
        """Return the events since the pod was popped (clusterEventsForPod). Raises KeyError if the pod is not
        in flight."""
        pod_key = self._in_flight_pods[pod.uid]
        position = next(i for i, key in enumerate(self._in_flight_events) if key == pod_key)
        later = islice(self._in_flight_events.values(), position + 1, None)
        return [entry for entry in later if isinstance(entry, InFlightEvent)]

    def done(self, uid: str) -> None:
        """Remove a pod from the pods in flight, and the events that only this pod needed."""
        pod_key = self._in_flight_pods.pop(uid, None)
        if pod_key is None:
            return
        del self._in_flight_events[pod_key]
        while self._in_flight_events:
            key, entry = next(iter(self._in_flight_events.items()))
            if isinstance(entry, Pod):
                break
            del self._in_flight_events[key]
