"""PriorityQueueV1_10: the first version of PriorityQueue (pkg/scheduler/core/scheduling_queue.go, v1.10)."""

from collections.abc import Callable
from typing import Any, Final

from simulator.api import Manifest
from simulator.framework import cluster_event
from simulator.framework.cluster_event import (
    ASSIGNED_POD,
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    ActionType,
    ClusterEvent,
)
from simulator.framework.queueing_hint import register
from simulator.objects.pod import Pod
from simulator.queueing.hint_map import QueueingStrategy
from simulator.queueing.older_queue import OlderQueue
from simulator.queueing.queued_pod import QueuedPod

MOVE_REQUEST: Final = "ReceivedMoveRequest"


class PriorityQueueV1_10(OlderQueue):  # noqa: N801  # "1_10" is a version number
    """A heap (activeQ), unschedulable pods, nominated pods, and the flag ``received_move_request``.

    Each event of ``registered`` moves all unschedulable pods to activeQ, without backoff, and sets the flag,
    which the next pop clears. A pod that is rejected while the flag is set moves to activeQ.

    It differs from v1.10 in two points. Pods of equal priority are in the order of their timestamps, as since
    v1.11; v1.10 did not define their order. A pod whose attempt failed by an error waits for its backoff; in
    v1.10 it moved to activeQ immediately, which would be an endless loop if simulated attempts take no time.
    """

    registered = {
        "": [
            register(ASSIGNED_POD, ActionType.DELETE),
            register(NODE, ActionType.ADD | ActionType.UPDATE),
            register(PERSISTENT_VOLUME, ActionType.ADD | ActionType.UPDATE),
            register(PERSISTENT_VOLUME_CLAIM, ActionType.ADD | ActionType.UPDATE),
        ]
    }
    """The events that call MoveAllToActiveQueue in pkg/scheduler/factory/factory.go, except those of
    Services: only ServiceAffinity needed them, which does not exist any more."""

    received_move_request = False

    def pop(self) -> QueuedPod | None:
        """Pop a pod, remove its nomination, and clear ``received_move_request``."""
        info = super().pop()
        if info is not None:
            self.received_move_request = False
            self.nominator.delete(info.pod)
        return info

    def update(self, old: Pod | None, new: Pod) -> list[ClusterEvent]:
        """Update: an unschedulable pod moves to activeQ if anything except its status changed."""
        info = self.unschedulable_pods.get(new.key)
        if info is None:
            return super().update(old, new)
        changed = _without_status(info.pod.manifest) != _without_status(new.manifest)
        info.pod = new
        self.nominator.update(old or new, new)
        if changed:
            self._move_to_active_q(info, cluster_event.UNSCHEDULED_POD_UPDATE.label)
        return cluster_event.pod_scheduling_properties_change(new, old)

    def move_all(
        self, event: ClusterEvent, old: Any, new: Any, pre_check: Callable[[Pod], bool] | None = None
    ) -> None:
        """Move pods to activeQ (MoveAllToActiveQueue). If a pod on a node was added or updated:
        AssignedPodAdded and AssignedPodUpdated, which move only pods with a required affinity term that
        matches this pod. All of them set ``received_move_request``. Events with a ``pre_check`` did not exist
        in v1.10."""
        if pre_check is not None:
            return
        infos = [*self.unschedulable_pods.values()]
        if event.resource == ASSIGNED_POD and event.action != ActionType.DELETE:
            infos = [i for i in infos if any(term.matches(new, {}) for term in i.pod.affinity.required)]
        elif not self.hints.interested_in(event):
            return
        for info in infos:
            self._move_to_active_q(info, event.label)
        self.received_move_request = True

    def _determine_strategy_for_in_flight_pod(self, info: QueuedPod) -> tuple[QueueingStrategy, str, str]:
        if info.failed_by_error:
            return QueueingStrategy.AFTER_BACKOFF, cluster_event.SCHEDULE_ATTEMPT_FAILURE, ""
        if self._updated_in_flight(info):
            return QueueingStrategy.IMMEDIATELY, cluster_event.UNSCHEDULED_POD_UPDATE.label, ""
        if self.received_move_request:
            return QueueingStrategy.IMMEDIATELY, MOVE_REQUEST, ""
        return QueueingStrategy.SKIP, cluster_event.SCHEDULE_ATTEMPT_FAILURE, ""


def _without_status(pod: Manifest) -> Manifest:
    """Return the parts of a pod whose change counts as an update (isPodUpdated)."""
    metadata = {k: v for k, v in pod["metadata"].items() if k not in ("resourceVersion", "generation")}
    return {**{k: v for k, v in pod.items() if k != "status"}, "metadata": metadata}
