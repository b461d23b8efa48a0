"""activeQ and the pods in flight (pkg/scheduler/backend/queue/active_queue.go, v1.34)."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from simulator.objects.pod import Pod
from simulator.queueing.backoff_queue import BackoffQueue
from simulator.queueing.cluster_event import ClusterEvent
from simulator.queueing.keyed_heap import KeyedHeap
from simulator.queueing.queued_pod import QueuedPod


class RecordedEvent(NamedTuple):
    """A cluster event with the objects before and after it (None where there is no before or after)."""

    event: ClusterEvent
    old: Any
    new: Any


class ActiveQueue(KeyedHeap[QueuedPod]):
    """Pods that are ready for an attempt, and those whose attempt is under way.

    What happens while a pod is in flight may be just what it lacks: such events are kept, in order, until no
    pod that was in flight at the time is any more. A pod's own mark in that order says which came after its
    pop."""

    def __init__(self, order: Callable[[QueuedPod], tuple[Any, ...]], backoff_queue: BackoffQueue) -> None:
        super().__init__(order)
        self._backoff_queue = backoff_queue
        self._in_flight: dict[str, int] = {}  # uid -> its mark in the log
        self._log: dict[int, Pod | RecordedEvent] = {}
        self._next = 0
        self.scheduling_cycle = 0
        """How many pods have been popped."""

    def pop(self) -> QueuedPod | None:
        """The next pod to try: from backoffQ, before its time, where activeQ is empty. None where nothing can
        be popped (upstream waits)."""
        info = super().pop() or self._backoff_queue.pop()
        if info is None:
            return None
        info.attempts += 1
        info.backoff_expiration = None
        self._in_flight[info.pod.uid] = self._append(info.pod)
        self.scheduling_cycle += 1
        # Sets of its own: the caller may have kept the old ones.
        info.unschedulable_plugins, info.pending_plugins, info.gating_plugin = set(), set(), ""
        return info

    def _append(self, entry: Pod | RecordedEvent) -> int:
        self._next += 1
        self._log[self._next] = entry
        return self._next

    def in_flight(self, uid: str) -> bool:
        return uid in self._in_flight

    def in_flight_pods(self) -> Iterator[Pod]:
        return (entry for entry in self._log.values() if isinstance(entry, Pod))

    def record_for(self, pod: Pod, old: Pod | None, events: Sequence[ClusterEvent]) -> bool:
        """Keep events that concern this pod if it is in flight; whether it is."""
        if pod.uid not in self._in_flight:
            return False
        for event in events:
            self._append(RecordedEvent(event, old, pod))
        return True

    def record(self, event: ClusterEvent, old: Any, new: Any) -> None:
        if self._in_flight:
            self._append(RecordedEvent(event, old, new))

    def events_since_pop(self, pod: Pod) -> list[RecordedEvent]:
        """Raises KeyError for a pod that is not in flight."""
        mark = self._in_flight[pod.uid]
        position = next(i for i, number in enumerate(self._log) if number == mark)
        later = islice(self._log.values(), position + 1, None)
        return [entry for entry in later if isinstance(entry, RecordedEvent)]

    def done(self, uid: str) -> None:
        """The pod is in flight no more. Events that nobody waits for any more are dropped."""
        mark = self._in_flight.pop(uid, None)
        if mark is None:
            return
        del self._log[mark]
        while self._log:
            number, entry = next(iter(self._log.items()))
            if isinstance(entry, Pod):
                break
            del self._log[number]
