"""Filtering by required affinity and anti-affinity (interpodaffinity/filtering.go)."""

from collections.abc import Iterable, Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints, Rows
from simulator.cluster.node_selectors import topology_domains
from simulator.cluster.row_counts import CountColumn
from simulator.framework.node_batch import CountChanges, NodeBatch
from simulator.framework.status import Verdicts, unresolvable, unschedulable
from simulator.objects.labels import Labels
from simulator.objects.pod import NO_AFFINITY, Pod
from simulator.plugins.inter_pod_affinity.terms import (
    ExistingTerms,
    TermCounts,
    count_matching_pods,
    namespace_labels,
    resolve_namespaces,
)

AFFINITY, ANTI_AFFINITY, EXISTING_ANTI_AFFINITY = 1, 2, 3
STATUSES = (
    unresolvable("node(s) didn't match pod affinity rules"),
    unschedulable("node(s) didn't match pod anti-affinity rules"),
    unschedulable("node(s) didn't satisfy existing pods anti-affinity rules"),
)


class DomainCounts:
    """The number of matching pods in each domain of one topology key: the entries of
    topologyToMatchedTermCount with this key.

    A change on a node affects the result for this node only. Clones share all arrays except the changes.
    """

    def __init__(self, cluster: Cluster, topology_key: str, counts: Ints) -> None:
        of = topology_domains(cluster, topology_key)
        self.numbers = of.numbers
        self._sums = of.sum_by_domain(counts)
        self._sums[0] = 0
        self.total = int(self._sums.sum())
        self._changes = CountChanges(len(self.numbers))

    def clone(self) -> "DomainCounts":
        clone = copy(self)
        clone._changes = self._changes.clone()
        return clone

    def change(self, rows: Rows, by: int) -> None:
        """Add ``by`` matching pods (negative = remove pods) on each of these rows."""
        self._changes.add(rows[self.numbers[rows] > 0], by)

    def any_domain_has_pods(self, nodes: NodeBatch) -> Bools | bool:
        """Return whether any domain has matching pods, with the changes on each node: bool[n], or one bool if
        there are no changes."""
        return self.total + self._changes.for_nodes(nodes) > 0

    def domain_has_pods(self, nodes: NodeBatch) -> Bools:
        """Return bool[n]: the nodes whose domain has matching pods."""
        found: Bools = self._sums[nodes.take(self.numbers)] + self._changes.for_nodes(nodes) > 0
        return found


CountsByKey = dict[str, DomainCounts]


def counts_by_key(cluster: Cluster, counted: Iterable[tuple[str, CountColumn]]) -> CountsByKey:
    """Return DomainCounts by topology key. The columns of the same key are added; columns without pods are
    ignored."""
    sums: dict[str, Ints] = {}
    for key, column in counted:
        if column.total:
            counts = column.counts[: cluster.width]
            sums[key] = sums[key] + counts if key in sums else counts
    return {key: DomainCounts(cluster, key, counts) for key, counts in sums.items()}


def _clone_counts(counts: CountsByKey) -> CountsByKey:
    return {key: found.clone() for key, found in counts.items()}


