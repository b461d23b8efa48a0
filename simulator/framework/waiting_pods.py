"""Pods that wait on Permit (pkg/scheduler/framework/runtime/waiting_pods_map.go, v1.34)."""

from collections.abc import Callable, Iterable, Iterator

from simulator.api import Micros
from simulator.framework.interface import Status, unschedulable
from simulator.objects.pod import Pod

Ended = Callable[[Status | None], None]
"""Told how a pod's wait ended: None = every plugin allowed it."""


class WaitingPod:
    """A pod that was given a node and waits for plugins to allow its binding."""

    def __init__(
        self, pod: Pod, plugins: Iterable[str], ended: Ended, *, attempt: int, until: Micros
    ) -> None:
        self.pod = pod
        self.attempt = attempt
        self.until = until
        """When the first plugin's patience is over."""
        self._pending = dict.fromkeys(plugins)
        self._ended: Ended | None = ended

    @property
    def pending_plugins(self) -> list[str]:
        """Those that have not allowed it yet."""
        return list(self._pending)

    def allow(self, plugin: str) -> None:
        """The last plugin's word lets the pod go on. Nothing happens where the wait is over."""
        self._pending.pop(plugin, None)
        if not self._pending:
            self._end(None)

    def reject(self, plugin: str, message: str) -> None:
        """One plugin's word suffices to send the pod back. Nothing happens where the wait is over."""
        self._end(unschedulable(message)._replace(plugin=plugin))

    def _end(self, status: Status | None) -> None:
        ended, self._ended = self._ended, None
        if ended is not None:
            ended(status)


class WaitingPods:
    """A profile's waiting pods; for plugins to look through, allow and reject."""

    def __init__(self) -> None:
        self._pods: dict[str, WaitingPod] = {}

    def __iter__(self) -> Iterator[WaitingPod]:
        """In the order in which they began to wait; it is safe to allow or reject them meanwhile."""
        return iter(list(self._pods.values()))

    def get(self, uid: str) -> WaitingPod | None:
        return self._pods.get(uid)

    def add(
        self, pod: Pod, plugins: Iterable[str], ended: Ended, *, attempt: int, until: Micros
    ) -> WaitingPod:
        def leave(status: Status | None) -> None:
            del self._pods[pod.uid]
            ended(status)

        waiting = self._pods[pod.uid] = WaitingPod(pod, plugins, leave, attempt=attempt, until=until)
        return waiting
