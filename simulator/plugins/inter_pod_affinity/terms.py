"""The terms of pod affinity: their namespaces and the pods that match them, and those of the pods on nodes,
grouped by term, because many pods have the same (interpodaffinity/plugin.go)."""

from typing import Literal

from simulator.cluster.cluster import Cluster
from simulator.cluster.other_objects import OtherObjects
from simulator.cluster.pod_counts import PodCounts, PodQuery, PodTerm
from simulator.cluster.row_counts import CountColumn, CountColumnCache, RowCounts
from simulator.cluster.selector_index import SelectorIndex
from simulator.objects.labels import Labels, Selector
from simulator.objects.metadata import labels_of
from simulator.objects.pod import NO_AFFINITY, AffinityTerm, Pod

MAX_CACHED_SELECTORS = 512
"""The number of namespace selectors whose result is cached. If there are more, the cache is cleared."""


class Namespaces:
    """The labels of all namespaces, and the namespaces that a selector matches."""

    def __init__(self, objects: OtherObjects) -> None:
        self.labels: dict[str, Labels] = {
            name: labels_of(manifest) for name, manifest in objects.objects("namespaces").items()
        }
        self._matched: dict[Selector, frozenset[str]] = {}

    def match(self, selector: Selector) -> frozenset[str]:
        """Return the names of the namespaces that the selector matches."""
        names = self._matched.get(selector)
        if names is None:
            if len(self._matched) >= MAX_CACHED_SELECTORS:
                self._matched.clear()
            names = frozenset(name for name, labels in self.labels.items() if selector.matches(labels))
            self._matched[selector] = names
        return names


def namespaces(cluster: Cluster) -> Namespaces:
    return cluster.derived(Namespaces, "namespaces")


def namespace_labels(cluster: Cluster, namespace: str) -> Labels:
    """Return the labels of a namespace, none if it does not exist (GetNamespaceLabelsSnapshot)."""
    return namespaces(cluster).labels.get(namespace, {})


def resolve_namespaces(term: AffinityTerm, cluster: Cluster) -> PodTerm:
    """Return a term of the incoming pod with the names of the namespaces that its namespaceSelector matches
    (mergeAffinityTermNamespacesIfNotEmpty).

    Upstream also matches the selector against an empty set of labels. A selector that matches it (an empty
    selector, NotIn, DoesNotExist) therefore matches all namespaces.
    """
    selector = term.namespace_selector
    if selector is None:
        return PodTerm(term.namespaces, term.selector)
    if selector.matches({}):
        return PodTerm(None, term.selector)
    return PodTerm(term.namespaces | namespaces(cluster).match(selector), term.selector)


def count_matching_pods(cluster: Cluster, *terms: PodTerm) -> CountColumn:
    """Return the number of pods on each node that match all terms, including terminating pods."""
    return cluster.index(PodCounts).count(PodQuery(terms, terminating=True))


Role = Literal["required", "required anti", "preferred"]
"""Preferred anti-affinity is stored as "preferred" with a negative weight."""

Key = tuple[Role, AffinityTerm, int]


class TermCounts(RowCounts):
    """The number of pods on each node that have a term. A pod that has the term twice counts twice."""

    def __init__(self, term: AffinityTerm, weight: int) -> None:
        super().__init__()
        self.term = term
        self.weight = weight


class ExistingTerms:
    """An index of the cluster (see PodIndex): the distinct terms of the pods on nodes, by role."""

    def __init__(self, cluster: Cluster) -> None:
        self._counts: dict[Key, TermCounts] = {}
        self._by_selector: dict[Role, SelectorIndex[TermCounts]] = {
            "required": SelectorIndex(),
            "required anti": SelectorIndex(),
            "preferred": SelectorIndex(),
        }
        self._columns: CountColumnCache[TermCounts] = CountColumnCache(cluster.capacity)

    @property
    def empty(self) -> bool:
        """Whether no pod on a node has terms."""
        return not self._counts

    def matching(self, role: Role, pod: Pod, namespace_labels: Labels) -> list[TermCounts]:
        """Return the terms of a role that match a pod. ``namespace_labels`` are those of its namespace."""
        candidates = self._by_selector[role].candidates(pod.labels)
        return [counts for counts in candidates if counts.term.matches(pod, namespace_labels)]

    def count(self, counts: TermCounts) -> CountColumn:
        """Return the column of a term's counts."""
        return self._columns.get(counts, lambda: (counts,))

    def pod_added(self, row: int, pod: Pod) -> None:
        self._change(row, pod, 1)

    def pod_removed(self, row: int, pod: Pod) -> None:
        self._change(row, pod, -1)

    def grow(self, capacity: int) -> None:
        self._columns.grow(capacity)

    def _change(self, row: int, pod: Pod, by: int) -> None:
        affinity = pod.affinity
        if affinity is NO_AFFINITY:
            return
        for term in affinity.required:
            self._count("required", term, 0, row, by)
        for term in affinity.required_anti:
            self._count("required anti", term, 0, row, by)
        for weight, term in affinity.preferred:
            self._count("preferred", term, weight, row, by)
        for weight, term in affinity.preferred_anti:
            self._count("preferred", term, -weight, row, by)

    def _count(self, role: Role, term: AffinityTerm, weight: int, row: int, by: int) -> None:
        if term.selector is None:
            return  # a term without selector matches no pod
        key = (role, term, weight)
        counts = self._counts.get(key)
        if counts is None:
            counts = self._counts[key] = TermCounts(term, weight)
            self._by_selector[role].add(term.selector, counts)
        counts.add(row, by)
        if not counts.rows:
            del self._counts[key]
            self._by_selector[role].remove(term.selector, counts)
            self._columns.drop(counts)
