"""backoffQ and the error backoff queue (pkg/scheduler/backend/queue/backoff_queue.go, v1.34)."""

from collections.abc import Callable, Iterator
from typing import Any

from simulator.api import SECOND, Micros
from simulator.queueing.keyed_heap import KeyedHeap
from simulator.queueing.queued_pod import QueuedPod

ORDERING_WINDOW = SECOND
"""Pods whose backoff ends within the same window are ordered by priority, as in activeQ."""


class BackoffQueue:
    """Pods that wait out their backoff: rejected ones, and apart from them those that failed by an error.

    Only the former may be popped before their time, when there is nothing else to do.
    """

    def __init__(
        self,
        clock: Callable[[], Micros],
        order: Callable[[QueuedPod], tuple[Any, ...]],
        initial: Micros,
        maximum: Micros,
    ) -> None:
        self._clock = clock
        self._active_order = order
        self._initial = initial
        self._maximum = maximum
        self.rejected: KeyedHeap[QueuedPod] = KeyedHeap(self._order)
        self.errors: KeyedHeap[QueuedPod] = KeyedHeap(self._order)

    def _order(self, info: QueuedPod) -> tuple[Any, ...]:
        return self.expiration(info), *self._active_order(info)

    def duration(self, failures: int) -> Micros:
        """The initial backoff, doubled with every failure after the first, up to the maximum."""
        if failures <= 0:
            return 0
        # No shift beyond what reaches the maximum from a microsecond: failures have no bound.
        return min(self._initial << min(failures - 1, 63), self._maximum)

    def expiration(self, info: QueuedPod) -> Micros:
        """The second in which its backoff ends; 0 for a pod that never failed."""
        failures = info.consecutive_errors or info.unschedulable_count
        if failures == 0:
            return 0
        if info.backoff_expiration is None:
            info.backoff_expiration = _window(info.timestamp + self.duration(failures))
        return info.backoff_expiration

    def backing_off(self, info: QueuedPod) -> bool:
        """Still so throughout the second in which the backoff ends."""
        return self.expiration(info) >= _window(self._clock())

    def add(self, info: QueuedPod) -> None:
        """In one of the two queues, and in that only."""
        queue, other = (self.errors, self.rejected) if info.failed_by_error else (self.rejected, self.errors)
        other.remove(info.pod.key)
        queue.set(info.pod.key, info)

    def reorder(self, info: QueuedPod) -> None:
        """Its pod was replaced by a newer version, whose priority may differ."""
        queue = self.rejected if info.pod.key in self.rejected else self.errors
        queue.set(info.pod.key, info)

    def remove(self, key: str) -> QueuedPod | None:
        return self.rejected.remove(key) or self.errors.remove(key)

    def get(self, key: str) -> QueuedPod | None:
        return self.rejected.get(key) or self.errors.get(key)

    def pop(self) -> QueuedPod | None:
        return self.rejected.pop()

    def pop_completed(self) -> Iterator[QueuedPod]:
        for queue in (self.rejected, self.errors):
            while (info := queue.peek()) is not None and not self.backing_off(info):
                queue.pop()
                yield info

    def next_completion(self) -> Micros | None:
        """When the flush will next find a pod whose backoff is over; None where no pod backs off."""
        ends = [self.expiration(info) for queue in (self.rejected, self.errors) if (info := queue.peek())]
        return min(ends) + ORDERING_WINDOW if ends else None


def _window(t: Micros) -> Micros:
    return t - t % ORDERING_WINDOW
