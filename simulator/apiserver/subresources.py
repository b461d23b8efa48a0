"""``pods/binding`` and ``pods/eviction``.

Upstream: pkg/registry/core/pod/storage/storage.go (assignPod) and eviction.go, v1.34.
"""

from collections.abc import Sequence

from simulator.api import Change, Manifest, Micros
from simulator.apiserver.admission import Admission
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.overlay import Overlay, Reader
from simulator.apiserver.resources import DISRUPTION_BUDGETS, PODS
from simulator.apiserver.status import (
    Cause,
    Conflict,
    Invalid,
    StatusError,
    TooManyRequests,
    not_supported,
    required,
)
from simulator.apiserver.timestamps import timestamp
from simulator.objects.labels import label_selector


def admit_binding(pod: Manifest, binding: Manifest, now: Micros) -> Change:
    """Assign a pod to a node. Raises Conflict for a pod that has one, is being deleted, or is gated."""
    metadata, spec = pod["metadata"], pod["spec"]
    target = binding.get("target") or {}
    node = target.get("name")
    if target.get("kind", "Node") not in ("", "Node"):
        cause = not_supported("target.kind", target["kind"], ("Node",))
        raise Invalid("Binding", "", metadata["name"], [cause])
    if not node:
        raise Invalid("Binding", "", metadata["name"], [required("target.name")])
    if "deletionTimestamp" in metadata:
        detail = f"pod {metadata['name']} is being deleted, cannot be assigned to a host"
        raise Conflict(PODS.id, metadata["name"], detail)
    if spec.get("nodeName"):
        detail = f'pod {metadata["name"]} is already assigned to node "{spec["nodeName"]}"'
        raise Conflict(PODS.id, metadata["name"], detail)
    if spec.get("schedulingGates"):
        detail = f"pod {metadata['name']} has non-empty .spec.schedulingGates"
        raise Conflict(PODS.id, metadata["name"], detail)
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": timestamp(now)}
    status = {**pod.get("status", {}), "conditions": _with_condition(pod, scheduled)}
    bound = {**pod, "spec": {**spec, "nodeName": node}, "status": status}
    return Change(PODS.id, _key(metadata), bound, int(metadata["resourceVersion"]))


def admit_eviction(
    pod: Manifest, reader: Reader, now: Micros, *, grace_seconds: int | None = None
) -> Admission:
    """Delete a pod unless a PodDisruptionBudget forbids it. Raises TooManyRequests then."""
    metadata = pod["metadata"]
    waits = pod.get("status", {}).get("phase") != "Running"
    overlay = Overlay(reader)
    if not waits and "deletionTimestamp" not in metadata:
        for budget in _one(_budgets(overlay, metadata), metadata["name"]):
            overlay.put(_drawn_down(budget, metadata["name"], now))
        disrupted = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
            "lastTransitionTime": timestamp(now),
        }
        status = {**pod["status"], "conditions": _with_condition(pod, disrupted)}
        pod = {**pod, "status": status}
    change = admit_delete(PODS, pod, now, grace_seconds=grace_seconds)
    return Admission([*overlay.changes, *([change] if change else [])], {})


def _budgets(overlay: Overlay, metadata: Manifest) -> list[Manifest]:
    """The budgets that cover a pod. An empty selector covers the whole namespace."""
    found = []
    for budget in overlay.list(DISRUPTION_BUDGETS.id):
        selector = label_selector(budget.get("spec", {}).get("selector"))
        same = budget["metadata"]["namespace"] == metadata["namespace"]
        if same and selector is not None and selector.matches(metadata.get("labels", {})):
            found.append(budget)
    return found


def _one(budgets: Sequence[Manifest], name: str) -> Sequence[Manifest]:
    if len(budgets) > 1:
        raise StatusError(
            f"{name}: this pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support"
        )
    return budgets


def _drawn_down(budget: Manifest, pod: str, now: Micros) -> Change:
    """One disruption less is allowed; the disruption controller counts the pod out until it is gone."""
    metadata, status = budget["metadata"], budget.get("status", {})
    allowed = status.get("disruptionsAllowed", 0)
    if allowed <= 0:
        cause = Cause(
            "",
            f"The disruption budget {metadata['name']} needs {status.get('desiredHealthy', 0)} healthy pods "
            f"and has {status.get('currentHealthy', 0)} currently",
            "DisruptionBudget",
        )
        raise TooManyRequests(
            "Cannot evict pod as it would violate the pod's disruption budget.", causes=[cause]
        )
    drawn = {
        **status,
        "disruptionsAllowed": allowed - 1,
        "disruptedPods": {**status.get("disruptedPods", {}), pod: timestamp(now)},
    }
    key = f"{metadata['namespace']}/{metadata['name']}"
    return Change(DISRUPTION_BUDGETS.id, key, {**budget, "status": drawn}, int(metadata["resourceVersion"]))


def _with_condition(pod: Manifest, condition: Manifest) -> list[Manifest]:
    kept = [item for item in pod.get("status", {}).get("conditions", ()) if item["type"] != condition["type"]]
    return [*kept, condition]


def _key(metadata: Manifest) -> str:
    return f"{metadata['namespace']}/{metadata['name']}"
