"""Pods that wait on Permit (pkg/scheduler/framework/runtime/waiting_pods_map.go)."""

from collections.abc import Iterator, Mapping

from simulator.framework.status import Status, error, unschedulable
from simulator.kernel.clock import Micros
from simulator.kernel.requests import Signal
from simulator.objects.pod import Pod


class WaitingPod:
    """A pod that has a node and waits until plugins allow its binding."""

    def __init__(
        self, pod: Pod, timeouts: Mapping[str, Micros], attempt: int, pods: "dict[str, WaitingPod]"
    ) -> None:
        self.pod = pod
        self.attempt = attempt
        self.ended = Signal()
        """Fired when the wait ends: with None if every plugin allowed the pod, or with the rejection."""
        self._pending = dict(timeouts)
        self._pods = pods

    @property
    def pending_plugins(self) -> list[str]:
        """The plugins that have not allowed the pod yet."""
        return list(self._pending)

    def next_timeout(self) -> tuple[str, Micros]:
        """Return the pending plugin that waits the shortest, and until when."""
        return min(self._pending.items(), key=lambda item: item[1])

    def allow(self, plugin: str) -> None:
        """Allow the pod for one plugin. The pod is bound after all plugins have allowed it. Nothing happens
        after the wait has ended."""
        if self.ended.fired:
            return
        self._pending.pop(plugin, None)
        if not self._pending:
            self._end(None)

    def reject(self, plugin: str, message: str) -> None:
        """Reject the pod for one plugin. Nothing happens after the wait has ended."""
        if not self.ended.fired:
            self._end(unschedulable(message)._replace(plugin=plugin))

    def preempt(self, message: str) -> None:
        """End the wait with an error, so that the pod is tried again after a backoff (since v1.36). Nothing
        happens after the wait has ended."""
        if not self.ended.fired:
            self._end(error(f"waiting on permit for pod: {message}"))

    def _end(self, status: Status | None) -> None:
        del self._pods[self.pod.uid]
        self.ended.fire(status)


class WaitingPods:
    """A profile's waiting pods, for plugins to look through, allow and reject."""

    def __init__(self) -> None:
        self._pods: dict[str, WaitingPod] = {}

    def __iter__(self) -> Iterator[WaitingPod]:
        """Yield the pods in the order in which they began to wait. The caller may allow or reject them
        meanwhile."""
        return iter(list(self._pods.values()))

    def get(self, uid: str) -> WaitingPod | None:
        return self._pods.get(uid)

    def add(self, pod: Pod, timeouts: Mapping[str, Micros], *, attempt: int) -> WaitingPod:
        """Add a pod that waits. ``timeouts``: for each plugin, by its name, the time until which it waits."""
        waiting = self._pods[pod.uid] = WaitingPod(pod, timeouts, attempt, self._pods)
        return waiting
