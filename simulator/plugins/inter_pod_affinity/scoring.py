"""Scoring by preferred terms of the incoming pod and existing pods (interpodaffinity/scoring.go)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints
from simulator.cluster.node_selectors import topology_domains
from simulator.cluster.row_counts import CountColumn
from simulator.framework.interface import MAX_NODE_SCORE
from simulator.framework.node_batch import NodeBatch
from simulator.framework.score_explanation import ScoreTerm, TermKind
from simulator.objects.pod import AffinityTerm, Pod
from simulator.plugins.inter_pod_affinity.terms import (
    ExistingTerms,
    count_matching_pods,
    namespace_labels,
    resolve_namespaces,
)

MAX_EXPLAINED_TERMS = 12
"""The number of terms that explain_terms returns one by one; the sum of the others is one more term."""


class TermMatch(NamedTuple):
    """A term, the weight of each match, and the number of matches on each node: of pods that match a term of
    the incoming pod, or of pods that have the term and whose term matches the incoming pod."""

    kind: TermKind
    term: AffinityTerm
    weight: int
    column: CountColumn


def topology_scores(cluster: Cluster, pod: Pod, hard_weight: int) -> Ints | None:
    """Return int64[width]: the sum of the weights of all matches in the domains of each node; None if no
    domain has a match.

    ``hard_weight`` is the weight of required affinity terms of existing pods (hardPodAffinityWeight).
    """
    weighted: dict[str, Ints] = {}
    matched: dict[str, Ints] = {}
    for match in _matches(cluster, pod, hard_weight):
        key, column = match.term.topology_key, match.column
        if column.total:
            counts = column.counts[: cluster.width]
            weighted[key] = counts * match.weight + weighted.get(key, 0)
            # Counted separately, because a sum of weights can be 0 although there are matches.
            matched[key] = counts + matched.get(key, 0)
    total: Ints | None = None
    for key, counts in weighted.items():
        of = topology_domains(cluster, key)
        if matched[key][of.has_key].any():
            sums = of.sum_by_domain(counts)
            sums[0] = 0
            score = sums[of.numbers]
            total = score if total is None else total + score
    return total


def explain_terms(nodes: NodeBatch, pod: Pod, hard_weight: int) -> list[ScoreTerm]:
    """Return the terms whose weighted counts add up to the scores of these nodes."""
    found: list[ScoreTerm] = []
    rest = np.zeros(len(nodes), dtype=np.int64)
    for match in _matches(nodes.cluster, pod, hard_weight):
        of = topology_domains(nodes.cluster, match.term.topology_key)
        sums = of.sum_by_domain(match.column.counts[: nodes.cluster.width])
        sums[0] = 0
        counts = nodes.take(sums[of.numbers])
        if not counts.any():
            continue
        if len(found) < MAX_EXPLAINED_TERMS:
            name = f"{match.term.topology_key} {match.term.selector}"
            found.append(ScoreTerm(match.kind, name, match.weight, counts.tolist()))
        else:
            rest += counts * match.weight
    return [*found, ScoreTerm("rest", "", 1, rest.tolist())] if rest.any() else found


def _matches(cluster: Cluster, pod: Pod, hard_weight: int) -> Iterator[TermMatch]:
    """Yield the preferred terms of the incoming pod, and the terms of existing pods that match it."""
    for weight, term in pod.affinity.preferred:
        yield TermMatch(
            "affinity", term, weight, count_matching_pods(cluster, resolve_namespaces(term, cluster))
        )
    for weight, term in pod.affinity.preferred_anti:
        yield TermMatch(
            "anti-affinity", term, -weight, count_matching_pods(cluster, resolve_namespaces(term, cluster))
        )
    existing = cluster.index(ExistingTerms)
    if existing.empty:
        return
    labels = namespace_labels(cluster, pod.namespace)
    for found in existing.matching("preferred", pod, labels):
        yield TermMatch("existing", found.term, found.weight, existing.count(found))
    if hard_weight:
        for found in existing.matching("required", pod, labels):
            yield TermMatch("required", found.term, hard_weight, existing.count(found))


def normalize(scores: Ints) -> Ints:
    """NormalizeScore: scale the scores so that the lowest is 0 and the highest is 100; all are 0 if they are
    equal."""
    if not len(scores):
        return scores
    lowest = int(scores.min())
    span = int(scores.max()) - lowest
    if not span:
        return np.zeros_like(scores)
    # Computed in float64 and truncated, as upstream.
    return (MAX_NODE_SCORE * ((scores - lowest) / span)).astype(np.int64)
