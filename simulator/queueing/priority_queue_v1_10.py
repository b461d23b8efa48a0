"""The first PriorityQueue: a heap, a map of unschedulable pods, the nominated pods, and one flag
(pkg/scheduler/core/scheduling_queue.go, v1.10)."""

from collections.abc import Callable
from typing import Any, Final

from simulator.api import Manifest
from simulator.objects.pod import Pod
from simulator.queueing import cluster_event
from simulator.queueing.cluster_event import (
    ASSIGNED_POD,
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    ActionType,
    ClusterEvent,
)
from simulator.queueing.hint import register
from simulator.queueing.hint_map import Strategy
from simulator.queueing.older_queue import OlderQueue
from simulator.queueing.queued_pod import QueuedPod

MOVE_REQUEST: Final = "ReceivedMoveRequest"


class PriorityQueueV1_10(OlderQueue):  # noqa: N801  # the version's own name
    """A rejected pod waits among the unschedulable ones; any event that might help any pod moves them all to
    activeQ, without backoff. A move request that comes while pods are in flight is remembered in the flag
    alone, until the next pop: whoever fails meanwhile goes straight back to activeQ.

    Pods of equal priority are in order of time, as they are since v1.11; before that the heap had no rule. A
    pod that came back by a fault instead of a verdict went straight to activeQ, to be tried as often as the
    machine could. Here, where attempts may take no time, it waits out its backoff first."""

    registered = {
        "": [
            register(ASSIGNED_POD, ActionType.DELETE),
            register(NODE, ActionType.ADD | ActionType.UPDATE),
            register(PERSISTENT_VOLUME, ActionType.ADD | ActionType.UPDATE),
            register(PERSISTENT_VOLUME_CLAIM, ActionType.ADD | ActionType.UPDATE),
        ]
    }
    """Whatever calls MoveAllToActiveQueue in pkg/scheduler/factory/factory.go, but for Services: what they
    could help, ServiceAffinity, is no more."""

    received_move_request = False

    def pop(self) -> QueuedPod | None:
        """Its nomination is not counted while it is in flight."""
        info = super().pop()
        if info is not None:
            self.received_move_request = False
            self.nominator.delete(info.pod)
        return info

    def update(self, old: Pod | None, new: Pod) -> list[ClusterEvent]:
        """An unschedulable pod is tried again where more than its status changed."""
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
        """MoveAllToActiveQueue; AssignedPodAdded and AssignedPodUpdated, which look at pod affinity only, but
        raise the flag for everybody. What comes with a ``pre_check`` was no event yet."""
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

    def _hint_for_in_flight_pod(self, info: QueuedPod) -> tuple[Strategy, str, str]:
        if info.failed_by_error:
            return Strategy.AFTER_BACKOFF, cluster_event.SCHEDULE_ATTEMPT_FAILURE, ""
        if self._updated_in_flight(info):
            return Strategy.IMMEDIATELY, cluster_event.UNSCHEDULED_POD_UPDATE.label, ""
        if self.received_move_request:
            return Strategy.IMMEDIATELY, MOVE_REQUEST, ""
        return Strategy.SKIP, cluster_event.SCHEDULE_ATTEMPT_FAILURE, ""


def _without_status(pod: Manifest) -> Manifest:
    """isPodUpdated: what counts as a change."""
    metadata = {k: v for k, v in pod["metadata"].items() if k not in ("resourceVersion", "generation")}
    return {**{k: v for k, v in pod.items() if k != "status"}, "metadata": metadata}
