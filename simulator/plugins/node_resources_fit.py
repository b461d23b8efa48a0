"""pkg/scheduler/framework/plugins/noderesources/fit.go, v1.34."""

from typing import Any

import numpy as np

from simulator.columns import Bools, Ints
from simulator.config.args import NodeResourcesFitArgs
from simulator.framework.interface import (
    CycleState,
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
from simulator.framework.node_batch import NodeBatch
from simulator.plugins.resource_allocation import (
    Scorer,
    allocations,
    least_allocated,
    most_allocated,
    requested_to_capacity_ratio,
)
from simulator.pod import Pod
from simulator.pod_requests import is_extended_resource

STATE = "PreFilterNodeResourcesFit"
TOO_MANY_PODS = "Too many pods"


class NodeResourcesFit(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """A node must have room for what the pod requests; scored by one of three strategies."""

    name = "NodeResourcesFit"

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
        cluster = nodes.cluster
        reasons = [TOO_MANY_PODS]
        short: list[Bools] = [nodes.pod_count + 1 > nodes.take(cluster.allowed_pods)]
        hopeless: list[Bools | None] = [None]
        for name, amount in requests.items():
            if amount <= 0 or self._ignored(name):
                continue
            line = cluster.resource(name)
            allocatable = nodes.take(cluster.allocatable[line])
            lacking = amount > allocatable - nodes.requested[line]
            reasons.append(f"Insufficient {name}")
            short.append(lacking)
            hopeless.append(amount > allocatable)
        return _verdicts(reasons, short, hopeless)

    def _ignored(self, name: str) -> bool:
        if not (self.ignored or self.ignored_groups) or not is_extended_resource(name):
            return False
        return name in self.ignored or name.split("/", maxsplit=1)[0] in self.ignored_groups

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        return None

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        requests = [pod.scored_requests.get(spec.name, 0) for spec in self.resources]
        return self.scorer(allocations(nodes, self.resources, requests, non_zero=True), len(nodes))


def _verdicts(reasons: list[str], short: list[Bools], hopeless: list[Bools | None]) -> Verdicts | None:
    """One status per combination of reasons that occurs. Where one resource exceeds what the whole node has,
    the node is beyond help."""
    lacking = [k for k, column in enumerate(short) if column.any()]
    if not lacking:
        return None
    beyond_help = 1 << len(lacking)
    codes = np.zeros(len(short[0]), dtype=np.int64)
    for bit, k in enumerate(lacking):
        codes += short[k].astype(np.int64) << bit
        column = hopeless[k]
        if column is not None:
            codes |= np.where(column, beyond_help, 0)
    found, codes = np.unique(codes, return_inverse=True)
    statuses = []
    for combination in found.tolist():
        said = [reasons[k] for bit, k in enumerate(lacking) if combination >> bit & 1]
        statuses.append((unresolvable if combination & beyond_help else unschedulable)(*said))
    if found[0] == 0:
        return Verdicts(codes, statuses[1:])
    return Verdicts(codes + 1, statuses)
