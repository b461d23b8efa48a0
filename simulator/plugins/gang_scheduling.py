"""GangScheduling (pkg/scheduler/framework/plugins/gangscheduling/gangscheduling.go, v1.36)."""

from typing import Any

from simulator.api import SECOND, Manifest
from simulator.cluster.pod_group_state import find_pod_group
from simulator.framework.cluster_event import ASSIGNED_POD, POD_GROUP, UNSCHEDULABLE_POD, ActionType
from simulator.framework.cycle_state import PODS_TO_ACTIVATE, CycleState
from simulator.framework.interface import EnqueueExtensions, PermitPlugin, PreEnqueuePlugin
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.status import Status, error, unresolvable
from simulator.objects.metadata import key_of
from simulator.objects.pod import Pod

TIMEOUT = 5 * 60 * SECOND
"""The time for which a pod waits on Permit (permitTimeoutDuration)."""


class GangScheduling(EnqueueExtensions, PreEnqueuePlugin, PermitPlugin):
    """Keeps the pods of a gang out of activeQ until its PodGroup and minCount pods are there, and lets them
    be bound only when minCount of them have a node."""

    name = "GangScheduling"

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [
            register(UNSCHEDULABLE_POD, ActionType.ADD, pod_added),
            register(ASSIGNED_POD, ActionType.ADD, pod_added),
            register(POD_GROUP, ActionType.ADD, pod_group_added),
        ]

    def pre_enqueue(self, pod: Pod) -> Status | None:
        if not pod.pod_group:
            return None
        group = find_pod_group(self.handle.cluster, pod.pod_group)
        if group is None:
            name = pod.pod_group.partition("/")[2]
            return unresolvable(f'waiting for pods\'s pod group "{name}" to appear in scheduling queue')
        if group.min_count is None:
            return None
        if len(self.handle.cluster.pod_groups.get(pod.pod_group).pods) < group.min_count:
            return unresolvable("waiting for minCount pods from a gang to appear in scheduling queue")
        return None

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, int]:
        """Let the pod wait until minCount pods of its gang have a node, this one included. The cycle of a
        group asks only whether there are enough."""
        if not pod.pod_group:
            return None, 0
        group = find_pod_group(state.cluster, pod.pod_group)
        if group is None:
            name = pod.pod_group.partition("/")[2]
            missing = f'podgroup.scheduling.k8s.io "{name}" not found'
            return error(f"failed to get podGroup {pod.pod_group}: {missing}"), 0
        if group.min_count is None:
            return None, 0
        members = state.cluster.pod_groups.get(pod.pod_group)
        if len(members.scheduled) < group.min_count:
            if not state.of_pod_group:
                state.write(PODS_TO_ACTIVATE, members.unscheduled_pods())
            return Status("Wait", ("waiting for minCount pods from a gang to be scheduled",)), TIMEOUT
        if not state.of_pod_group:
            for waiting in self.handle.waiting_pods:
                if waiting.pod.pod_group == pod.pod_group:
                    waiting.allow(self.name)
        return None, 0


def pod_added(pod: Pod, old: Any, new: Pod) -> bool:
    """Queueing hint: queue if the added pod is of the same group (isSchedulableAfterPodAdded)."""
    return bool(pod.pod_group) and pod.pod_group == new.pod_group


def pod_group_added(pod: Pod, old: Any, new: Manifest) -> bool:
    """Queueing hint: queue if the added PodGroup is that of the pod (isSchedulableAfterPodGroupAdded)."""
    return bool(pod.pod_group) and pod.pod_group == key_of(new)
