"""PodBackoff: the backoff of the older queues (plugin/pkg/scheduler/util/backoff_utils.go, v1.8)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from simulator.api import SECOND, Micros
from simulator.queueing.backoff_queue import BackoffQueue
from simulator.queueing.queued_pod import QueuedPod

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
