"""Admission of the subresources ``pods/binding`` and ``pods/eviction``.

Upstream: BindingREST and assignPod in pkg/registry/core/pod/storage/storage.go, eviction.go beside it, and
ValidatePodBinding in pkg/apis/core/validation/validation.go."""

from collections.abc import Sequence

from msgspec.structs import replace

from simulator.api import Admission, Change, Manifest, Micros
from simulator.apiserver.admission_plugins.pod_topology_labels import TOPOLOGY_LABELS_GATE, topology_labels
from simulator.apiserver.component_writes import Propagation
from simulator.apiserver.deletion import admit_delete, deletion_changes
from simulator.apiserver.overlay import Overlay, Reader
from simulator.apiserver.preconditions import check_stored_identity
from simulator.apiserver.resources import DISRUPTION_BUDGETS, NODES, PODS
from simulator.apiserver.served_features import enabled
from simulator.apiserver.status import (
    Cause,
    Conflict,
    Forbidden,
    PlainError,
    TooManyRequests,
    not_supported,
    required,
)
from simulator.objects.conditions import condition, is_condition_true, with_condition, with_meta_condition
from simulator.objects.labels import label_selector
from simulator.objects.metadata import (
    annotations_of,
    is_terminating,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    version_of,
    with_metadata,
)
from simulator.objects.status import status_of, with_status
from simulator.objects.timestamps import timestamp

BINDING_RESOURCE = "pods/binding"
"""The resource that a Conflict names (upstream it is written as one word)."""
RETRY_SECONDS = 10
"""Seconds after which a client may ask again while the status of a budget is not up to date."""
MAX_DISRUPTED_PODS = 2_000
"""The maximum number of disrupted pods in a status (MaxDisruptedPodSize)."""


def admit_binding(pod: Manifest, binding: Manifest, reader: Reader, now: Micros) -> Change:
    """Return the change that assigns a pod to a node. ``binding`` is decoded.

    The pod gets the annotations of the binding; with the gate PodTopologyLabelsAdmission its labels, too, and
    those of the node's topology. With ClearingNominatedNodeNameAfterBinding its nomination ends. Raises
    PlainError if the target is not a node; Conflict if the pod has another UID or version than the binding,
    has a node, is being deleted or has scheduling gates."""
    metadata = binding.get("metadata", {})
    faults = _validate_target(binding.get("target", {}))
    if faults:
        raise PlainError(str(faults[0]) if len(faults) == 1 else f"[{', '.join(map(str, faults))}]")
    name = pod["metadata"]["name"]
    check_stored_identity(PODS, pod, metadata.get("uid", ""), metadata.get("resourceVersion", ""))
    node = pod["spec"].get("nodeName")
    if is_terminating(pod):
        detail = f"pod {name} is being deleted, cannot be assigned to a host"
    elif node:
        detail = f'pod {name} is already assigned to node "{node}"'
    elif pod["spec"].get("schedulingGates"):
        detail = f"pod {name} has non-empty .spec.schedulingGates"
    else:
        bound = {**pod, "spec": {**pod["spec"], "nodeName": binding["target"]["name"]}}
        if metadata.get("annotations"):
            bound = with_metadata(bound, annotations={**annotations_of(pod), **metadata["annotations"]})
        if enabled(TOPOLOGY_LABELS_GATE):
            bound = _with_labels(bound, binding, reader)
        bound = with_condition(bound, now, "PodScheduled", "True", observes=False)
        if enabled("ClearingNominatedNodeNameAfterBinding") and status_of(bound).get("nominatedNodeName"):
            bound = with_status(bound, nominatedNodeName=None)
        return Change(PODS.id, key_of(pod), bound, version_of(pod))
    raise Conflict(BINDING_RESOURCE, name, detail)


def _with_labels(pod: Manifest, binding: Manifest, reader: Reader) -> Manifest:
    """Return the pod with the labels of a binding, which have those of the node's topology by then."""
    nodes = reader.find(NODES.id, binding["target"]["name"]).items if binding["target"].get("kind") else ()
    found = (binding.get("metadata") or {}).get("labels") or {}
    for node in nodes:
        found = {**found, **topology_labels(node)}
    return with_metadata(pod, labels={**labels_of(pod), **found}) if found else pod


def _validate_target(target: Manifest) -> list[Cause]:
    """Return the faults of the target. It may be a node that does not exist; its name is not checked."""
    faults = []
    if target.get("kind", "") not in ("", "Node"):
        choices = ("Node", "<empty>")
        faults.append(not_supported("target.kind", target["kind"], choices, as_given=True))
    if not target.get("name"):
        faults.append(required("target.name"))
    return faults


