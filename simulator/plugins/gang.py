"""Gang: binds the pods of a group only when enough of them have a node. It is not an in-tree plugin; it is
similar to Coscheduling in sigs.k8s.io/scheduler-plugins, but has no PodGroup objects."""

from typing import Any

from simulator.api import SECOND
from simulator.framework.cluster_event import POD, ActionType
from simulator.framework.cycle_state import PODS_TO_ACTIVATE, CycleState
from simulator.framework.interface import EnqueueExtensions, PermitPlugin, ReservePlugin
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.status import Status
from simulator.objects.metadata import annotations_of
from simulator.objects.numbers import whole_number
from simulator.objects.pod import Pod

GROUP = "schedviz/gang"
"""The label that names a pod's group, within its namespace."""
SIZE = "schedviz/gang-size"
"""The annotation with the number of pods of the group that must have a node before any of them is bound."""
TIMEOUT = 60 * SECOND
"""The time for which a pod waits on Permit."""


class Gang(EnqueueExtensions, ReservePlugin, PermitPlugin):
    """Plugin: a pod of a group waits on Permit until enough pods of the group have a node; then all are
    allowed. When a pod of the group is unreserved, the waiting pods of the group are rejected. When a pod
    begins to wait, all pods of the group that have no node are activated."""

    name = "Gang"

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [register(POD, ActionType.ADD | ActionType.UPDATE_POD_LABEL, pod_changed)]

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        for waiting in self.handle.waiting_pods:
            if in_same_group(waiting.pod, pod):
                waiting.reject(self.name, f"{pod.key} of the same gang has lost its node")

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, int]:
        if not pod.labels.get(GROUP):
            return None, 0
        cluster = state.cluster
        # This includes the pod itself, which is assumed.
        on_nodes = sum(
            in_same_group(other, pod)
            for row in cluster.rows.values()
            for other in cluster.pods_on(row).values()
        )
        if on_nodes < group_size(pod):
            group = [other for other in self.handle.pods.values() if in_same_group(other, pod)]
            state.write(PODS_TO_ACTIVATE, [other for other in group if other.key not in cluster.pods])
            return Status("Wait"), TIMEOUT
        for waiting in self.handle.waiting_pods:
            if in_same_group(waiting.pod, pod):
                waiting.allow(self.name)
        return None, 0


def pod_changed(pod: Pod, old: Any, new: Any) -> bool:
    """Queueing hint: queue if the added or updated pod belongs to the group."""
    return isinstance(new, Pod) and in_same_group(new, pod)


def in_same_group(one: Pod, other: Pod) -> bool:
    group = one.labels.get(GROUP)
    return bool(group) and (one.namespace, group) == (other.namespace, other.labels.get(GROUP))


def group_size(pod: Pod) -> int:
    """Return the value of the annotation SIZE; 1 if it is not a number, so that the pod does not wait."""
    wanted = whole_number(annotations_of(pod.manifest).get(SIZE, ""))
    return 1 if wanted is None else wanted
