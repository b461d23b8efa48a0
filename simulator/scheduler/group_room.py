"""Whether a group still fits after other pods are put back, without trying it again.

The preemption for a group puts unit after unit back, and tries the whole group after each. If its pods are
equal, and only the node itself decides whether one of them fits there, it does not matter which nodes they
get: as many fit as all nodes hold together. So the group still fits, unless pods are put back on nodes whose
room is needed. If one of the pods requests at least as much of all as each other one, the group fits if the
nodes hold as many pods like that one; it may fit even if they do not."""

from collections.abc import Sequence
from copy import copy
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

_OF_ONE_NODE: Final = frozenset(
    ("NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodeResourcesFit")
)
"""Filter plugins that read only the pod and the node with its pods."""
_GANG_SCHEDULING: Final = "GangScheduling"
_OWN_PLUGINS: Final = "simulator.plugins."
"""The package of the plugins of kube-scheduler, of which no score fails."""


class GroupRoom:
    """Nodes that hold as many pods like ``pod`` as a group needs. ``is_exact``: whether the group does not
    fit if they do not."""

    def __init__(
        self,
        cluster: Cluster,
        framework: Framework,
        state: CycleState,
        pod: Pod,
        needed: int,
        *,
        is_exact: bool,
    ) -> None:
        self.is_exact = is_exact
        self._cluster = cluster
        self._framework = framework
        self._state = state
        self._pods = [_numbered(pod, i) for i in range(needed)]
        self._needed = needed
        self._held: dict[int, int] = {}
        """Row of a node -> how many of the pods it holds, at most ``needed``."""

    def still_fits(self, returned: Sequence[Pod]) -> bool:
        """Return whether the nodes hold enough, after these pods were put back. If not, they are taken off
        again, or :meth:`forget` is called."""
        rows = self._rows(returned)
        before = {row: self._held[row] for row in rows if row in self._held}
        for row in before:
            self._held[row] = self._count(row)
        if self._find_room():
            return True
        for row in rows:
            self._held.pop(row, None)
        self._held |= before
        return False

    def forget(self, returned: Sequence[Pod]) -> None:
        """Count the nodes of these pods anew when they are needed: the pods stay."""
        for row in self._rows(returned):
            self._held.pop(row, None)

    def _rows(self, pods: Sequence[Pod]) -> set[int]:
        return {row for pod in pods if (row := self._cluster.rows.get(pod.node_name)) is not None}

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
        for pod in self._pods:
            if self._framework.run_filter(self._state, pod, nodes).codes[0]:
                break
            added.append(pod.assumed(name))
            cluster.add_pod(added[-1])
        for pod in reversed(added):
            cluster.remove_pod(pod)
        return len(added)


def _numbered(pod: Pod, number: int) -> Pod:
    found = copy(pod)
    found.key = f"{pod.key}#{number}"  # the name of no pod
    return found


def room_of(cycle: GroupCycle) -> GroupRoom | None:
    """Return the room for the group of a cycle; None if it can only be known by trying the group."""
    scheduler, framework, group = cycle.scheduler, cycle.framework, cycle.group
    cluster, pods = scheduler.cache.cluster, [info.pod for info in cycle.infos]
    permits = {plugin.name for plugin in framework.permit_plugins}
    nodes, largest = cluster.node_count, _largest(pods)
    if (
        group is None
        or largest is None
        or framework.extenders
        or scheduler.queue.nominated_pods()
        or permits - {_GANG_SCHEDULING}
        or any(not type(each).__module__.startswith(_OWN_PLUGINS) for each in framework.plugins.values())
        or enough_feasible_nodes(framework, nodes, exhaustive=False) < nodes
    ):
        return None
    state = CycleState(cluster, seed=scheduler.seed, cycle=cycle.number)
    is_exact = all(pod.spec == largest.spec for pod in pods)
    for pod in (largest,) if is_exact else (*pods, largest):  # the state is that of the largest one at last
        found = run_pre_filter(framework, state, pod)
        filters = {plugin.name for plugin in framework.filter_plugins} - state.skip_filter
        if found.status is not None or found.node_names is not None or filters - _OF_ONE_NODE:
            return None
    needed = 1
    if permits and group.min_count is not None:
        needed = max(1, group.min_count - len(cluster.pod_groups.get(group.key).scheduled))
    if needed > len(pods):
        return None
    return GroupRoom(cluster, framework, state, largest, needed, is_exact=is_exact)


def _largest(pods: Sequence[Pod]) -> Pod | None:
    """Return the pod that requests at least as much of all as each other one; None if there is none, or if
    they accept other nodes."""

    def covers(pod: Pod, other: Pod) -> bool:
        return all(pod.requests.get(name, 0) >= amount for name, amount in other.requests.items())

    def accepted(pod: Pod) -> tuple[object, ...]:
        return pod.tolerations, pod.spec.get("nodeSelector"), pod.spec.get("affinity")

    if any(accepted(pod) != accepted(pods[0]) for pod in pods):
        return None
    return next((pod for pod in pods if all(covers(pod, other) for other in pods)), None)
