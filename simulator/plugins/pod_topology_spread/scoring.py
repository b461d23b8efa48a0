"""Scoring by constraints with ScheduleAnyway (podtopologyspread/scoring.go)."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.columns import Bools, Ints
from simulator.cluster.node_selectors import TopologyDomains, topology_domains
from simulator.framework.interface import MAX_NODE_SCORE
from simulator.framework.node_batch import NodeBatch
from simulator.framework.score_explanation import ScoreTerm
from simulator.objects.pod import Pod
from simulator.plugins.pod_topology_spread.common import (
    HOSTNAME,
    TopologySpreadConstraint,
    count_pods_match_selector,
    match_node_inclusion_policies,
    nodes_with_all_keys,
)

Floats = NDArray[np.float64]


class SoftSpread(NamedTuple):
    """The number of matching pods in each domain of one constraint.

    ``has_key`` is bool[width], the nodes that have the topology key. ``counts`` is int64[width], the number
    of matching pods in the domain of each node. ``size`` is the number of domains."""

    constraint: TopologySpreadConstraint
    has_key: Bools
    counts: Ints
    size: int

    @property
    def weight(self) -> float:
        """The weight of the topology key (topologyNormalizingWeight)."""
        return log(self.size + 2)


class PreScoreState(NamedTuple):
    ignored: Bools
    """The nodes that do not have all required topology keys, bool[width]; their score is 0."""
    spreads: Sequence[SoftSpread]


def pre_score_state(
    nodes: NodeBatch, pod: Pod, constraints: Sequence[TopologySpreadConstraint], *, require_all: bool
) -> PreScoreState:
    """Return the state for Score (initPreScoreState and processAllNode in PreScore). ``nodes`` are the nodes
    that passed the filters. ``require_all``: only nodes with the topology keys of all constraints are
    scored."""
    cluster = nodes.cluster
    domains = [topology_domains(cluster, constraint.topology_key) for constraint in constraints]
    has_required_keys = nodes_with_all_keys(domains) if require_all else cluster.exists[: cluster.width]
    scored = np.zeros(cluster.width, dtype=np.bool_)
    scored[nodes.rows] = True
    scored &= has_required_keys
    spreads = []
    for constraint, own_domains in zip(constraints, domains, strict=True):
        counts = count_pods_match_selector(cluster, pod.namespace, constraint.selector)
        if constraint.topology_key == HOSTNAME:
            # As upstream, inclusion policies have no effect here: each node is its own domain.
            size = int(np.count_nonzero(scored))
        else:
            empty = cluster.label(constraint.topology_key).number("")
            merged = _merge_missing_and_empty(own_domains, empty)
            size = int(np.count_nonzero(np.bincount(merged.numbers[scored])))
            counted_nodes = match_node_inclusion_policies(constraint, pod, cluster, has_required_keys)
            counts = merged.sum_by_domain(np.where(counted_nodes, counts, 0))[merged.numbers]
        spreads.append(SoftSpread(constraint, own_domains.has_key, counts, size))
    return PreScoreState(~has_required_keys, spreads)


def _merge_missing_and_empty(domains: TopologyDomains, empty: int) -> TopologyDomains:
    """Put the nodes without the topology key into the domain whose label value is "", because upstream reads
    a missing label as "". ``empty`` is the number of the value "" in the label column, -1 if no node has it.
    """
    if empty < 0:
        return domains
    return TopologyDomains(np.where(domains.numbers == 0, empty + 1, domains.numbers), domains.size)


def score(state: PreScoreState, nodes: NodeBatch) -> Ints:
    """Score: return int64[n], the sums over all constraints of the number of matching pods in the node's
    domain, multiplied by the weight of the constraint (scoreForCount)."""
    total: Floats = np.zeros(len(state.ignored))
    for spread in state.spreads:
        # The order of operations is upstream's, because it affects the result in float64.
        skew = spread.constraint.max_skew - 1
        total += np.where(spread.has_key, spread.counts * spread.weight + skew, 0.0)
    total[state.ignored] = 0.0
    return nodes.take(_rounded(total))


def explain_terms(state: PreScoreState, nodes: NodeBatch) -> list[ScoreTerm]:
    """Return one term per constraint, from which the scores of these nodes are computed. The count of a node
    that is not scored is -1."""
    taken = [nodes.take(np.where(each.has_key & ~state.ignored, each.counts, -1)) for each in state.spreads]
    return [
        ScoreTerm(
            "spread",
            f"{each.constraint.topology_key} {each.constraint.selector}",
            1,
            counts.tolist(),
            each.size,
            each.constraint.max_skew,
        )
        for each, counts in zip(state.spreads, taken, strict=True)
    ]


def _rounded(values: Floats) -> Ints:
    """Round values of 0 or more as Go's math.Round does: halves are rounded up."""
    whole = values.astype(np.int64)
    return whole + (values - whole >= 0.5)


def normalize(state: PreScoreState, nodes: NodeBatch, scores: Ints) -> Ints:
    """NormalizeScore: invert the scores and scale them to at most 100; ignored nodes get 0."""
    ignored = nodes.take(state.ignored)
    counted = scores[~ignored]
    lowest, highest = int(counted.min(initial=np.iinfo(np.int64).max)), int(counted.max(initial=0))
    if highest == 0:
        return np.where(ignored, 0, MAX_NODE_SCORE)
    return np.where(ignored, 0, MAX_NODE_SCORE * (highest + lowest - scores) // highest)
