"""Validation of updates: which fields may change.

Upstream: ValidatePodUpdate and the other Validate...Update functions in pkg/apis/*/validation, v1.34."""

import copy
from collections.abc import Callable, Iterator

from simulator.api import Manifest
from simulator.apiserver.pod_subresource_validation import (
    validate_ephemeral_containers_update,
    validate_resize,
)
from simulator.apiserver.resources import Resource
from simulator.apiserver.status import Cause, forbidden, invalid
from simulator.apiserver.status_validation import validate_status_update
from simulator.apiserver.workload_validation import WORKLOAD_CHECKS, validate_workload_update

POD_UPDATE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def validate_update(resource: Resource, new: Manifest, old: Manifest, subresource: str = "") -> list[Cause]:
    """Return the faults of an update, in addition to those that :func:`validation.validate` finds in the new
    object."""
    return [*_finalizers(new, old), *_faults(resource, new, old, subresource)]


def _faults(resource: Resource, new: Manifest, old: Manifest, subresource: str) -> Iterator[Cause]:
    match subresource:
        case "status":
            return validate_status_update(resource, new, old)
        case "ephemeralcontainers":
            return validate_ephemeral_containers_update(new, old)
        case "resize":
            return validate_resize(new, old)
    check = _CHECKS.get(resource.id) if not subresource else None
    return check(new, old) if check else iter(())


def _finalizers(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """ValidateNoNewFinalizers in apimachinery/pkg/api/validation/objectmeta.go."""
    if "deletionTimestamp" in old["metadata"]:
        known = old["metadata"].get("finalizers", ())
        added = [name for name in new["metadata"].get("finalizers", ()) if name not in known]
        if added:
            shown = ", ".join(f'"{name}"' for name in sorted(added))
            fault = forbidden(
                "metadata.finalizers",
                "no new finalizers can be added if the object is being deleted, found new finalizers "
                f"[]string{{{shown}}}",
            )
            # Once by BeforeUpdate (apiserver/pkg/registry/rest/update.go), once by the kind's validation.
            yield from (fault, fault)


def _validate_pod_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    after, before = new["spec"], old["spec"]
    if len(after["containers"]) != len(before["containers"]):
        yield forbidden("spec.containers", "pod updates may not add or remove containers")
        return
    if len(after.get("initContainers", ())) != len(before.get("initContainers", ())):
        yield forbidden("spec.initContainers", "pod updates may not add or remove containers")
        return
    yield from _deadline(after, before)
    yield from _tolerations(after, before)
    yield from _gates(after, before)
    allowed = copy.deepcopy(after)
    for field in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        _restore(allowed, before, field)
    for field in ("containers", "initContainers"):
        for container, original in zip(allowed.get(field, ()), before.get(field, ()), strict=True):
            _restore(container, original, "image")
    if before.get("schedulingGates"):
        yield from _gated_placement(allowed, before)
    if allowed != before:
        changed = sorted(
            field for field in allowed.keys() | before.keys() if allowed.get(field) != before.get(field)
        )
        yield forbidden("spec", f"{POD_UPDATE}; changed: {', '.join(changed)}")


def _restore(new: Manifest, old: Manifest, field: str) -> None:
    if field in old:
        new[field] = old[field]
    else:
        new.pop(field, None)


def _deadline(after: Manifest, before: Manifest) -> Iterator[Cause]:
    new, old = after.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if old is not None and (new is None or new > old):
        detail = f"must be less than or equal to previous value {old}"
        yield invalid("spec.activeDeadlineSeconds", new, detail)


def _tolerations(after: Manifest, before: Manifest) -> Iterator[Cause]:
    """Tolerations may be added. Of existing ones only tolerationSeconds may change."""
    kept = [{**item, "tolerationSeconds": None} for item in after.get("tolerations", ())]
    if any({**item, "tolerationSeconds": None} not in kept for item in before.get("tolerations", ())):
        yield forbidden(
            "spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"
        )


def _gates(after: Manifest, before: Manifest) -> Iterator[Cause]:
    known = [gate["name"] for gate in before.get("schedulingGates", ())]
    for index, gate in enumerate(after.get("schedulingGates", ())):
        if gate["name"] not in known:
            detail = "only deletion is allowed, but found new scheduling gate"
            yield forbidden(f"spec.schedulingGates[{index}]", detail)


def _gated_placement(allowed: Manifest, before: Manifest) -> Iterator[Cause]:
    """While a pod has scheduling gates, nodeSelector may be extended, and node affinity may be set if it had
    none. Restores these fields in ``allowed`` where the change is permitted."""
    selector = before.get("nodeSelector", {})
    if selector.items() <= allowed.get("nodeSelector", {}).items():
        _restore(allowed, before, "nodeSelector")
    else:
        yield invalid("spec.nodeSelector", allowed.get("nodeSelector", {}), "only additions are allowed")
        _restore(allowed, before, "nodeSelector")
    old_affinity = before.get("affinity", {}).get("nodeAffinity", {})
    if not old_affinity and "affinity" in allowed:
        allowed["affinity"].pop("nodeAffinity", None)
        if not allowed["affinity"] and "affinity" not in before:
            del allowed["affinity"]


def _validate_priority_class_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    if new["value"] != old["value"]:
        yield forbidden("value", "may not be changed in an update.")
    yield from _immutable(new, old, "preemptionPolicy")


def _validate_storage_class_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    for field in ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"):
        if new.get(field) != old.get(field):
            yield forbidden(field, f"updates to {field} are forbidden.")


def _claim(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """The requested storage may change, and the volume name if it was not set."""
    after, before = {**new["spec"], "resources": None}, {**old["spec"], "resources": None}
    if not before.get("volumeName"):
        after.pop("volumeName", None)
        before.pop("volumeName", None)
    if after != before:
        yield forbidden(
            "spec",
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for "
            "bound claims",
        )


def _revision(new: Manifest, old: Manifest) -> Iterator[Cause]:
    yield from _immutable(new, old, "data")
    if new["revision"] < 0:
        yield invalid("revision", new["revision"], "must be greater than or equal to 0")


def _immutable(new: Manifest, old: Manifest, field: str) -> Iterator[Cause]:
    if new.get(field) != old.get(field):
        yield invalid(field, new.get(field), "field is immutable")


_CHECKS: dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]] = {
    "pods": _validate_pod_update,
    "priorityclasses.scheduling.k8s.io": _validate_priority_class_update,
    "storageclasses.storage.k8s.io": _validate_storage_class_update,
    "persistentvolumeclaims": _claim,
    "controllerrevisions.apps": _revision,
    **dict.fromkeys(WORKLOAD_CHECKS, validate_workload_update),
}
