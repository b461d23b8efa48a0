"""Constraints for pods that state none: buildDefaultConstraints in podtopologyspread/common.go, and
pkg/scheduler/framework/plugins/helper/spread.go, v1.34."""

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.selector_table import SelectorTable
from simulator.objects.labels import Selector, label_selector, set_selector
from simulator.objects.node import ZONE
from simulator.objects.pod import Pod
from simulator.plugins.pod_topology_spread.common import (
    HOSTNAME,
    Action,
    TopologySpreadConstraint,
    constraints_of,
)

SYSTEM_DEFAULTS: Sequence[Manifest] = (
    {"topologyKey": HOSTNAME, "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 3},
    {"topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 5},
)

SELECTED_BY = {
    ("apps/v1", "ReplicaSet"): "replicasets.apps",
    ("apps/v1", "StatefulSet"): "statefulsets.apps",
}
"""Controllers whose spec.selector is a label selector."""

Services = Mapping[str, SelectorTable[Selector]]


def default_constraints(
    defaults: Sequence[Manifest], pod: Pod, cluster: Cluster, action: Action
) -> list[TopologySpreadConstraint]:
    """The defaults with the selector that fits the pod; none where there is no selector."""
    constraints = constraints_of(defaults, pod.labels, action)
    if not constraints:
        return []
    selector = default_selector(pod, cluster)
    return [] if selector.empty else [c._replace(selector=selector) for c in constraints]


def default_selector(pod: Pod, cluster: Cluster) -> Selector:
    """DefaultSelector: what the Services that select the pod, and the controller that owns it, select by."""
    wanted: dict[str, str] = {}
    services = cluster.derived(_services, "services").get(pod.namespace)
    if services is not None:
        for selector in services.candidates(pod.labels):
            if selector.matches(pod.labels):
                wanted.update((r.key, r.values[0]) for r in selector.requirements)
    owner = _controller(pod)
    if owner is None:
        return set_selector(wanted)
    kind = (owner["apiVersion"], owner["kind"])
    key = f"{pod.namespace}/{owner['name']}"
    if kind == ("v1", "ReplicationController"):
        wanted.update(_selector(cluster.objects("replicationcontrollers").get(key)) or {})
    selector = set_selector(wanted)
    resource = SELECTED_BY.get(kind)
    if resource is not None:
        owned = label_selector(_selector(cluster.objects(resource).get(key)))
        if owned is not None:
            selector = selector.with_requirements(*owned.requirements)
    return selector


def _controller(pod: Pod) -> Mapping[str, Any] | None:
    """metav1.GetControllerOf."""
    for owner in pod.manifest["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            found: Mapping[str, Any] = owner
            return found
    return None


def _selector(manifest: Manifest | None) -> dict[str, Any] | None:
    found: dict[str, Any] | None = ((manifest or {}).get("spec") or {}).get("selector")
    return found


def _services(cluster: Cluster) -> Services:
    """The selectors of all Services by namespace. One without selector selects nothing, and an empty one adds
    nothing: neither is there."""
    tables: dict[str, SelectorTable[Selector]] = {}
    for key, manifest in cluster.objects("services").items():
        labels = _selector(manifest)
        if labels:
            selector = set_selector(labels)
            tables.setdefault(key.partition("/")[0], SelectorTable()).add(selector, selector)
    return tables
