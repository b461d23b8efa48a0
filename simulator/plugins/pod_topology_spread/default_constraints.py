"""Default constraints, for pods without constraints of their own (buildDefaultConstraints in
podtopologyspread/common.go, and pkg/scheduler/framework/plugins/helper/spread.go, v1.34)."""

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.other_objects import OtherObjects
from simulator.cluster.selector_index import SelectorIndex
from simulator.objects.labels import Selector, label_selector, set_selector
from simulator.objects.node import ZONE
from simulator.objects.owner_references import controller_of
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
    constraints = constraints_of(defaults, pod.labels, action)
    if not constraints:
        return []
    selector = default_selector(pod, cluster)
    return [] if selector.empty else [c._replace(selector=selector) for c in constraints]


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
        return set_selector(required)
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
