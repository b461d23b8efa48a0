"""Defaults that the API server, its admission plugins and the kubelet set, for the fields that scheduling
depends on.

Each function changes the manifest in place. The manifest must be decoded, and a copy of the caller's own.
Upstream: pkg/apis/core/v1/defaults.go, pkg/registry/core/pod/strategy.go,
plugin/pkg/admission/defaulttolerationseconds, v1.34.
"""

from collections.abc import Callable
from typing import Any

from simulator.api import Manifest
from simulator.apiserver.pod_defaults import all_containers, set_pod_spec_defaults
from simulator.apiserver.resources import Resource
from simulator.apiserver.workload_defaults import WORKLOAD_DEFAULTS, select_own_pods
from simulator.objects import quantity
from simulator.objects.pod_requests import pod_requests, supported_at_pod_level

UNREACHABLE_SECONDS = 300
"""How long a pod stays on a node that is not ready or unreachable: the default of kube-apiserver's
--default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds."""
NODE_PODS = "110"
"""The kubelet's default for maxPods."""


def set_defaults(resource: Resource, manifest: Manifest) -> None:
    """Set the defaults that every write sets. Idempotent."""
    default = _DEFAULTS.get(resource.id)
    if default:
        default(manifest)


def prepare_for_create(resource: Resource, manifest: Manifest, now: str) -> None:
    """Set the fields that are set once, when the object is created (PrepareForCreate). ``now`` is RFC
    3339."""
    if resource.id == "pods":
        _merge_label_keys_of_pod(manifest)
    elif resource.id == "nodes":
        _set_kubelet_defaults(manifest, now)
    elif resource.id == "jobs.batch":
        select_own_pods(manifest)


def _default_pod(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    set_pod_spec_defaults(spec)
    for container in all_containers(spec):
        for port in container.get("ports", ()):
            if spec.get("hostNetwork"):
                port.setdefault("hostPort", port["containerPort"])
        _set_requests_from_limits(container.get("resources"))
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
            resources[kind] = {name: _round_up_to_milli(text) for name, text in resources[kind].items()}
    if resources.get("limits"):
        resources["requests"] = resources["limits"] | resources.get("requests", {})


def _round_up_to_milli(text: str) -> str:
    """Round a quantity up to a multiple of 1/1000 (SetDefaults_ResourceList)."""
    nanos = quantity.parse_text(text)
    unit = quantity.NANO // 1000
    return text if nanos % unit == 0 else f"{-(-nanos // unit)}m"


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


def _default_node(manifest: Manifest) -> None:
    manifest.setdefault("spec", {})
    status = manifest.setdefault("status", {})
    for kind in ("capacity", "allocatable"):
        if kind in status:
            status[kind] = {resource: _round_up_to_milli(text) for resource, text in status[kind].items()}
    capacity, allocatable = status.get("capacity", {}), status.get("allocatable", {})
    status["capacity"] = {"pods": NODE_PODS} | allocatable | capacity
    status["allocatable"] = {"pods": NODE_PODS} | capacity | allocatable


def _set_kubelet_defaults(manifest: Manifest, now: str) -> None:
    """Set the labels and the condition Ready that a kubelet reports when its node joins, unless the manifest
    has them."""
    labels = manifest["metadata"].setdefault("labels", {})
    labels.setdefault("kubernetes.io/hostname", manifest["metadata"].get("name", ""))
    labels.setdefault("kubernetes.io/os", "linux")
    labels.setdefault("kubernetes.io/arch", "amd64")
    ready = {
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "kubelet is posting ready status",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
    conditions = manifest["status"].setdefault("conditions", [])
    if not any(condition.get("type") == "Ready" for condition in conditions):
        conditions.append(ready)


def _default_namespace(manifest: Manifest) -> None:
    name = manifest["metadata"].get("name")
    if name:
        manifest["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name
    manifest.setdefault("status", {}).setdefault("phase", "Active")


def _default_priority_class(manifest: Manifest) -> None:
    manifest.setdefault("preemptionPolicy", "PreemptLowerPriority")


def _default_persistent_volume(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    manifest.setdefault("status", {}).setdefault("phase", "Pending")


def _default_persistent_volume_claim(manifest: Manifest) -> None:
    manifest.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
    manifest.setdefault("status", {}).setdefault("phase", "Pending")


def _default_disruption_budget(manifest: Manifest) -> None:
    """Set the spec. Upstream it is not a pointer: a missing spec is an empty one, which selects no pod."""
    manifest.setdefault("spec", {})


def _default_storage_class(manifest: Manifest) -> None:
    manifest.setdefault("reclaimPolicy", "Delete")
    manifest.setdefault("volumeBindingMode", "Immediate")


_DEFAULTS: dict[str, Callable[[Any], None]] = {
    "pods": _default_pod,
    "nodes": _default_node,
    "namespaces": _default_namespace,
    "priorityclasses.scheduling.k8s.io": _default_priority_class,
    "persistentvolumes": _default_persistent_volume,
    "persistentvolumeclaims": _default_persistent_volume_claim,
    "storageclasses.storage.k8s.io": _default_storage_class,
    "poddisruptionbudgets.policy": _default_disruption_budget,
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
