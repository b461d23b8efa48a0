"""Fifo: the scheduling queue of v1.8, cache.FIFO in staging/src/k8s.io/client-go/tools/cache/fifo.go, as used
in plugin/pkg/scheduler/factory/factory.go."""

from typing import Any

from simulator.framework import cluster_event
from simulator.framework.cluster_event import ClusterEvent
from simulator.objects.pod import Pod
from simulator.queueing.hint_map import QueueingStrategy
from simulator.queueing.older_queue import OlderQueue
from simulator.queueing.queued_pod import QueuedPod


class Fifo(OlderQueue):
    """A queue without priorities. A pod is added at the end, both when it is new and when it is requeued.

    In the trace this queue is activeQ, and pods that wait for their backoff are in backoffQ. Cluster events
    move no pods. Only an update of the pod itself ends its backoff; this includes updates of its status by
    the scheduler. Nominated pods are not considered, so other pods can take the place of a victim."""

    def _order(self, info: QueuedPod) -> tuple[Any, ...]:
        return (info.place or info.sequence,)

    def update(self, old: Pod | None, new: Pod) -> list[ClusterEvent]:
        """Update: a pod in the queue keeps its position; a pod in backoff moves to the end of the queue."""
        info = self.backoff_q.get(new.key) or self.unschedulable_pods.get(new.key)
        if info is None:
            return super().update(old, new)
        info.pod = new
        self._move_to_active_q(info, cluster_event.UNSCHEDULED_POD_UPDATE.label)
        return cluster_event.pod_scheduling_properties_change(new, old)

    def move_all(self, event: ClusterEvent, old: Any, new: Any, pre_check: Any = None) -> None:
        """Do nothing: no pod waits for an event."""

    def nominated_pods(self) -> dict[str, list[Pod]]:
        return {}

    def nominated_pods_for_node(self, node_name: str) -> list[Pod]:
        return []

    def _determine_strategy_for_in_flight_pod(self, info: QueuedPod) -> tuple[QueueingStrategy, str, str]:
        if self._updated_in_flight(info):
            return QueueingStrategy.IMMEDIATELY, cluster_event.UNSCHEDULED_POD_UPDATE.label, ""
        return QueueingStrategy.AFTER_BACKOFF, cluster_event.SCHEDULE_ATTEMPT_FAILURE, ""

    def _move_to_active_q(
        self, info: QueuedPod, event: str, plugin: str = "", *, from_backoff_q: bool = False
    ) -> bool:
        if info.pod.key not in self.active_q:
            info.place = next(self._sequence)
        return super()._move_to_active_q(info, event, plugin, from_backoff_q=from_backoff_q)
