"""Required affinity and anti-affinity: interpodaffinity/filtering.go, v1.34."""

from collections.abc import Iterable
from copy import copy

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints
from simulator.cluster.row_counts import Column
from simulator.cluster.topology import domains
from simulator.framework.interface import Verdicts, unresolvable, unschedulable
from simulator.framework.node_batch import NodeBatch
from simulator.objects.labels import Labels
from simulator.objects.pod import Pod
from simulator.plugins.inter_pod_affinity.common import matching_pods, namespace_labels, resolved
from simulator.plugins.inter_pod_affinity.existing_terms import ExistingTerms

AFFINITY, ANTI_AFFINITY, EXISTING_ANTI_AFFINITY = 1, 2, 3
STATUSES = (
    unresolvable("node(s) didn't match pod affinity rules"),
    unschedulable("node(s) didn't match pod anti-affinity rules"),
    unschedulable("node(s) didn't satisfy existing pods anti-affinity rules"),
)


class DomainCounts:
    """Pods per domain of one topology key (the entries of topologyToMatchedTermCount with this key).

    Supposed changes concern one node, hence one domain: that of every node that is asked about afterwards.
    The arrays are shared by all clones.
    """

    def __init__(self, cluster: Cluster, topology_key: str, counts: Ints) -> None:
        of = domains(cluster, topology_key)
        self.numbers = of.numbers
        self._sums = of.sums(counts)
        self._sums[0] = 0
        self._supposed = 0

    def clone(self) -> "DomainCounts":
        return copy(self)

    def suppose(self, row: int, by: int) -> None:
        if self.numbers[row]:
            self._supposed += by

    def anywhere(self) -> bool:
        return int(self._sums.sum()) + self._supposed > 0

    def among(self, nodes: NodeBatch) -> Bools:
        """bool[n]: the nodes in whose domain there are such pods."""
        found: Bools = self._sums[nodes.take(self.numbers)] + self._supposed > 0
        return found


ByKey = dict[str, DomainCounts]


def by_key(cluster: Cluster, counted: Iterable[tuple[str, Column]]) -> ByKey:
    """Columns of pods by topology key, those of one key added up; without those that count nothing."""
    sums: dict[str, Ints] = {}
    for key, column in counted:
        if column.total:
            counts = column.counts[: cluster.width]
            sums[key] = sums[key] + counts if key in sums else counts
    return {key: DomainCounts(cluster, key, counts) for key, counts in sums.items()}


def _cloned(counts: ByKey) -> ByKey:
    return {key: found.clone() for key, found in counts.items()}


class PreFilterState:
    """Pods that matter to the incoming pod, by topology key and domain. Made once per cycle, cloned per
    supposition."""

    def __init__(self, cluster: Cluster, pod: Pod) -> None:
        self.cluster = cluster
        self.pod = pod
        self.namespace_labels: Labels = namespace_labels(cluster, pod.namespace)
        self.terms = [resolved(term, cluster) for term in pod.affinity.required]
        self.anti_terms = [resolved(term, cluster) for term in pod.affinity.required_anti]
        self.keys = {term.topology_key for term in pod.affinity.required}
        self.anti_keys = [term.topology_key for term in pod.affinity.required_anti]
        self.own = self._matches_own_terms(pod)

        existing = cluster.index(ExistingTerms)
        conflicting = existing.matching("required anti", pod, self.namespace_labels)
        self.existing_anti = by_key(cluster, ((h.term.topology_key, existing.count(h)) for h in conflicting))
        """Holders of anti-affinity terms that match the incoming pod."""
        together = matching_pods(cluster, *self.terms) if self.terms else None
        self.affinity = by_key(cluster, ((key, together) for key in self.keys if together))
        """Pods that match all affinity terms of the incoming pod."""
        apart = (matching_pods(cluster, term) for term in self.anti_terms)
        self.anti = by_key(cluster, zip(self.anti_keys, apart, strict=True))
        """Pods that match an anti-affinity term of the incoming pod."""

    def clone(self) -> "PreFilterState":
        clone = copy(self)
        clone.existing_anti = _cloned(self.existing_anti)
        clone.affinity = _cloned(self.affinity)
        clone.anti = _cloned(self.anti)
        return clone

    @property
    def nothing_to_filter(self) -> bool:
        conflicts = any(counts.anywhere() for counts in self.existing_anti.values())
        return not (conflicts or self.terms or self.anti_terms)

    def suppose(self, changed: Pod, row: int, by: int) -> None:
        """updateWithPod."""
        for own in changed.affinity.required_anti:
            if own.matches(self.pod, self.namespace_labels):
                self._suppose(self.existing_anti, own.topology_key, row, by)
        if self._matches_own_terms(changed):
            for key in self.keys:
                self._suppose(self.affinity, key, row, by)
        for key, term in zip(self.anti_keys, self.anti_terms, strict=True):
            if term.matches(changed.namespace, changed.labels):
                self._suppose(self.anti, key, row, by)

    def _suppose(self, counts: ByKey, key: str, row: int, by: int) -> None:
        if key not in counts:
            nobody = np.zeros(self.cluster.width, dtype=np.int64)
            counts[key] = DomainCounts(self.cluster, key, nobody)
        counts[key].suppose(row, by)

    def _matches_own_terms(self, pod: Pod) -> bool:
        """Whether a pod meets all affinity terms (podMatchesAllAffinityTerms)."""
        return bool(self.terms) and all(term.matches(pod.namespace, pod.labels) for term in self.terms)

    def verdicts(self, nodes: NodeBatch) -> Verdicts:
        codes: NDArray[np.uint8] = np.zeros(len(nodes), dtype=np.uint8)
        for counts in self.existing_anti.values():
            np.putmask(codes, counts.among(nodes), EXISTING_ANTI_AFFINITY)
        for counts in self.anti.values():
            np.putmask(codes, counts.among(nodes), ANTI_AFFINITY)
        if self.terms:
            np.putmask(codes, ~self._affine(nodes), AFFINITY)
        return Verdicts(codes, STATUSES)

    def _affine(self, nodes: NodeBatch) -> Bools:
        """satisfyPodAffinity, bool[n]: nodes that have all keys, with such pods in every one of their
        domains. Where no such pod is in any domain at all, the first of a group that belongs together may
        start anywhere."""
        first = self.own and not any(counts.anywhere() for counts in self.affinity.values())
        found: Bools = np.ones(len(nodes), dtype=np.bool_)
        for key in self.keys:
            if first:
                found &= nodes.take(self.cluster.label(key).ids) >= 0
            elif key in self.affinity:
                found &= self.affinity[key].among(nodes)
            else:
                found[:] = False
        return found


def pre_filter_state(cluster: Cluster, pod: Pod) -> PreFilterState | None:
    """None where nothing in the cluster, and nothing that the pod asks for, can turn it away."""
    state = PreFilterState(cluster, pod)
    return None if state.nothing_to_filter else state
