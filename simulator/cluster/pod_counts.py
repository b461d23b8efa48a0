"""How many pods of a description each node has, kept up to date as pods come and go, so that spreading and
inter-pod affinity need not go through the pods."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from simulator.cluster.row_counts import Column, Columns, RowCounts
from simulator.cluster.selector_table import Label, SelectorTable, demanded
from simulator.objects.labels import Labels, Selector
from simulator.objects.pod import Pod

if TYPE_CHECKING:
    from simulator.cluster.cluster import Cluster


class PodTerm(NamedTuple):
    """Pods of some namespaces (None = any) that a selector matches; a selector of None matches nothing."""

    namespaces: frozenset[str] | None
    selector: Selector | None

    def matches(self, namespace: str, labels: Labels) -> bool:
        if self.namespaces is not None and namespace not in self.namespaces:
            return False
        return self.selector is not None and self.selector.matches(labels)


class Description(NamedTuple):
    """Pods that match every one of ``terms``, terminating ones among them or not."""

    terms: tuple[PodTerm, ...]
    terminating: bool

    def matches(self, namespace: str, labels: Labels) -> bool:
        return all(term.matches(namespace, labels) for term in self.terms)


class Alike(RowCounts):
    """Pods that no description tells apart: of one namespace, with the same labels, terminating or not."""

    def __init__(self, pod: Pod) -> None:
        super().__init__()
        self.namespace = pod.namespace
        self.labels = pod.labels
        self.terminating = pod.terminating

    def match(self, description: Description) -> bool:
        return (description.terminating or not self.terminating) and description.matches(
            self.namespace, self.labels
        )


class PodCounts:
    """The index. A pod's coming or going costs as much as there are descriptions that match it; a description
    that was not asked for lately costs once as much as there are kinds of pods that may match it."""

    def __init__(self, cluster: "Cluster") -> None:
        self._kinds: dict[tuple[str, frozenset[Label], bool], Alike] = {}
        self._by_label: dict[Label, dict[Alike, None]] = {}
        self._columns: Columns[Description] = Columns(cluster.capacity, self._forget)
        self._asked: SelectorTable[Description] = SelectorTable()

    def count(self, description: Description) -> Column:
        """Pods per row."""
        return self._columns.get(description, lambda: self._matching(description))

    def _matching(self, description: Description) -> Iterator[Alike]:
        """Called where nothing is known of the description yet: from now on it is."""
        selector = description.terms[0].selector
        if selector is None:
            return
        self._asked.add(selector, description)
        label = demanded(selector)
        kinds = self._kinds.values() if label is None else self._by_label.get(label, ())
        for kind in kinds:
            if kind.match(description):
                yield kind

    def _forget(self, description: Description) -> None:
        selector = description.terms[0].selector
        if selector is not None:
            self._asked.remove(selector, description)

    def pod_added(self, row: int, pod: Pod) -> None:
        key = _key(pod)
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = Alike(pod)
            for label in pod.labels.items():
                self._by_label.setdefault(label, {})[kind] = None
            for description in self._asked.candidates(pod.labels):
                if kind.match(description):
                    kind.join(self._columns.kept(description))
        kind.change(row, 1)

    def pod_removed(self, row: int, pod: Pod) -> None:
        key = _key(pod)
        kind = self._kinds[key]
        kind.change(row, -1)
        if not kind.rows:
            kind.leave()
            del self._kinds[key]
            for label in pod.labels.items():
                kinds = self._by_label[label]
                del kinds[kind]
                if not kinds:
                    del self._by_label[label]

    def grow(self, capacity: int) -> None:
        self._columns.grow(capacity)


def _key(pod: Pod) -> tuple[str, frozenset[Label], bool]:
    return pod.namespace, frozenset(pod.labels.items()), pod.terminating