def admit_eviction(
    pod: Manifest,
    reader: Reader,
    now: Micros,
    *,
    grace_seconds: int | None = None,
    propagation: Propagation | None = None,
) -> Admission:
    """Return the changes that evict a pod: update its PodDisruptionBudget, add a condition to it, delete it.

    Raises TooManyRequests if the budget allows no disruption. Budgets apply neither to pods that have not
    started or have ended, nor to those that are being deleted."""
    overlay = Overlay(reader)
    if status_of(pod).get("phase") not in ("Pending", "Succeeded", "Failed") and not is_terminating(pod):
        for budget in _check_single_budget(_matching_budgets(overlay, pod)):
            if is_condition_true(pod, "Ready") or not _allows_unhealthy(budget):
                overlay.put(_with_one_disruption_less(budget, name_of(pod), now))
    changes = [*overlay.changes]
    marked = with_condition(
        pod,
        now,
        "DisruptionTarget",
        "True",
        reason="EvictionByEvictionAPI",
        message="Eviction API: evicting",
        observes=False,
    )
    if marked is not pod:
        changes.append(Change(PODS.id, key_of(pod), marked, version_of(pod)))
    deletion = admit_delete(PODS, marked, now, grace_seconds=grace_seconds, propagation=propagation)
    if deletion is not None:
        expected = version_of(pod) if marked is pod else None
        changes += deletion_changes(PODS, marked, replace(deletion, expected=expected), now)
    return Admission(changes, {})


def _matching_budgets(overlay: Overlay, pod: Manifest) -> list[Manifest]:
    """Return the budgets that select a pod. An empty selector selects all pods of the namespace."""
    found = []
    for budget in overlay.peek(DISRUPTION_BUDGETS.id, namespace_of(pod)):
        selector = label_selector(budget.get("spec", {}).get("selector"))
        if selector is not None and selector.matches(labels_of(pod)):
            found.append(budget)
    return found


def _check_single_budget(budgets: Sequence[Manifest]) -> Sequence[Manifest]:
    if len(budgets) > 1:
        raise PlainError(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    return budgets


def _allows_unhealthy(budget: Manifest) -> bool:
    """Whether a pod that is not ready may be evicted without counting as a disruption: the budget allows it
    always, or it has as many healthy pods as it needs."""
    if budget.get("spec", {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    desired: int = status_of(budget).get("desiredHealthy", 0)
    return bool(status_of(budget).get("currentHealthy", 0) >= desired > 0)


def _with_one_disruption_less(budget: Manifest, pod: str, now: Micros) -> Change:
    """Return the change that decrements a budget's disruptionsAllowed and adds the pod to its disruptedPods.

    The disruption controller does not count these pods as healthy until they are deleted
    (checkAndDecrement)."""
    status, name = status_of(budget), name_of(budget)
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _violation(
            f"The disruption budget {name} is still being processed by the server.", RETRY_SECONDS
        )
    allowed, disrupted = status.get("disruptionsAllowed", 0), status.get("disruptedPods", {})
    if allowed < 0:
        raise Forbidden("poddisruptionbudget.policy", name, "pdb disruptions allowed is negative")
    if len(disrupted) > MAX_DISRUPTED_PODS:
        detail = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise Forbidden("poddisruptionbudget.policy", name, detail)
    if allowed == 0:
        state = condition(budget, "DisruptionAllowed")
        if state is not None and state.get("reason") == "SyncFailed":
            reason = (
                f"does not allow evicting pods currently because it failed sync: {state.get('message', '')}"
            )
        else:
            needed, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
            reason = f"needs {needed} healthy pods and has {healthy} currently"
        raise _violation(f"The disruption budget {name} {reason}")
    drawn = with_status(
        budget, disruptionsAllowed=allowed - 1, disruptedPods={**disrupted, pod: timestamp(now)}
    )
    if allowed == 1:
        drawn = with_meta_condition(drawn, now, "DisruptionAllowed", "False", reason="InsufficientPods")
    return Change(DISRUPTION_BUDGETS.id, key_of(budget), drawn, version_of(budget))


def _violation(detail: str, retry_after_seconds: int = 0) -> TooManyRequests:
    error = TooManyRequests(
        "Cannot evict pod as it would violate the pod's disruption budget.",
        causes=[Cause("", detail, "DisruptionBudget")],
    )
    error.retry_after_seconds = retry_after_seconds
    return error
