"""Functions for filtering and scoring: the namespaces of affinity terms and the pods that match them
(interpodaffinity/plugin.go, v1.34)."""

from simulator.cluster.cluster import Cluster
from simulator.cluster.other_objects import OtherObjects
from simulator.cluster.pod_counts import PodCounts, PodQuery, PodTerm
from simulator.cluster.row_counts import CountColumn
from simulator.objects.labels import Labels, Selector
from simulator.objects.metadata import labels_of
from simulator.objects.pod import AffinityTerm

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
