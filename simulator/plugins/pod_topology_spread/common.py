"""Topology spread constraints, for filtering and scoring, and those of pods without constraints of their own
(podtopologyspread/common.go and pkg/scheduler/framework/plugins/helper/spread.go)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints, Rows
from simulator.cluster.node_selectors import TopologyDomains
from simulator.cluster.other_objects import OtherObjects
from simulator.cluster.pod_counts import PodCounts, PodQuery, PodTerm
from simulator.cluster.selector_index import SelectorIndex
from simulator.objects.labels import EVERYTHING, Labels, Requirement, Selector, label_selector, set_selector
from simulator.objects.node import ZONE, Taint
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.plugins.node_affinity import required_node_affinity
from simulator.plugins.taint_toleration import tolerated

HOSTNAME = "kubernetes.io/hostname"

Action = Literal["DoNotSchedule", "ScheduleAnyway"]


class TopologySpreadConstraint(NamedTuple):
    max_skew: int
    topology_key: str
    selector: Selector | None
    min_domains: int
    honor_node_affinity: bool
    honor_node_taints: bool
    compares_taints: bool = False
    """Whether the gate COMPARISON_OPERATORS is on."""

    def matches(self, labels: Labels) -> bool:
        return self.selector is not None and self.selector.matches(labels)


def constraints_of(
    manifests: Iterable[Manifest], labels: Labels, action: Action, *, compares_taints: bool = False
) -> list[TopologySpreadConstraint]:
    """Return the constraints whose ``whenUnsatisfiable`` is ``action``, with defaults
    (filterTopologySpreadConstraints). ``labels`` are those of the pod, for matchLabelKeys."""
    return [
        _constraint(manifest, labels, compares_taints)
        for manifest in manifests
        if manifest["whenUnsatisfiable"] == action
    ]


def _constraint(manifest: Manifest, labels: Labels, compares_taints: bool) -> TopologySpreadConstraint:
    selector = label_selector(manifest.get("labelSelector"))
    keys = manifest.get("matchLabelKeys")
    if selector is not None and keys:
        selector = selector.with_requirements(
            *(Requirement(key, "In", (labels[key],)) for key in keys if key in labels)
        )
    minimum = manifest.get("minDomains")
    return TopologySpreadConstraint(
        manifest["maxSkew"],
        manifest["topologyKey"],
        selector,
        1 if minimum is None else minimum,
        (manifest.get("nodeAffinityPolicy") or "Honor") == "Honor",
        (manifest.get("nodeTaintsPolicy") or "Ignore") == "Honor",
        compares_taints,
    )


def count_pods_match_selector(cluster: Cluster, namespace: str, selector: Selector | None) -> Ints:
    """Return int64[width], the number of pods on each node that are in the namespace, match the selector and
    are not terminating; 0 if the selector is nil or empty (countPodsMatchSelector)."""
    if selector is None or selector.empty:
        return np.zeros(cluster.width, dtype=np.int64)
    query = PodQuery((PodTerm(frozenset((namespace,)), selector),), terminating=False)
    return cluster.index(PodCounts).count(query).counts[: cluster.width]


def nodes_with_all_keys(domains: Sequence[TopologyDomains]) -> Bools:
    """Return bool[width]: the nodes that have the topology keys of all domains."""
    found = domains[0].has_key
    for others in domains[1:]:
        found &= others.has_key
    return found


def match_node_inclusion_policies(
    constraint: TopologySpreadConstraint, pod: Pod, cluster: Cluster, nodes: Bools
) -> Bools:
    """Return bool[width], the subset of ``nodes`` that the constraint's nodeAffinityPolicy and
    nodeTaintsPolicy include (matchNodeInclusionPolicies)."""
    if constraint.honor_node_affinity:
        matched = required_node_affinity(pod, cluster)
        if matched is not None:
            nodes = nodes & matched
    if constraint.honor_node_taints:
        nodes = nodes & _tolerated_nodes(pod, cluster, constraint.compares_taints)
    return nodes


def _tolerated_nodes(pod: Pod, cluster: Cluster, compares: bool) -> Bools:
    """Return bool[width]: the nodes whose NoSchedule and NoExecute taints the pod tolerates."""

    def tolerable(taints: tuple[Taint, ...]) -> bool:
        return all(t.effect == "PreferNoSchedule" or tolerated(t, pod.tolerations, compares) for t in taints)

    def compute(rows: Rows | slice) -> Bools:
        column: Bools = cluster.taints.table(tolerable, True, np.bool_)[
            cluster.taints.ids[: cluster.width][rows]
        ]
        return column

    found: Bools = cluster.node_column(("PodTopologySpread", pod.tolerations, compares), compute)
    return found


SYSTEM_DEFAULTS: Sequence[Manifest] = (
    {"topologyKey": HOSTNAME, "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 3},
    {"topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 5},
)

RESOURCES_WITH_SELECTOR = {
    ("apps/v1", "ReplicaSet"): "replicasets.apps",
    ("apps/v1", "StatefulSet"): "statefulsets.apps",
}
"""The resources of the controllers whose spec.selector is a label selector, by apiVersion and kind."""

Services = Mapping[str, SelectorIndex[Selector]]


def default_constraints(
    defaults: Sequence[Manifest], pod: Pod, cluster: Cluster, action: Action
) -> list[TopologySpreadConstraint]:
    """Return the default constraints with the pod's default selector, none if this selector is empty."""
    stated = [manifest for manifest in defaults if manifest["whenUnsatisfiable"] == action]
    selector = default_selector(pod, cluster) if stated else None
    if selector is None or selector.empty:
        return []
    return [c._replace(selector=selector) for c in constraints_of(stated, pod.labels, action)]


def default_selector(pod: Pod, cluster: Cluster) -> Selector:
    """Combine the selectors of the Services that match the pod and of its controller (DefaultSelector)."""
    required: dict[str, str] = {}
    services = cluster.derived(_services, "services").get(pod.namespace)
    if services is not None:
        for selector in services.candidates(pod.labels):
            if selector.matches(pod.labels):
                required.update((r.key, r.values[0]) for r in selector.requirements)
    owner = controller_of(pod.manifest)
    if owner is None:
        return set_selector(required) if required else EVERYTHING
    kind = (owner["apiVersion"], owner["kind"])
    key = f"{pod.namespace}/{owner['name']}"
    if kind == ("v1", "ReplicationController"):
        required.update(_selector(cluster.objects("replicationcontrollers").get(key)) or {})
    selector = set_selector(required)
    resource = RESOURCES_WITH_SELECTOR.get(kind)
    if resource is not None:
        owned = label_selector(_selector(cluster.objects(resource).get(key)))
        if owned is not None:
            selector = selector.with_requirements(*owned.requirements)
    return selector


def _selector(manifest: Manifest | None) -> dict[str, Any] | None:
    found: dict[str, Any] | None = ((manifest or {}).get("spec") or {}).get("selector")
    return found


def _services(objects: OtherObjects) -> Services:
    """Return the selectors of all Services by namespace, without those that are nil or empty."""
    by_namespace: dict[str, SelectorIndex[Selector]] = {}
    for key, manifest in objects.objects("services").items():
        labels = _selector(manifest)
        if labels:
            selector = set_selector(labels)
            by_namespace.setdefault(key.partition("/")[0], SelectorIndex()).add(selector, selector)
    return by_namespace
