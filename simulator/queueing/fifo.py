"""The queue of before 1.9: one line, first in, first out.

cache.FIFO (staging/src/k8s.io/client-go/tools/cache/fifo.go) as plugin/pkg/scheduler/factory/factory.go used
it, v1.8.
"""

from typing import Any

from simulator.objects.pod import Pod
from simulator.queueing import cluster_event
from simulator.queueing.cluster_event import ClusterEvent
from simulator.queueing.hint_map import Strategy
from simulator.queueing.older_queue import OlderQueue
from simulator.queueing.queued_pod import QueuedPod


class Fifo(OlderQueue):
    """Priority means nothing in it: every pod goes to the end of the line, whether it is new or comes back.
    The line is activeQ in the trace; pods that sleep before they come back are in backoffQ.

    No event brings a pod back the sooner but its own change, the scheduler's word in its status among them.
    Nobody looks after the room on a nominated node: whoever is ahead in the line takes it."""

    def _order(self, info: QueuedPod) -> tuple[Any, ...]:
        return (info.place or info.sequence,)

    def update(self, old: Pod | None, new: Pod) -> list[ClusterEvent]:
        """In the line it keeps its place; one that sleeps comes to the line's end at once."""
        info = self.backoff_q.get(new.key) or self.unschedulable_pods.get(new.key)
        if info is None:
            return super().update(old, new)
        info.pod = new
        self._move_to_active_q(info, cluster_event.UNSCHEDULED_POD_UPDATE.label)
        return cluster_event.pod_scheduling_properties_change(new, old)

    def move_all(self, event: ClusterEvent, old: Any, new: Any, pre_check: Any = None) -> None:
        """There is nothing to move: all pods are in the line, or will be."""

    def nominated_pods(self) -> dict[str, list[Pod]]:
        return {}

    def nominated_pods_for_node(self, node_name: str) -> list[Pod]:
        return []

    def _hint_for_in_flight_pod(self, info: QueuedPod) -> tuple[Strategy, str, str]:
        if self._updated_in_flight(info):
            return Strategy.IMMEDIATELY, cluster_event.UNSCHEDULED_POD_UPDATE.label, ""
        return Strategy.AFTER_BACKOFF, cluster_event.SCHEDULE_ATTEMPT_FAILURE, ""

    def _move_to_active_q(
        self, info: QueuedPod, event: str, plugin: str = "", *, from_backoff_q: bool = False
    ) -> bool:
        if info.pod.key not in self.active_q:
            info.place = next(self._sequence)
        return super()._move_to_active_q(info, event, plugin, from_backoff_q=from_backoff_q)
