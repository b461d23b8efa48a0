"""The queueing hints of InterPodAffinity (interpodaffinity/plugin.go, v1.34)."""

from collections.abc import Iterable

from simulator.framework.cluster_event import NODE, POD, ActionType
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.objects.node import Node
from simulator.objects.pod import AffinityTerm, Pod

NO_NAMESPACE_LABELS: dict[str, str] = {}
"""The labels of namespaces for the hints: none, as upstream. A namespaceSelector that requires a label
matches no pod."""


def events_to_register() -> list[ClusterEventWithHint]:
    return [
        register(POD, ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_POD_LABEL, pod_changed),
        register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL, node_changed),
    ]


def pod_changed(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Queue if a pod on a node now matches all affinity terms of the rejected pod and did not before, or no
    longer matches all its anti-affinity terms."""
    if any(changed is not None and not changed.node_name for changed in (old, new)):
        return False
    affinity = pod.affinity
    matches_now = new is not None and matches_all(affinity.required, new)
    if old is None:
        return matches_now
    matched_anti = matches_all(affinity.required_anti, old)
    if new is None:
        return matched_anti
    return (matches_now and not matches_all(affinity.required, old)) or (
        matched_anti and not matches_all(affinity.required_anti, new)
    )


def matches_all(terms: Iterable[AffinityTerm], pod: Pod) -> bool:
    terms = tuple(terms)
    return bool(terms) and all(term.matches(pod, NO_NAMESPACE_LABELS) for term in terms)


def node_changed(pod: Pod, old: Node | None, new: Node) -> bool:
    """Queue if a domain of an affinity term gained the node, or a domain of an anti-affinity term lost it."""
    for term in pod.affinity.required:
        domain = new.labels.get(term.topology_key)
        if domain is not None and (old is None or old.labels.get(term.topology_key) != domain):
            return True
    for term in pod.affinity.required_anti:
        if old is None:
            return True
        domain = old.labels.get(term.topology_key)
        if domain is not None and new.labels.get(term.topology_key) != domain:
            return True
    return False
