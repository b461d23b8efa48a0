"""Whether a group of equal pods still fits after other pods are put back, without trying it again.

The preemption for a group puts unit after unit back, and tries the whole group after each. If its pods are
equal, and only the node itself decides whether one of them fits there, it does not matter which nodes they
get: as many fit as all nodes hold together. So the group still fits, unless pods are put back on nodes whose
room is needed."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.framework.cycle_state import CycleState
from simulator.framework.node_batch import NodeBatch
from simulator.framework.pre_filter import run_pre_filter
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod
from simulator.scheduler.pod_group_algorithm import GroupCycle
from simulator.scheduler.schedule_result import enough_feasible_nodes

_OF_ONE_NODE: Final = frozenset(("NodeUnschedulable", "NodeName", "TaintToleration", "NodeResourcesFit"))
"""Filter plugins that read only the pod and the node with its pods."""
_GANG_SCHEDULING: Final = "GangScheduling"
_OWN_PLUGINS: Final = "simulator.plugins."
"""The package of the plugins of kube-scheduler, of which no score fails."""


class GroupRoom:
    """The pods of a group, of which ``needed`` must have a place, and nodes that hold so many."""

    def __init__(
        self, cluster: Cluster, framework: Framework, state: CycleState, pods: Sequence[Pod], needed: int
    ) -> None:
        self._cluster = cluster
        self._framework = framework
        self._state = state
        self._pods = pods
        self._needed = needed
        self._held: dict[int, int] = {}
        """Row of a node -> how many of the pods it holds, at most ``needed``."""

    def still_fits(self, returned: Sequence[Pod]) -> bool:
        """Return whether the group fits, after these pods were put back. If not, they are taken off
        again."""
        rows = {row for pod in returned if (row := self._cluster.rows.get(pod.node_name)) is not None}
        before = {row: self._held[row] for row in rows if row in self._held}
        for row in before:
            self._held[row] = self._count(row)
        if self._find_room():
            return True
        for row in rows:
            self._held.pop(row, None)
        self._held |= before
        return False

    def _find_room(self) -> bool:
        """Count further nodes until those that were counted hold enough."""
        missing = self._needed - sum(self._held.values())
        if missing <= 0:
            return True
        codes = self._framework.run_filter(self._state, self._pods[0], NodeBatch(self._cluster)).codes
        for row in np.flatnonzero((codes == 0) & self._cluster.exists[: self._cluster.width]).tolist():
            if row not in self._held:
                self._held[row] = self._count(row)
                missing -= self._held[row]
                if missing <= 0:
                    return True
        return False

    def _count(self, row: int) -> int:
        """Return how many of the pods a node holds, by adding one after the other."""
        cluster, nodes = self._cluster, NodeBatch(self._cluster, np.array([row]))
        name = cluster.node(row).name
        added: list[Pod] = []
        for pod in self._pods[: self._needed]:
            if self._framework.run_filter(self._state, pod, nodes).codes[0]:
                break
            added.append(pod.assumed(name))
            cluster.add_pod(added[-1])
        for pod in reversed(added):
            cluster.remove_pod(pod)
        return len(added)


def room_of(cycle: GroupCycle) -> GroupRoom | None:
    """Return the room for the group of a cycle; None if it can only be known by trying the group."""
    scheduler, framework, group = cycle.scheduler, cycle.framework, cycle.group
    cluster, pods = scheduler.cache.cluster, [info.pod for info in cycle.infos]
    permits = {plugin.name for plugin in framework.permit_plugins}
    nodes = cluster.node_count
    if (
        group is None
        or framework.extenders
        or scheduler.queue.nominated_pods()
        or any(pod.spec != pods[0].spec for pod in pods)
        or permits - {_GANG_SCHEDULING}
        or any(not type(each).__module__.startswith(_OWN_PLUGINS) for each in framework.plugins.values())
        or enough_feasible_nodes(framework, nodes, exhaustive=False) < nodes
    ):
        return None
    state = CycleState(cluster, seed=scheduler.seed, cycle=cycle.number)
    found = run_pre_filter(framework, state, pods[0])
    filters = {plugin.name for plugin in framework.filter_plugins} - state.skip_filter
    if found.status is not None or found.node_names is not None or filters - _OF_ONE_NODE:
        return None
    needed = 1
    if permits and group.min_count is not None:
        needed = max(1, group.min_count - len(cluster.pod_groups.get(group.key).scheduled))
    return GroupRoom(cluster, framework, state, pods, needed) if needed <= len(pods) else None
