"""The verdicts of all filter plugins on all nodes, as columns. They show which of thousands of possible
changes are worth trying."""

import numpy as np

from simulator.cluster.columns import Bools, Ints, Rows
from simulator.framework.cycle_state import CycleState
from simulator.framework.node_batch import NodeBatch
from simulator.framework.pre_filter import run_pre_filter
from simulator.framework.status import PluginError, Status, error
from simulator.objects import pod_requests
from simulator.objects.node import Taint, format_taint
from simulator.plugins.node_resources.fit import TOO_MANY_PODS
from simulator.plugins.taint_toleration import tolerated
from simulator.what_if import amounts
from simulator.what_if.answer import NodeObstacles, Obstacle
from simulator.what_if.situation import Situation, allowed_rows

FIT, TAINTS = "NodeResourcesFit", "TaintToleration"
LACKS_AT_MOST = 5
"""Maximum number of nodes whose obstacles are listed."""
LOOKED_AT_MOST = 64
"""Number of nodes for which every obstacle is counted. They are preselected by the number of plugins only."""


class Obstacles:
    """The verdict of every filter plugin on every node. (The scheduler stops at the first that rejects a
    node.)

    ``refusal`` is PreFilter's status if it rejects the pod; then the nodes have no verdicts. ``failing`` is
    int64[width]: bit i is set if the i-th of ``plugins`` rejects the node. For a node that passes without the
    pods that are nominated to it, but not with them, the plugin that rejects it then is used.

    ``others`` is the number of obstacles that a change may leave: 0, or 1 for the first one of two changes.
    """

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.cluster = situation.cluster
        self.others = 0
        self.plugins: list[str] = []
        self.refusal: Status | None = None
        self._statuses: list[list[Status]] = []
        self._codes: list[Ints] = []
        framework, pod = situation.framework, situation.pod
        width = self.cluster.width
        self.failing: Ints = np.zeros(width, dtype=np.int64)
        self.exists = self.cluster.exists[:width]
        if framework is None:
            return
        state = CycleState(self.cluster, situation.nominated, seed=situation.seed, cycle=situation.cycle)
        found = run_pre_filter(framework, state, pod)
        self.refusal = found.status
        if self.refusal is not None:
            return
        batch = NodeBatch(self.cluster)
        for plugin in framework.filter_plugins:
            if plugin.name in state.skip_filter:
                continue
            try:
                verdicts = plugin.filter(state, pod, batch)
            except PluginError as fault:
                self._add(plugin.name, np.ones(width, dtype=np.int64), [error(str(fault))])
                continue
            if verdicts is not None:
                self._add(plugin.name, verdicts.codes.astype(np.int64), list(verdicts.statuses))
        if found.node_names is not None:
            outside = ~allowed_rows(self.cluster, found.node_names)
            status = Status("UnschedulableAndUnresolvable", ("node(s) are not among those that are named",))
            self._add(found.narrowed_by[0], outside.astype(np.int64), [status])
        rows = np.flatnonzero(self.exists & (self.failing == 0))
        both = framework.run_filter_with_nominated_pods(state, pod, NodeBatch(self.cluster, rows))
        for name in sorted({status.plugin for status in both.statuses}):
            codes = np.zeros(width, dtype=np.int64)
            numbers = [i for i, status in enumerate(both.statuses, start=1) if status.plugin == name]
            codes[rows] = np.where(np.isin(both.codes, numbers), both.codes, 0)
            self._add(name, codes, list(both.statuses))

    def _add(self, plugin: str, codes: Ints, statuses: list[Status]) -> None:
        if not codes[self.exists].any():
            return
        if plugin not in self.plugins:
            self.plugins.append(plugin)
            self._statuses.append([])
            self._codes.append(np.zeros(len(codes), dtype=np.int64))
        i = self.plugins.index(plugin)
        new = (codes != 0) & (self._codes[i] == 0)
        self._codes[i] = np.where(new, codes + len(self._statuses[i]), self._codes[i])
        self._statuses[i] += statuses
        self.failing |= new.astype(np.int64) << i

    # Selecting nodes

    def only(self, *plugins: str) -> Rows:
        """Return the nodes that only these plugins reject, in the scheduler's order. With ``others``, that
        many further plugins may reject them."""
        bits = np.int64(sum(1 << i for i, plugin in enumerate(self.plugins) if plugin in plugins))
        if not self.others:
            return self._rows((self.failing != 0) & (self.failing & ~bits == 0))
        further = np.bitwise_count(self.failing & ~bits)
        return self._rows((self.failing & bits != 0) & (further <= self.others))

    def resolvable(self) -> Rows:
        """Return the nodes that removing other pods may make feasible: no plugin rejects them as
        UnschedulableAndUnresolvable."""
        found = self.failing != 0
        for statuses, codes in zip(self._statuses, self._codes, strict=True):
            table = np.array([True, *(status.code == "Unschedulable" for status in statuses)])
            found &= table[codes]
        return self._rows(found)

    def fails(self, rows: Rows, plugin: str) -> Bools:
        """Return bool[n]: whether the plugin rejects these nodes."""
        if plugin not in self.plugins:
            return np.zeros(len(rows), dtype=np.bool_)
        found: Bools = self.failing[rows] >> self.plugins.index(plugin) & 1 == 1
        return found

    def _rows(self, chosen: Bools) -> Rows:
        order = self.cluster.order()
        found: Rows = order[chosen[order]]
        return found

    # Listing obstacles

    def lacks(self) -> list[NodeObstacles]:
        """Return the nodes with the fewest obstacles; none if a node has no obstacle."""
        order = self.cluster.order()
        if self.refusal is not None or not len(order) or not self.failing[order].all():
            return []
        counts = sum(self.failing[order] >> i & 1 for i in range(len(self.plugins)))
        first = order[np.argsort(counts, kind="stable")[:LOOKED_AT_MOST]]
        found = [NodeObstacles(self.cluster.node(row).name, self._against(row)) for row in first.tolist()]
        found.sort(key=lambda lack: len(lack.obstacles))
        return [lack for lack in found if lack.obstacles][:LACKS_AT_MOST]

    def _against(self, row: int) -> list[Obstacle]:
        found: list[Obstacle] = []
        for plugin, statuses, codes in zip(self.plugins, self._statuses, self._codes, strict=True):
            if not codes[row]:
                continue
            if plugin == TAINTS:
                found += [Obstacle(plugin, format_taint(*taint)) for taint in self.untolerated(row)]
                continue
            for reason in statuses[int(codes[row]) - 1].reasons:
                resource = reason.removeprefix("Insufficient ") if plugin == FIT else reason
                if plugin == FIT and reason != TOO_MANY_PODS:
                    found.append(Obstacle(plugin, reason, resource, self._short(row, resource)))
                else:
                    found.append(Obstacle(plugin, reason))
        return found

    def untolerated(self, row: int) -> list[Taint]:
        tolerations = self.situation.pod.tolerations
        return [
            taint
            for taint in self.cluster.node(row).taints
            if taint.effect != "PreferNoSchedule" and not tolerated(taint, tolerations)
        ]

    def _short(self, row: int, resource: str) -> str:
        wanted = self.situation.pod.own_requests.get(resource, 0)
        missing = wanted - free_amount(self.situation, row, resource)
        return amounts.format_amount(
            resource, amounts.to_nanos(resource, missing), binary=resource != pod_requests.CPU
        )


def free_amount(situation: Situation, row: int, resource: str) -> int:
    """Return how much of a resource is free for the pod on a node. Nominated pods of the same or a higher
    priority count. The result is negative if the node is overcommitted."""
    cluster, pod = situation.cluster, situation.pod
    allocatable, requested = (each.column(resource) for each in (cluster.allocatable, cluster.requested))
    there = int(allocatable[row]) - int(requested[row])
    nominated = situation.nominated.get(cluster.node(row).name, ())
    return there - sum(n.requests.get(resource, 0) for n in nominated if n.priority >= pod.priority)
