"""Defaults that the API server and its admission plugins set.

Each function changes the manifest in place. The manifest must be decoded, and a copy of the caller's own.
Upstream: pkg/apis/core/v1/defaults.go, pkg/registry/core/pod/strategy.go,
plugin/pkg/admission/defaulttolerationseconds, v1.34.
"""

from collections.abc import Callable
from typing import Any

from simulator.api import Manifest
from simulator.apiserver.custom_resources.resource_schema import set_custom_defaults
from simulator.apiserver.disabled_fields import drop_disabled_fields
from simulator.apiserver.further_defaults import FURTHER_DEFAULTS
from simulator.apiserver.network_defaults import NETWORK_DEFAULTS
from simulator.apiserver.node_defaults import set_node_defaults
from simulator.apiserver.pod_defaults import all_containers, set_pod_spec_defaults
from simulator.apiserver.pod_profiles import copy_app_armor_annotations
from simulator.apiserver.resource_lists import round_up_to_milli
from simulator.apiserver.resources import Resource
from simulator.apiserver.status_defaults import set_status_defaults
from simulator.apiserver.storage_defaults import STORAGE_DEFAULTS
from simulator.apiserver.storage_protection import protect
from simulator.apiserver.workload_defaults import WORKLOAD_DEFAULTS, number_template, select_own_pods
from simulator.objects import quantity
from simulator.objects.pod_requests import pod_requests, supported_at_pod_level

NAMESPACE_FINALIZER = "kubernetes"
"""The finalizer in the spec of a namespace. The namespace controller removes it when the namespace is
empty."""
UNREACHABLE_SECONDS = 300
"""Seconds for which a pod stays on a node that is not ready or unreachable: the default of kube-apiserver's
--default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds."""


def set_defaults(resource: Resource, manifest: Manifest) -> None:
    """Set the defaults that every write sets, after the fields that are disabled are dropped. Idempotent."""
    drop_disabled_fields(resource.id, manifest)
    default = _DEFAULTS.get(resource.id)
    if default:
        default(manifest)
    set_custom_defaults(resource, manifest)
    set_status_defaults(resource.id, manifest)


def prepare_for_create(resource: Resource, manifest: Manifest, now: str) -> None:
    """Set the fields that are set once, when the object is created (PrepareForCreate). ``now`` is RFC
    3339."""
    protect(resource.id, manifest)
    match resource.id:
        case "pods":
            _merge_label_keys_of_pod(manifest)
            copy_app_armor_annotations(manifest)
        case "jobs.batch":
            select_own_pods(manifest)
        case "daemonsets.apps":
            number_template(manifest)
        case "namespaces":
            finalizers = manifest["spec"].get("finalizers", [])
            missing = [each for each in (NAMESPACE_FINALIZER,) if each not in finalizers]
            manifest["spec"]["finalizers"] = [*finalizers, *missing]
        case "persistentvolumes":
            manifest["status"]["lastPhaseTransitionTime"] = now


def _default_pod(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    set_pod_spec_defaults(spec)
    spec.setdefault("enableServiceLinks", True)
    for container in all_containers(spec):
        if spec.get("hostNetwork"):
            for port in container.get("ports", ()):
                port.setdefault("hostPort", port["containerPort"])
        _set_requests_from_limits(container["resources"])
    _set_pod_level_requests(manifest)
    _add_default_tolerations(spec)


def _merge_label_keys_of_pod(manifest: Manifest) -> None:
    spec = manifest["spec"]
    labels = manifest["metadata"].get("labels", {})
    affinity = spec.get("affinity", {})
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind, {})
        for term in terms.get("requiredDuringSchedulingIgnoredDuringExecution", ()):
            _merge_label_keys_of_term(term, labels)
        for weighted in terms.get("preferredDuringSchedulingIgnoredDuringExecution", ()):
            _merge_label_keys_of_term(weighted["podAffinityTerm"], labels)
    for constraint in spec.get("topologySpreadConstraints", ()):
        _merge_label_keys_of_term(constraint, labels)


def _set_requests_from_limits(resources: Manifest | None) -> None:
    if not resources:
        return
    for kind in ("limits", "requests"):
        if kind in resources:
            resources[kind] = round_up_to_milli(resources[kind])
    if resources.get("limits"):
        resources["requests"] = resources["limits"] | resources.get("requests", {})


def _set_pod_level_requests(manifest: Manifest) -> None:
    """Set the pod-level requests of a pod with pod-level limits: the sum of its containers' requests where
    they have any, otherwise the limits (defaultPodRequests)."""
    resources = manifest["spec"].get("resources", {})
    limits = resources.get("limits", {})
    if not limits:
        return
    stated = resources.setdefault("requests", {})
    without = {**manifest, "spec": {**manifest["spec"], "resources": {}, "overhead": {}}}
    for name, nanos in pod_requests(without, use_status=False).items():
        if name in ("cpu", "memory") and name not in stated:
            stated[name] = _quantity_text(nanos)
    for name, text in limits.items():
        if supported_at_pod_level(name):
            stated.setdefault(name, text)


def _quantity_text(nanos: quantity.Nanos) -> str:
    whole, fraction = divmod(nanos, quantity.NANO)
    return str(whole) if not fraction else f"{quantity.milli_value(nanos)}m"


def _add_default_tolerations(spec: Manifest) -> None:
    """Add the tolerations for the taints not-ready and unreachable, unless the pod has its own.

    Upstream: plugin/pkg/admission/defaulttolerationseconds/admission.go."""
    tolerations = spec.setdefault("tolerations", [])
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(
            toleration.get("key", "") in (key, "") and toleration.get("effect", "") in ("NoExecute", "")
            for toleration in tolerations
        ):
            tolerations.append(
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": UNREACHABLE_SECONDS,
                }
            )


def _merge_label_keys_of_term(term: Manifest, labels: dict[str, str]) -> None:
    """Add matchLabelKeys and mismatchLabelKeys to the term's label selector (feature gates
    MatchLabelKeysInPodAffinity and MatchLabelKeysInPodTopologySpreadSelectorMerge).

    A term without a selector is not changed, because it matches no pod."""
    selector = term.get("labelSelector")
    if selector is None:
        return
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in term.get(field, ()):
            if key in labels:
                expression = {"key": key, "operator": operator, "values": [labels[key]]}
                selector.setdefault("matchExpressions", []).append(expression)


_DEFAULTS: dict[str, Callable[[Any], None]] = {
    "pods": _default_pod,
    "nodes": set_node_defaults,
    **FURTHER_DEFAULTS,
    **NETWORK_DEFAULTS,
    **STORAGE_DEFAULTS,
    **WORKLOAD_DEFAULTS,
}


def qos_class(manifest: Manifest) -> str:
    """Return a pod's quality-of-service class. Upstream: ComputePodQOS in pkg/apis/core/v1/helper/qos/qos.go,
    v1.34."""
    spec = manifest["spec"]
    parts = (
        [spec["resources"]]
        if spec.get("resources")
        else [c.get("resources", {}) for c in all_containers(spec)]
    )
    counted = [
        {
            name: quantity.parse_text(text)
            for name, text in part.get(kind, {}).items()
            if name in ("cpu", "memory") and quantity.parse_text(text) > 0
        }
        for part in parts
        for kind in ("requests", "limits")
    ]
    if not any(counted):
        return "BestEffort"
    requests, limits = counted[::2], counted[1::2]
    if all(limit.keys() == {"cpu", "memory"} for limit in limits) and requests == limits:
        return "Guaranteed"
    return "Burstable"
