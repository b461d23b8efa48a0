"""Pods that run together or not at all: what Permit is there for. Not in-tree: in the manner of the
Coscheduling plugin of sigs.k8s.io/scheduler-plugins, without its PodGroup."""

from typing import Any

from simulator.api import SECOND
from simulator.framework.interface import (
    PODS_TO_ACTIVATE,
    CycleState,
    PermitPlugin,
    ReservePlugin,
    Status,
)
from simulator.objects.pod import Pod
from simulator.queueing.cluster_event import POD, ActionType
from simulator.queueing.hint import EnqueueExtensions, Registered, register

GROUP = "schedviz/gang"
"""The label that names a pod's group, within its namespace."""
SIZE = "schedviz/gang-size"
"""The annotation that says how many of the group must have a node before any is bound."""
TIMEOUT = 60 * SECOND
"""Long enough to watch a group come together, short enough to see one fail."""


class Gang(EnqueueExtensions, ReservePlugin, PermitPlugin):
    """A pod of a group waits on Permit until enough of its group have a node, then all go on together. When
    one of them loses its node, those that still wait are sent back with it. The next one that gets a node
    calls all others for another attempt."""

    name = "Gang"

    def events_to_register(self) -> list[Registered]:
        """More of the group on nodes, or in the group, is what helps a pod that was sent back."""
        return [register(POD, ActionType.ADD | ActionType.UPDATE_POD_LABEL, sibling_came)]

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        for waiting in self.framework.waiting_pods:
            if in_one_group(waiting.pod, pod):
                waiting.reject(self.name, f"{pod.key} of the same gang has lost its node")

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, int]:
        if not pod.labels.get(GROUP):
            return None, 0
        cluster = state.cluster
        # The pod itself is assumed, and therefore counted, by now.
        placed = sum(
            in_one_group(other, pod)
            for row in cluster.rows.values()
            for other in cluster.pods_on(row).values()
        )
        if placed < size(pod):
            siblings = [other for other in self.framework.pods.values() if in_one_group(other, pod)]
            state.write(PODS_TO_ACTIVATE, [other for other in siblings if other.key not in cluster.pods])
            return Status("Wait"), TIMEOUT
        for waiting in self.framework.waiting_pods:
            if in_one_group(waiting.pod, pod):
                waiting.allow(self.name)
        return None, 0


def sibling_came(pod: Pod, old: Any, new: Any) -> bool:
    return isinstance(new, Pod) and in_one_group(new, pod)


def in_one_group(one: Pod, other: Pod) -> bool:
    group = one.labels.get(GROUP)
    return bool(group) and (one.namespace, group) == (other.namespace, other.labels.get(GROUP))


def size(pod: Pod) -> int:
    """1 where the annotation is no number: such a pod waits for nobody."""
    text = (pod.manifest["metadata"].get("annotations") or {}).get(SIZE, "")
    return int(text) if text.isdecimal() else 1
