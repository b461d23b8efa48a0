"""What filter and score share: terms of the incoming pod, and the namespaces they speak of
(interpodaffinity/plugin.go, v1.34)."""

from simulator.cluster.cluster import Cluster
from simulator.cluster.pod_counts import Description, PodCounts, PodTerm
from simulator.cluster.row_counts import Column
from simulator.objects.labels import Labels, Selector
from simulator.objects.pod import AffinityTerm

MAX_SELECTIONS = 512
"""Namespace selectors whose namespaces are remembered; beyond, all are forgotten and looked for again."""


class Namespaces:
    """The labels of all namespaces, and which of them a selector selects."""

    def __init__(self, cluster: Cluster) -> None:
        self.labels: dict[str, Labels] = {
            name: manifest["metadata"].get("labels") or {}
            for name, manifest in cluster.objects("namespaces").items()
        }
        self._selected: dict[Selector, frozenset[str]] = {}

    def selected(self, selector: Selector) -> frozenset[str]:
        names = self._selected.get(selector)
        if names is None:
            if len(self._selected) >= MAX_SELECTIONS:
                self._selected.clear()
            names = frozenset(name for name, labels in self.labels.items() if selector.matches(labels))
            self._selected[selector] = names
        return names


def namespaces(cluster: Cluster) -> Namespaces:
    return cluster.derived(Namespaces, "namespaces")


def namespace_labels(cluster: Cluster, namespace: str) -> Labels:
    """GetNamespaceLabelsSnapshot: no labels where there is no such Namespace."""
    return namespaces(cluster).labels.get(namespace, {})


def resolved(term: AffinityTerm, cluster: Cluster) -> PodTerm:
    """mergeAffinityTermNamespacesIfNotEmpty: a term of the incoming pod with the namespaces that its selector
    names now.

    Upstream goes on matching the selector, against no labels at all: one that these satisfy (an empty one,
    NotIn, DoesNotExist) means every namespace.
    """
    selector = term.namespace_selector
    if selector is None:
        return PodTerm(term.namespaces, term.selector)
    if selector.matches({}):
        return PodTerm(None, term.selector)
    return PodTerm(term.namespaces | namespaces(cluster).selected(selector), term.selector)


def matching_pods(cluster: Cluster, *terms: PodTerm) -> Column:
    """The pods that match all terms; terminating ones count."""
    return cluster.index(PodCounts).count(Description(terms, terminating=True))