class AffinityPreFilterState:
    """The pods that match terms of the incoming pod, or whose terms it matches, counted by topology key and
    domain (preFilterState)."""

    def __init__(
        self, cluster: Cluster, pod: Pod, namespace_labels: Labels, conflicting: Sequence[TermCounts]
    ) -> None:
        """``conflicting``: the anti-affinity terms of existing pods that match the incoming pod."""
        self.cluster = cluster
        self.pod = pod
        self.namespace_labels = namespace_labels
        self.terms = [resolve_namespaces(term, cluster) for term in pod.affinity.required]
        self.anti_terms = [resolve_namespaces(term, cluster) for term in pod.affinity.required_anti]
        self.keys = {term.topology_key for term in pod.affinity.required}
        self.anti_keys = [term.topology_key for term in pod.affinity.required_anti]
        self.matches_itself = self._matches_all_affinity_terms(pod)

        existing = cluster.index(ExistingTerms)
        self.existing_anti = counts_by_key(
            cluster, ((found.term.topology_key, existing.count(found)) for found in conflicting)
        )
        """Pods with an anti-affinity term that matches the incoming pod (existingAntiAffinityCounts)."""
        affine = count_matching_pods(cluster, *self.terms) if self.terms else None
        self.affinity = counts_by_key(cluster, ((key, affine) for key in self.keys if affine))
        """Pods that match all affinity terms of the incoming pod (affinityCounts)."""
        anti_affine = (count_matching_pods(cluster, term) for term in self.anti_terms)
        self.anti = counts_by_key(cluster, zip(self.anti_keys, anti_affine, strict=True))
        """Pods that match an anti-affinity term of the incoming pod (antiAffinityCounts)."""

    def clone(self) -> "AffinityPreFilterState":
        clone = copy(self)
        clone.existing_anti = _clone_counts(self.existing_anti)
        clone.affinity = _clone_counts(self.affinity)
        clone.anti = _clone_counts(self.anti)
        return clone

    def nothing_to_filter(self) -> bool:
        """Whether no term of the incoming pod or of an existing pod can reject a node. It does not include
        changes; it is called in PreFilter only."""
        conflicts = any(counts.total for counts in self.existing_anti.values())
        return not (conflicts or self.terms or self.anti_terms)

    def update_with_pod(self, changed: Pod, rows: Rows, by: int) -> None:
        """Add a pod like ``changed`` on each of these rows (``by`` 1), or remove it (-1) (updateWithPod)."""
        for own in changed.affinity.required_anti:
            if own.matches(self.pod, self.namespace_labels):
                self._change(self.existing_anti, own.topology_key, rows, by)
        if self._matches_all_affinity_terms(changed):
            for key in self.keys:
                self._change(self.affinity, key, rows, by)
        for key, term in zip(self.anti_keys, self.anti_terms, strict=True):
            if term.matches(changed.namespace, changed.labels):
                self._change(self.anti, key, rows, by)

    def _change(self, counts: CountsByKey, key: str, rows: Rows, by: int) -> None:
        if key not in counts:
            no_pods = np.zeros(self.cluster.width, dtype=np.int64)
            counts[key] = DomainCounts(self.cluster, key, no_pods)
        counts[key].change(rows, by)

    def _matches_all_affinity_terms(self, pod: Pod) -> bool:
        """Whether a pod matches all affinity terms of the incoming pod (podMatchesAllAffinityTerms)."""
        return bool(self.terms) and all(term.matches(pod.namespace, pod.labels) for term in self.terms)

    def verdicts(self, nodes: NodeBatch) -> Verdicts:
        codes: NDArray[np.uint8] = np.zeros(len(nodes), dtype=np.uint8)
        for counts in self.existing_anti.values():
            np.putmask(codes, counts.domain_has_pods(nodes), EXISTING_ANTI_AFFINITY)
        for counts in self.anti.values():
            np.putmask(codes, counts.domain_has_pods(nodes), ANTI_AFFINITY)
        if self.terms:
            np.putmask(codes, ~self._satisfy_pod_affinity(nodes), AFFINITY)
        return Verdicts(codes, STATUSES)

    def _satisfy_pod_affinity(self, nodes: NodeBatch) -> Bools:
        """Return bool[n], the nodes that have all topology keys and whose domains all have matching pods
        (satisfyPodAffinity). If no domain has matching pods and the incoming pod matches its own terms, these
        are all nodes that have all topology keys."""
        is_first_pod = np.full(len(nodes), self.matches_itself)
        for counts in self.affinity.values():
            is_first_pod &= ~np.asarray(counts.any_domain_has_pods(nodes))
        satisfied: Bools = np.ones(len(nodes), dtype=np.bool_)
        for key in self.keys:
            has_pods = self.affinity[key].domain_has_pods(nodes) if key in self.affinity else False
            satisfied &= np.where(is_first_pod, nodes.take(self.cluster.label(key).ids) >= 0, has_pods)
        return satisfied


def pre_filter_state(cluster: Cluster, pod: Pod) -> AffinityPreFilterState | None:
    """Return None if no term of the pod or of an existing pod can reject a node."""
    existing, affinity = cluster.index(ExistingTerms), pod.affinity
    if affinity is NO_AFFINITY and existing.empty:
        return None
    labels = namespace_labels(cluster, pod.namespace)
    conflicting = existing.matching("required anti", pod, labels)
    if not (conflicting or affinity.required or affinity.required_anti):
        return None
    state = AffinityPreFilterState(cluster, pod, labels, conflicting)
    return None if state.nothing_to_filter() else state
