"""Admission of the subresources ``pods/binding`` and ``pods/eviction``.

Upstream: pkg/registry/core/pod/storage/storage.go (assignPod) and eviction.go, v1.34.
"""

from collections.abc import Sequence

from simulator.api import Change, Manifest, Micros
from simulator.apiserver import names
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
    invalid,
    not_supported,
    required,
)
from simulator.objects.conditions import with_condition
from simulator.objects.labels import label_selector
from simulator.objects.timestamps import timestamp


def admit_binding(pod: Manifest, binding: Manifest, now: Micros) -> Change:
    """Return the change that assigns a pod to a node. ``binding`` is decoded.

    Raises Conflict if the pod has another UID than the binding, has a node, is being deleted or has
    scheduling gates; Invalid if the target is not a node."""
    metadata, spec = pod["metadata"], pod["spec"]
    target = binding.get("target", {})
    node = target.get("name", "")
    wanted = binding.get("metadata", {}).get("uid", "")
    if target.get("kind", "Node") not in ("", "Node"):
        cause = not_supported("target.kind", target["kind"], ("Node",))
        raise Invalid("Binding", "", metadata["name"], [cause])
    if not node:
        raise Invalid("Binding", "", metadata["name"], [required("target.name")])
    if problem := names.dns_subdomain(node):
        raise Invalid("Binding", "", metadata["name"], [invalid("target.name", node, problem)])
    if wanted and wanted != metadata["uid"]:
        detail = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {metadata['uid']}"
        raise Conflict(PODS.id, metadata["name"], detail)
    if "deletionTimestamp" in metadata:
        detail = f"pod {metadata['name']} is being deleted, cannot be assigned to a host"
        raise Conflict(PODS.id, metadata["name"], detail)
    if spec.get("nodeName"):
        detail = f'pod {metadata["name"]} is already assigned to node "{spec["nodeName"]}"'
        raise Conflict(PODS.id, metadata["name"], detail)
    if spec.get("schedulingGates"):
        detail = f"pod {metadata['name']} has non-empty .spec.schedulingGates"
        raise Conflict(PODS.id, metadata["name"], detail)
    bound = with_condition({**pod, "spec": {**spec, "nodeName": node}}, now, "PodScheduled", "True")
    return Change(PODS.id, _key(metadata), bound, int(metadata["resourceVersion"]))


def admit_eviction(
    pod: Manifest, reader: Reader, now: Micros, *, grace_seconds: int | None = None
) -> Admission:
    """Return the changes that evict a pod: delete it and update its PodDisruptionBudget.

    Raises TooManyRequests if the budget allows no disruption. Budgets apply to running pods only."""
    metadata = pod["metadata"]
    waits = pod.get("status", {}).get("phase") != "Running"
    overlay = Overlay(reader)
    if not waits and "deletionTimestamp" not in metadata:
        for budget in _check_single_budget(_matching_budgets(overlay, metadata), metadata["name"]):
            overlay.put(_with_one_disruption_less(budget, metadata["name"], now))
        pod = with_condition(
            pod,
            now,
            "DisruptionTarget",
            "True",
            reason="EvictionByEvictionAPI",
            message="Eviction API: evicting",
        )
    change = admit_delete(PODS, pod, now, grace_seconds=grace_seconds)
    return Admission([*overlay.changes, *([change] if change else [])], {})


def _matching_budgets(overlay: Overlay, metadata: Manifest) -> list[Manifest]:
    """Return the budgets that select a pod. An empty selector selects all pods of the namespace."""
    found = []
    for budget in overlay.list(DISRUPTION_BUDGETS.id):
        selector = label_selector(budget.get("spec", {}).get("selector"))
        same = budget["metadata"]["namespace"] == metadata["namespace"]
        if same and selector is not None and selector.matches(metadata.get("labels", {})):
            found.append(budget)
    return found


def _check_single_budget(budgets: Sequence[Manifest], name: str) -> Sequence[Manifest]:
    if len(budgets) > 1:
        raise StatusError(
            f"{name}: this pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support"
        )
    return budgets


def _with_one_disruption_less(budget: Manifest, pod: str, now: Micros) -> Change:
    """Return the change that decrements a budget's disruptionsAllowed and adds the pod to its disruptedPods.

    The disruption controller does not count these pods as healthy until they are deleted
    (checkAndDecrement)."""
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


def _key(metadata: Manifest) -> str:
    return f"{metadata['namespace']}/{metadata['name']}"
