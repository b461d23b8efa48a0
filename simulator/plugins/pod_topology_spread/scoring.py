"""Soft constraints (ScheduleAnyway): podtopologyspread/scoring.go, v1.34."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.columns import Bools, Ints
from simulator.cluster.topology import Domains, domains
from simulator.decision import ScoreTerm
from simulator.framework.interface import MAX_NODE_SCORE
from simulator.framework.node_batch import NodeBatch
from simulator.objects.pod import Pod
from simulator.plugins.pod_topology_spread.common import (
    HOSTNAME,
    TopologySpreadConstraint,
    included,
    pod_counts,
    with_all_keys,
)

Floats = NDArray[np.float64]


class SoftSpread(NamedTuple):
    """One constraint: ``counts`` is int64[width], the matching pods in each node's domain; ``size`` is among
    how many domains, which weighs them."""

    constraint: TopologySpreadConstraint
    known: Bools
    counts: Ints
    size: int

    @property
    def weight(self) -> float:
        return log(self.size + 2)


class PreScoreState(NamedTuple):
    ignored: Bools
    """bool[width]: nodes that lack a key and therefore score nothing."""
    spreads: Sequence[SoftSpread]


def pre_score_state(
    nodes: NodeBatch, pod: Pod, constraints: Sequence[TopologySpreadConstraint], *, require_all: bool
) -> PreScoreState:
    """``nodes`` are those that passed; ``require_all``: a node must have the keys of all constraints."""
    cluster = nodes.cluster
    of = [domains(cluster, constraint.topology_key) for constraint in constraints]
    everywhere = cluster.exists[: cluster.width]
    having = with_all_keys(of) if require_all else everywhere
    scored = np.zeros(cluster.width, dtype=np.bool_)
    scored[nodes.rows] = True
    scored &= having
    spreads = []
    for constraint, own_domains in zip(constraints, of, strict=True):
        counts = pod_counts(cluster, pod.namespace, constraint.selector)
        if constraint.topology_key == HOSTNAME:
            # Each node counts for itself, whatever the policies say.
            size = int(np.count_nonzero(scored))
        else:
            grouped = _with_empty_values(own_domains, cluster.label(constraint.topology_key).number(""))
            size = int(np.count_nonzero(np.bincount(grouped.numbers[scored])))
            counting = included(constraint, pod, cluster, having)
            counts = grouped.sums(np.where(counting, counts, 0))[grouped.numbers]
        spreads.append(SoftSpread(constraint, own_domains.known, counts, size))
    return PreScoreState(~having, spreads)


def _with_empty_values(of: Domains, empty: int) -> Domains:
    """Nodes without the key count with those where its value is empty (``empty``: that value's number, -1 =
    there are none): upstream reads an absent label as ""."""
    if empty < 0:
        return of
    return Domains(np.where(of.numbers == 0, empty + 1, of.numbers), of.size)


def score(state: PreScoreState, nodes: NodeBatch) -> Ints:
    """int64[n]: the matching pods in the node's domains, those of a topology with many domains weighing
    more."""
    total: Floats = np.zeros(len(state.ignored))
    for spread in state.spreads:
        # The order of operations is upstream's: these are floats.
        skew = spread.constraint.max_skew - 1
        total += np.where(spread.known, spread.counts * spread.weight + skew, 0.0)
    total[state.ignored] = 0.0
    return nodes.take(_rounded(total))


def terms(state: PreScoreState, nodes: NodeBatch) -> list[ScoreTerm]:
    """What the scores of these nodes add up from: one for each constraint."""
    taken = [nodes.take(np.where(each.known & ~state.ignored, each.counts, -1)) for each in state.spreads]
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
    """math.Round of values of 0 or more: halves go up."""
    whole = values.astype(np.int64)
    return whole + (values - whole >= 0.5)


def normalize(state: PreScoreState, nodes: NodeBatch, scores: Ints) -> Ints:
    """Few matching pods score high; ignored nodes get 0."""
    ignored = nodes.take(state.ignored)
    counted = scores[~ignored]
    lowest, highest = int(counted.min(initial=np.iinfo(np.int64).max)), int(counted.max(initial=0))
    if highest == 0:
        return np.where(ignored, 0, MAX_NODE_SCORE)
    return np.where(ignored, 0, MAX_NODE_SCORE * (highest + lowest - scores) // highest)
