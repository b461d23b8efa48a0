"""pkg/scheduler/framework/plugins/noderesources/fit.go, v1.34."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.config.args import NodeResourcesFitArgs
from simulator.framework.interface import (
    CycleState,
    Explained,
    FilterPlugin,
    PluginError,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
    Status,
    Verdicts,
    unresolvable,
    unschedulable,
)
from simulator.framework.node_batch import NodeBatch, batch_of
from simulator.objects.pod import Pod
from simulator.objects.pod_requests import is_extended_resource
from simulator.plugins.resource_allocation import (
    Scorer,
    allocations,
    inputs,
    least_allocated,
    most_allocated,
    requested_to_capacity_ratio,
)

STATE = "PreFilterNodeResourcesFit"
TOO_MANY_PODS = "Too many pods"
MAX_TABLE = 4096
"""Combinations of shortages that are numbered by a table, which is much faster than sorting; it will do for
pods that ask for up to 10 resources."""


class NodeResourcesFit(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """A node must have room for what the pod requests; scored by one of three strategies."""

    name = "NodeResourcesFit"
    counts_only = True

    def __init__(self, args: NodeResourcesFitArgs, framework: Any) -> None:
        super().__init__(args, framework)
        strategy = args.scoring_strategy
        assert strategy is not None, "the arguments come defaulted"
        self.resources = strategy.resources
        self.scorer = self._scorer(args)
        self.ignored = frozenset(args.ignored_resources)
        self.ignored_groups = frozenset(args.ignored_resource_groups)

    @staticmethod
    def _scorer(args: NodeResourcesFitArgs) -> Scorer:
        strategy = args.scoring_strategy
        assert strategy is not None
        if strategy.type == "MostAllocated":
            return most_allocated
        if strategy.type == "RequestedToCapacityRatio":
            ratio = strategy.requested_to_capacity_ratio
            return requested_to_capacity_ratio(ratio.shape if ratio else [])
        return least_allocated

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        state.write(STATE, pod.own_requests)
        return None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        requests: dict[str, int] | None = state.find(STATE)
        if requests is None:
            raise PluginError(f'error reading "{STATE}" from cycleState: not found')
        wanted = tuple((name, n) for name, n in requests.items() if n > 0 and not self.ignores(name))
        if not nodes.real:
            return _verdicts(_shortages(nodes, wanted), wanted)
        cluster = nodes.cluster
        shortages = cluster.row_column(
            ("NodeResourcesFit", wanted), lambda rows: _shortages(batch_of(cluster, rows), wanted)
        )
        return _verdicts(nodes.take(shortages), wanted)

    def ignores(self, name: str) -> bool:
        """Whether the profile leaves this resource out of filtering."""
        if not (self.ignored or self.ignored_groups) or not is_extended_resource(name):
            return False
        return name in self.ignored or name.split("/", maxsplit=1)[0] in self.ignored_groups

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        return None

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        requests = tuple(pod.scored_requests.get(spec.name, 0) for spec in self.resources)
        return nodes.take(nodes.cluster.row_column((self, requests), self._score(nodes.cluster, requests)))

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Explained:
        strategy = self.args.scoring_strategy
        requests = [pod.scored_requests.get(spec.name, 0) for spec in self.resources]
        ratio = strategy.requested_to_capacity_ratio
        return Explained(
            inputs(nodes, self.resources, requests, non_zero=True),
            strategy.type,
            tuple((point.utilization, point.score) for point in ratio.shape) if ratio else (),
        )

    def _score(self, cluster: Cluster, requests: Sequence[int]) -> Callable[[Rows | slice], Ints]:
        def score(rows: Rows | slice) -> Ints:
            batch = batch_of(cluster, rows)
            return self.scorer(allocations(batch, self.resources, requests, non_zero=True), len(batch))

        return score


Wanted = Sequence[tuple[str, int]]
"""Resources and how much of each."""


def _shortages(nodes: NodeBatch, wanted: Wanted) -> Ints:
    """int64[n]: bit 0 = too many pods, bits 1 to m = too little of a wanted resource, bit m + 1 = more of one
    is wanted than the whole node has."""
    cluster = nodes.cluster
    shortages: Ints = (nodes.pod_count + 1 > nodes.take(cluster.allowed_pods)).astype(np.int64)
    hopeless = np.zeros(len(nodes), dtype=np.bool_)
    for bit, (name, amount) in enumerate(wanted, start=1):
        line = cluster.resources.get(name)
        if line is None:  # no node has it
            shortages |= 1 << bit
            hopeless[:] = True
            continue
        allocatable = nodes.take(cluster.allocatable[line])
        shortages |= (amount > allocatable - nodes.requested[line]).astype(np.int64) << bit
        hopeless |= amount > allocatable
    shortages |= hopeless.astype(np.int64) << len(wanted) + 1
    return shortages


def _verdicts(shortages: Ints, wanted: Wanted) -> Verdicts | None:
    """One status per combination of shortages that occurs. Where more is wanted than the whole node has, the
    node is beyond help, whatever else is short."""
    if not shortages.any():
        return None
    reasons = [TOO_MANY_PODS, *(f"Insufficient {name}" for name, _ in wanted)]
    beyond_help = 1 << len(reasons)
    combinations, codes = _numbered(shortages, 2 * beyond_help)
    statuses = []
    for combination in combinations:
        said = [reason for bit, reason in enumerate(reasons) if combination >> bit & 1]
        statuses.append((unresolvable if combination & beyond_help else unschedulable)(*said))
    return Verdicts(codes, statuses)


def _numbered(shortages: Ints, size: int) -> tuple[list[int], Ints]:
    """The combinations below ``size``, other than 0, that occur; and per node the number of its own from 1
    on, 0 for none."""
    if size > MAX_TABLE:
        found, numbers = np.unique(np.append(shortages, 0), return_inverse=True)
        return found[1:].tolist(), numbers[:-1]
    found = np.flatnonzero(np.bincount(shortages))
    found = found[found > 0]
    table = np.zeros(size, dtype=np.int64)
    table[found] = np.arange(1, len(found) + 1)
    return found.tolist(), table[shortages]
