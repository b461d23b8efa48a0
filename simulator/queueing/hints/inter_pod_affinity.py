"""InterPodAffinity (pkg/scheduler/framework/plugins/interpodaffinity/plugin.go, v1.34)."""

from collections.abc import Iterable
from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.objects.node import Node
from simulator.objects.pod import AffinityTerm, Pod
from simulator.queueing.cluster_event import NODE, POD, ActionType
from simulator.queueing.hint import Registered, register

UNRESOLVED: dict[str, str] = {}
"""The hints do not look up namespaces' labels: a namespaceSelector that asks for some matches nothing."""


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    return [
        register(POD, ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_POD_LABEL, pod_changed),
        register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL, node_changed),
    ]


def pod_changed(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Queue when another pod has come to meet all affinity terms, or ceased to meet all anti-affinity terms:
    one pod must meet them all, as in the filter."""
    if any(changed is not None and not changed.node_name for changed in (old, new)):
        return False
    affinity = pod.affinity
    came_to_match = new is not None and meets_all(affinity.required, new)
    if old is None:
        return came_to_match
    ceased_to_match = meets_all(affinity.required_anti, old)
    if new is None:
        return ceased_to_match
    return (came_to_match and not meets_all(affinity.required, old)) or (
        ceased_to_match and not meets_all(affinity.required_anti, new)
    )


def meets_all(terms: Iterable[AffinityTerm], pod: Pod) -> bool:
    terms = tuple(terms)
    return bool(terms) and all(term.matches(pod, UNRESOLVED) for term in terms)


def node_changed(pod: Pod, old: Node | None, new: Node) -> bool:
    """Queue when a domain of some affinity term has gained the node, or one of an anti-affinity term lost
    it."""
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
