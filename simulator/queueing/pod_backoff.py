"""The backoff of the older queues (plugin/pkg/scheduler/util/backoff_utils.go, v1.8)."""

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
    duration: Micros
    used: Micros
    until: Micros


class PodBackoff(BackoffQueue):
    """Failed pods on their way back, which then slept outside of any queue; none can be popped early.

    By name, not by version of the pod: each wait is twice the one before, up to a minute, and begins anew
    for a pod that has not failed for a minute. A pod waits once at a time: one that fails again while its
    last wait is not over goes on with that."""

    def __init__(self, clock: Callable[[], Micros], order: Callable[[QueuedPod], tuple[Any, ...]]) -> None:
        super().__init__(clock, order, INITIAL, MAXIMUM)
        self._entries: dict[str, _Entry] = {}

    def expiration(self, info: QueuedPod) -> Micros:
        """To the microsecond: there were no windows yet. Asked first when the pod fails."""
        if info.backoff_expiration is None:
            info.backoff_expiration = self._wait(info.pod.key)
        return info.backoff_expiration

    def _wait(self, key: str) -> Micros:
        now = self._clock()
        self._entries = {name: e for name, e in self._entries.items() if now - e.used <= MAXIMUM}
        entry = self._entries.setdefault(key, _Entry(INITIAL, now, 0))
        entry.used = now
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
