"""Preferred affinity and anti-affinity, in both directions: interpodaffinity/scoring.go, v1.34."""

from collections.abc import Iterator

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints
from simulator.cluster.row_counts import Column
from simulator.cluster.topology import domains
from simulator.framework.interface import MAX_NODE_SCORE
from simulator.objects.pod import Pod
from simulator.plugins.inter_pod_affinity.common import matching_pods, namespace_labels, resolved
from simulator.plugins.inter_pod_affinity.existing_terms import ExistingTerms


def topology_scores(cluster: Cluster, pod: Pod, hard_weight: int) -> Ints | None:
    """int64[width]: the weights of all matches in the node's domains; None where nothing matches in any
    domain.

    ``hard_weight`` is what a required affinity term of an existing pod counts.
    """
    weighted: dict[str, Ints] = {}
    matched: dict[str, Ints] = {}
    for key, weight, column in _matches(cluster, pod, hard_weight):
        if column.total:
            counts = column.counts[: cluster.width]
            weighted[key] = counts * weight + weighted.get(key, 0)
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


def _matches(cluster: Cluster, pod: Pod, hard_weight: int) -> Iterator[tuple[str, int, Column]]:
    """Topology key, weight and pods of every term that matches."""
    for weight, term in pod.affinity.preferred:
        yield term.topology_key, weight, matching_pods(cluster, resolved(term, cluster))
    for weight, term in pod.affinity.preferred_anti:
        yield term.topology_key, -weight, matching_pods(cluster, resolved(term, cluster))
    existing = cluster.index(ExistingTerms)
    labels = namespace_labels(cluster, pod.namespace)
    for holders in existing.matching("preferred", pod, labels):
        yield holders.term.topology_key, holders.weight, existing.count(holders)
    if hard_weight:
        for holders in existing.matching("required", pod, labels):
            yield holders.term.topology_key, hard_weight, existing.count(holders)


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
