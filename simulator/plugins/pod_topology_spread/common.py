"""Topology spread constraints, for filtering and scoring (podtopologyspread/common.go, v1.34)."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints, Rows
from simulator.cluster.pod_counts import PodCounts, PodQuery, PodTerm
from simulator.cluster.topology import TopologyDomains
from simulator.objects.labels import Labels, Requirement, Selector, label_selector
from simulator.objects.node import Taint
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

    def matches(self, labels: Labels) -> bool:
        return self.selector is not None and self.selector.matches(labels)


def constraints_of(
    manifests: Iterable[Manifest], labels: Labels, action: Action
) -> list[TopologySpreadConstraint]:
    """Return the constraints whose ``whenUnsatisfiable`` is ``action``, with defaults
    (filterTopologySpreadConstraints). ``labels`` are those of the pod, for matchLabelKeys."""
    return [
        _constraint(manifest, labels) for manifest in manifests if manifest["whenUnsatisfiable"] == action
    ]


def _constraint(manifest: Manifest, labels: Labels) -> TopologySpreadConstraint:
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
        nodes = nodes & _tolerated_nodes(pod, cluster)
    return nodes


def _tolerated_nodes(pod: Pod, cluster: Cluster) -> Bools:
    """Return bool[width]: the nodes whose NoSchedule and NoExecute taints the pod tolerates."""

    def tolerable(taints: tuple[Taint, ...]) -> bool:
        return all(t.effect == "PreferNoSchedule" or tolerated(t, pod.tolerations) for t in taints)

    def compute(rows: Rows | slice) -> Bools:
        column: Bools = cluster.taints.table(tolerable, True, np.bool_)[
            cluster.taints.ids[: cluster.width][rows]
        ]
        return column

    found: Bools = cluster.node_column(("PodTopologySpread", pod.tolerations), compute)
    return found
