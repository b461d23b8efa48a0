"""BackoffQueue: backoffQ and errorBackoffQ (pkg/scheduler/backend/queue/backoff_queue.go)."""

from collections.abc import Callable, Iterator
from typing import Any

from simulator.api import SECOND, Micros
from simulator.queueing.keyed_heap import KeyedHeap
from simulator.queueing.queued_pod import QueuedPod

ORDERING_WINDOW = SECOND
"""Pods whose backoff expires in the same window have the order of activeQ
(backoffQOrderingWindowDuration)."""


class BackoffQueue:
    """Pods whose backoff is not completed: in ``rejected`` (podBackoffQ upstream) those that plugins
    rejected, in ``errors`` (podErrorBackoffQ) those whose attempt failed by an error.

    :meth:`pop` returns only rejected pods, as upstream.
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
        """Return the duration of the backoff: the initial one, doubled for each failure after the first, but
        at most the maximum (calculateBackoffDuration)."""
        if failures <= 0:
            return 0
        # The shift is limited, because the number of failures is not.
        return min(self._initial << min(failures - 1, 63), self._maximum)

    def expiration(self, info: QueuedPod) -> Micros:
        """Return the start of the ordering window in which the backoff expires; 0 if the pod never failed."""
        failures = info.consecutive_errors or info.unschedulable_count
        if failures == 0:
            return 0
        if info.backoff_expiration is None:
            info.backoff_expiration = _window(info.timestamp + self.duration(failures))
        return info.backoff_expiration

    def backing_off(self, info: QueuedPod) -> bool:
        """Whether the backoff is not completed (isPodBackingoff). It is completed when the window in which it
        expires has passed."""
        return self.expiration(info) >= _window(self._clock())

    def add(self, info: QueuedPod) -> None:
        """Add a pod to one of the two queues, and remove it from the other."""
        queue, other = (self.errors, self.rejected) if info.failed_by_error else (self.rejected, self.errors)
        other.remove(info.pod.key)
        queue.set(info.pod.key, info)

    def reorder(self, info: QueuedPod) -> None:
        """Update the position of a pod in its queue after ``info.pod`` was replaced by a new version."""
        queue = self.rejected if info.pod.key in self.rejected else self.errors
        queue.set(info.pod.key, info)

    def remove(self, key: str) -> QueuedPod | None:
        return self.rejected.remove(key) or self.errors.remove(key)

    def get(self, key: str) -> QueuedPod | None:
        return self.rejected.get(key) or self.errors.get(key)

    def pop(self) -> QueuedPod | None:
        return self.rejected.pop()

    def pop_completed(self) -> Iterator[QueuedPod]:
        """Remove and yield the pods whose backoff is completed (popAllBackoffCompleted)."""
        for queue in (self.rejected, self.errors):
            while (info := queue.peek()) is not None and not self.backing_off(info):
                queue.pop()
                yield info

    def next_completion(self) -> Micros | None:
        """Return the earliest time at which a backoff is completed, None if both queues are empty."""
        ends = [self.expiration(info) for queue in (self.rejected, self.errors) if (info := queue.peek())]
        return min(ends) + ORDERING_WINDOW if ends else None


def _window(t: Micros) -> Micros:
    """Return the start of the ordering window that contains ``t`` (alignToWindow)."""
    return t - t % ORDERING_WINDOW
