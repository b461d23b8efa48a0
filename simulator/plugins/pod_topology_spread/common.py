"""Topology spread constraints as filter and score need them: podtopologyspread/common.go, v1.34."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints, Rows
from simulator.cluster.pod_counts import Description, PodCounts, PodTerm
from simulator.cluster.topology import Domains
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
    """filterTopologySpreadConstraints: the constraints with this ``whenUnsatisfiable``, for a pod with these
    labels, absent fields defaulted."""
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


def pod_counts(cluster: Cluster, namespace: str, selector: Selector | None) -> Ints:
    """countPodsMatchSelector, int64[width]: pods of the namespace that the selector matches and that are not
    terminating; none where the selector is empty."""
    if selector is None or selector.empty:
        return np.zeros(cluster.width, dtype=np.int64)
    description = Description((PodTerm(frozenset((namespace,)), selector),), terminating=False)
    return cluster.index(PodCounts).count(description).counts[: cluster.width]


def with_all_keys(domains: Sequence[Domains]) -> Bools:
    """bool[width]: the nodes that have the topology keys of all constraints."""
    found = domains[0].known
    for others in domains[1:]:
        found &= others.known
    return found


def included(constraint: TopologySpreadConstraint, pod: Pod, cluster: Cluster, nodes: Bools) -> Bools:
    """matchNodeInclusionPolicies, bool[width]: those of ``nodes`` that the constraint's policies let
    count."""
    if constraint.honor_node_affinity:
        selected = required_node_affinity(pod, cluster)
        if selected is not None:
            nodes = nodes & selected
    if constraint.honor_node_taints:
        nodes = nodes & _tolerable(pod, cluster)
    return nodes


def _tolerable(pod: Pod, cluster: Cluster) -> Bools:
    """bool[width]: nodes without a taint (NoSchedule or NoExecute) that the pod does not tolerate."""

    def tolerable(taints: tuple[Taint, ...]) -> bool:
        return all(t.effect == "PreferNoSchedule" or tolerated(t, pod.tolerations) for t in taints)

    def compute(rows: Rows | slice) -> Bools:
        column: Bools = cluster.taints.table(tolerable, True, np.bool_)[
            cluster.taints.ids[: cluster.width][rows]
        ]
        return column

    found: Bools = cluster.node_column(("PodTopologySpread", pod.tolerations), compute)
    return found
