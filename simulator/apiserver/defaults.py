"""The fields that the API server, its admission plugins and the kubelet fill in, as far as scheduling looks
at them.

Each function changes the (decoded, private) manifest in place.
Upstream: pkg/apis/core/v1/defaults.go, pkg/registry/core/pod/strategy.go,
plugin/pkg/admission/defaulttolerationseconds, v1.34.
"""

from collections.abc import Callable
from typing import Any

from simulator.api import Manifest
from simulator.apiserver.pod_defaults import containers, pod_spec
from simulator.apiserver.resources import Resource
from simulator.apiserver.workload_defaults import WORKLOAD_DEFAULTS, select_own_pods
from simulator.objects import quantity
from simulator.objects.pod_requests import pod_requests, supported_at_pod_level

UNREACHABLE_SECONDS = 300
"""How long a pod stays on a node that is not ready or unreachable
(--default-not-ready-toleration-seconds)."""
NODE_PODS = "110"
"""The kubelet's default for maxPods."""


def set_defaults(resource: Resource, manifest: Manifest) -> None:
    """What every write fills in: done again, it changes nothing."""
    default = _DEFAULTS.get(resource.id)
    if default:
        default(manifest)


def complete(resource: Resource, manifest: Manifest, now: str) -> None:
    """What is filled in once, at the object's creation. ``now`` is RFC 3339."""
    if resource.id == "pods":
        _merge_all_label_keys(manifest)
    elif resource.id == "nodes":
        _report_node(manifest, now)
    elif resource.id == "jobs.batch":
        select_own_pods(manifest)


def _pod(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    pod_spec(spec)
    for container in containers(spec):
        for port in container.get("ports", ()):
            if spec.get("hostNetwork"):
                port.setdefault("hostPort", port["containerPort"])
        _requests_from_limits(container.get("resources"))
    _pod_level_requests(manifest)
    _default_tolerations(spec)


def _merge_all_label_keys(manifest: Manifest) -> None:
    spec = manifest["spec"]
    labels = manifest["metadata"].get("labels", {})
    affinity = spec.get("affinity", {})
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind, {})
        for term in terms.get("requiredDuringSchedulingIgnoredDuringExecution", ()):
            _merge_label_keys(term, labels)
        for weighted in terms.get("preferredDuringSchedulingIgnoredDuringExecution", ()):
            _merge_label_keys(weighted["podAffinityTerm"], labels)
    for constraint in spec.get("topologySpreadConstraints", ()):
        _merge_label_keys(constraint, labels)


def _requests_from_limits(resources: Manifest | None) -> None:
    if not resources:
        return
    for kind in ("limits", "requests"):
        if kind in resources:
            resources[kind] = {name: _rounded(text) for name, text in resources[kind].items()}
    if resources.get("limits"):
        resources["requests"] = resources["limits"] | resources.get("requests", {})


def _rounded(text: str) -> str:
    """Nothing finer than a thousandth is kept of a resource (SetDefaults_ResourceList)."""
    nanos = quantity.parse_text(text)
    unit = quantity.NANO // 1000
    return text if nanos % unit == 0 else f"{-(-nanos // unit)}m"


def _pod_level_requests(manifest: Manifest) -> None:
    """What the pod as a whole asks for where it states its limits: its containers' sum, else these limits."""
    resources = manifest["spec"].get("resources", {})
    limits = resources.get("limits", {})
    if not limits:
        return
    stated = resources.setdefault("requests", {})
    without = {**manifest, "spec": {**manifest["spec"], "resources": {}, "overhead": {}}}
    for name, nanos in pod_requests(without, use_status=False).items():
        if name in ("cpu", "memory") and name not in stated:
            stated[name] = _text(nanos)
    for name, text in limits.items():
        if supported_at_pod_level(name):
            stated.setdefault(name, text)


def _text(nanos: quantity.Nanos) -> str:
    whole, fraction = divmod(nanos, quantity.NANO)
    return str(whole) if not fraction else f"{quantity.milli_value(nanos)}m"


def _default_tolerations(spec: Manifest) -> None:
    """Upstream: plugin/pkg/admission/defaulttolerationseconds/admission.go."""
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


def _merge_label_keys(term: Manifest, labels: dict[str, str]) -> None:
    """matchLabelKeys become part of the selector (MatchLabelKeysInPodAffinity,
    ...InPodTopologySpreadSelectorMerge).

    Without a selector nothing is merged: such a term matches no pod."""
    selector = term.get("labelSelector")
    if selector is None:
        return
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in term.get(field, ()):
            if key in labels:
                expression = {"key": key, "operator": operator, "values": [labels[key]]}
                selector.setdefault("matchExpressions", []).append(expression)


def _node(manifest: Manifest) -> None:
    manifest.setdefault("spec", {})
    status = manifest.setdefault("status", {})
    for kind in ("capacity", "allocatable"):
        if kind in status:
            status[kind] = {resource: _rounded(text) for resource, text in status[kind].items()}
    capacity, allocatable = status.get("capacity", {}), status.get("allocatable", {})
    status["capacity"] = {"pods": NODE_PODS} | allocatable | capacity
    status["allocatable"] = {"pods": NODE_PODS} | capacity | allocatable


def _report_node(manifest: Manifest, now: str) -> None:
    """What the kubelet reports of its machine when it joins, where the manifest leaves it out."""
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


def _namespace(manifest: Manifest) -> None:
    name = manifest["metadata"].get("name")
    if name:
        manifest["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name
    manifest.setdefault("status", {}).setdefault("phase", "Active")


def _priority_class(manifest: Manifest) -> None:
    manifest.setdefault("preemptionPolicy", "PreemptLowerPriority")


def _persistent_volume(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    manifest.setdefault("status", {}).setdefault("phase", "Pending")


def _persistent_volume_claim(manifest: Manifest) -> None:
    manifest.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
    manifest.setdefault("status", {}).setdefault("phase", "Pending")


def _storage_class(manifest: Manifest) -> None:
    manifest.setdefault("reclaimPolicy", "Delete")
    manifest.setdefault("volumeBindingMode", "Immediate")


_DEFAULTS: dict[str, Callable[[Any], None]] = {
    "pods": _pod,
    "nodes": _node,
    "namespaces": _namespace,
    "priorityclasses.scheduling.k8s.io": _priority_class,
    "persistentvolumes": _persistent_volume,
    "persistentvolumeclaims": _persistent_volume_claim,
    "storageclasses.storage.k8s.io": _storage_class,
    **WORKLOAD_DEFAULTS,
}


def qos_class(manifest: Manifest) -> str:
    """A pod's quality-of-service class. Upstream: pkg/apis/core/v1/helper/qos/qos.go, v1.34."""
    spec = manifest["spec"]
    parts = (
        [spec["resources"]] if spec.get("resources") else [c.get("resources", {}) for c in containers(spec)]
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
