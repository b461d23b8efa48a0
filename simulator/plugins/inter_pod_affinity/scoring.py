"""Preferred affinity and anti-affinity, in both directions: interpodaffinity/scoring.go, v1.34."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints
from simulator.cluster.row_counts import Column
from simulator.cluster.topology import domains
from simulator.decision import ScoreTerm, TermKind
from simulator.framework.interface import MAX_NODE_SCORE
from simulator.framework.node_batch import NodeBatch
from simulator.objects.pod import AffinityTerm, Pod
from simulator.plugins.inter_pod_affinity.common import matching_pods, namespace_labels, resolved
from simulator.plugins.inter_pod_affinity.existing_terms import ExistingTerms

TERMS_AT_MOST = 12
"""Terms that are told one by one: more than anybody states; of a crowded cluster's the heaviest part."""


class Match(NamedTuple):
    """A term that matches, what each match weighs, and the pods by row."""

    kind: TermKind
    term: AffinityTerm
    weight: int
    column: Column


def topology_scores(cluster: Cluster, pod: Pod, hard_weight: int) -> Ints | None:
    """int64[width]: the weights of all matches in the node's domains; None where nothing matches in any
    domain.

    ``hard_weight`` is what a required affinity term of an existing pod counts.
    """
    weighted: dict[str, Ints] = {}
    matched: dict[str, Ints] = {}
    for match in _matches(cluster, pod, hard_weight):
        key, column = match.term.topology_key, match.column
        if column.total:
            counts = column.counts[: cluster.width]
            weighted[key] = counts * match.weight + weighted.get(key, 0)
            # Apart, because weights may cancel out, which is not the same as no match.
            matched[key] = counts + matched.get(key, 0)
    total: Ints | None = None
    for key, counts in weighted.items():
        of = domains(cluster, key)
        if matched[key][of.known].any():
            sums = of.sums(counts)
            sums[0] = 0
            score = sums[of.numbers]
            total = score if total is None else total + score
    return total


def terms(nodes: NodeBatch, pod: Pod, hard_weight: int) -> list[ScoreTerm]:
    """What the scores of these nodes add up from; of terms beyond TERMS_AT_MOST the sum."""
    found: list[ScoreTerm] = []
    rest = np.zeros(len(nodes), dtype=np.int64)
    for match in _matches(nodes.cluster, pod, hard_weight):
        of = domains(nodes.cluster, match.term.topology_key)
        sums = of.sums(match.column.counts[: nodes.cluster.width])
        sums[0] = 0
        counts = nodes.take(sums[of.numbers])
        if not counts.any():
            continue
        if len(found) < TERMS_AT_MOST:
            name = f"{match.term.topology_key} {match.term.selector}"
            found.append(ScoreTerm(match.kind, name, match.weight, counts.tolist()))
        else:
            rest += counts * match.weight
    return [*found, ScoreTerm("rest", "", 1, rest.tolist())] if rest.any() else found


def _matches(cluster: Cluster, pod: Pod, hard_weight: int) -> Iterator[Match]:
    """Every term that matches."""
    for weight, term in pod.affinity.preferred:
        yield Match("affinity", term, weight, matching_pods(cluster, resolved(term, cluster)))
    for weight, term in pod.affinity.preferred_anti:
        yield Match("anti-affinity", term, -weight, matching_pods(cluster, resolved(term, cluster)))
    existing = cluster.index(ExistingTerms)
    labels = namespace_labels(cluster, pod.namespace)
    for holders in existing.matching("preferred", pod, labels):
        yield Match("existing", holders.term, holders.weight, existing.count(holders))
    if hard_weight:
        for holders in existing.matching("required", pod, labels):
            yield Match("required", holders.term, hard_weight, existing.count(holders))


def normalize(scores: Ints) -> Ints:
    """The lowest becomes 0 and the highest 100; all 0 where they are equal."""
    if not len(scores):
        return scores
    lowest = int(scores.min())
    span = int(scores.max()) - lowest
    if not span:
        return np.zeros_like(scores)
    # In floats and truncated, as upstream does it.
    return (MAX_NODE_SCORE * ((scores - lowest) / span)).astype(np.int64)
