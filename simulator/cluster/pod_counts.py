"""PodCounts: the number of pods on each node that match a query, for topology spread and inter-pod affinity.

The numbers are updated when pods are added and removed, so that plugins need not iterate over the pods."""

from collections.abc import Iterator
from typing import NamedTuple

from simulator.cluster.cluster import Cluster
from simulator.cluster.row_counts import CountColumn, CountColumnCache, RowCounts
from simulator.cluster.selector_index import Label, SelectorIndex, required_label
from simulator.objects.labels import Labels, Selector
from simulator.objects.pod import Pod


class PodTerm(NamedTuple):
    """Matches pods by namespace (None = all namespaces) and labels. A selector of None matches no pod."""

    namespaces: frozenset[str] | None
    selector: Selector | None

    def matches(self, namespace: str, labels: Labels) -> bool:
        if self.namespaces is not None and namespace not in self.namespaces:
            return False
        return self.selector is not None and self.selector.matches(labels)


class PodQuery(NamedTuple):
    """Matches the pods that match all ``terms``; terminating pods only if ``terminating`` is True."""

    terms: tuple[PodTerm, ...]
    terminating: bool

    def matches(self, namespace: str, labels: Labels) -> bool:
        return all(term.matches(namespace, labels) for term in self.terms)


class PodGroupCounts(RowCounts):
    """The number of pods of one group on each node.

    The pods of a group match the same queries: they have the same namespace and labels, and all or none of
    them are terminating."""

    def __init__(self, pod: Pod) -> None:
        super().__init__()
        self.namespace = pod.namespace
        self.labels = pod.labels
        self.terminating = pod.terminating

    def matches(self, query: PodQuery) -> bool:
        return (query.terminating or not self.terminating) and query.matches(self.namespace, self.labels)


class PodCounts:
    """An index of the cluster (see PodIndex): the number of pods on each node, by query.

    Adding or removing a pod costs one update per cached query that matches it. A query that is not cached
    costs one match per group of pods that has the query's required label."""

    def __init__(self, cluster: Cluster) -> None:
        self._groups: dict[tuple[str, frozenset[Label], bool], PodGroupCounts] = {}
        self._groups_by_label: dict[Label, dict[PodGroupCounts, None]] = {}
        self._columns: CountColumnCache[PodQuery] = CountColumnCache(cluster.capacity, self._forget_query)
        self._queries: SelectorIndex[PodQuery] = SelectorIndex()

    def count(self, query: PodQuery) -> CountColumn:
        """Return the number of pods on each node that match the query."""
        return self._columns.get(query, lambda: self._add_query(query))

    def _add_query(self, query: PodQuery) -> Iterator[PodGroupCounts]:
        """Yield the groups that match a query that is not cached, and store it for later groups."""
        selector = query.terms[0].selector
        if selector is None:
            return
        self._queries.add(selector, query)
        label = required_label(selector)
        groups = self._groups.values() if label is None else self._groups_by_label.get(label, ())
        for group in groups:
            if group.matches(query):
                yield group

    def _forget_query(self, query: PodQuery) -> None:
        selector = query.terms[0].selector
        if selector is not None:
            self._queries.remove(selector, query)

    def pod_added(self, row: int, pod: Pod) -> None:
        key = _group_key(pod)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = PodGroupCounts(pod)
            for label in pod.labels.items():
                self._groups_by_label.setdefault(label, {})[group] = None
            for query in self._queries.candidates(pod.labels):
                if group.matches(query):
                    group.add_to_column(self._columns.get_cached(query))
        group.add(row, 1)

    def pod_removed(self, row: int, pod: Pod) -> None:
        key = _group_key(pod)
        group = self._groups[key]
        group.add(row, -1)
        if not group.rows:
            group.remove_from_columns()
            del self._groups[key]
            for label in pod.labels.items():
                groups = self._groups_by_label[label]
                del groups[group]
                if not groups:
                    del self._groups_by_label[label]

    def grow(self, capacity: int) -> None:
        self._columns.grow(capacity)


def _group_key(pod: Pod) -> tuple[str, frozenset[Label], bool]:
    return pod.namespace, frozenset(pod.labels.items()), pod.terminating
