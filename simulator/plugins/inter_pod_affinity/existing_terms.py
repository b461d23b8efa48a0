"""The (anti-)affinity terms of the pods that are on nodes: by term, as thousands of pods share a few."""

from typing import Literal

from simulator.cluster.cluster import Cluster
from simulator.cluster.row_counts import Column, Columns, RowCounts
from simulator.cluster.selector_table import SelectorTable
from simulator.objects.labels import Labels
from simulator.objects.pod import NO_AFFINITY, AffinityTerm, Pod

Role = Literal["required", "required anti", "preferred"]
"""Preferred anti-affinity is preferred affinity of negative weight."""

Key = tuple[Role, AffinityTerm, int]


class Holders(RowCounts):
    """How many pods of each row have a term; one that has it twice counts twice."""

    def __init__(self, term: AffinityTerm, weight: int) -> None:
        super().__init__()
        self.term = term
        self.weight = weight


class ExistingTerms:
    """The index of terms by role. What it keeps grows with the pods; a question costs as much as there are
    terms that match."""

    def __init__(self, cluster: Cluster) -> None:
        self._holders: dict[Key, Holders] = {}
        self._tables: dict[Role, SelectorTable[Holders]] = {
            "required": SelectorTable(),
            "required anti": SelectorTable(),
            "preferred": SelectorTable(),
        }
        self._columns: Columns[Holders] = Columns(cluster.capacity)

    def matching(self, role: Role, pod: Pod, namespace_labels: Labels) -> list[Holders]:
        """The terms that match a pod whose namespace has these labels."""
        candidates = self._tables[role].candidates(pod.labels)
        return [holders for holders in candidates if holders.term.matches(pod, namespace_labels)]

    def count(self, holders: Holders) -> Column:
        """How many pods of each row have the term."""
        return self._columns.get(holders, lambda: (holders,))

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
            return  # it matches nothing
        key = (role, term, weight)
        holders = self._holders.get(key)
        if holders is None:
            holders = self._holders[key] = Holders(term, weight)
            self._tables[role].add(term.selector, holders)
        holders.change(row, by)
        if not holders.rows:
            del self._holders[key]
            self._tables[role].remove(term.selector, holders)
            self._columns.drop(holders)
