"""Validation of updates: which fields may change.

Upstream: ValidatePodUpdate and the other Validate...Update functions in pkg/apis/*/validation, v1.34."""

from collections.abc import Callable, Iterator

from simulator.api import Manifest
from simulator.apiserver.core_update_validation import (
    CORE_UPDATE_CHECKS,
    validate_namespace_finalizers,
    validate_node_update,
)
from simulator.apiserver.definition_validation import validate_definition_update
from simulator.apiserver.event_validation import validate_event_update
from simulator.apiserver.field_checks import IMMUTABLE
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.pod_subresource_validation import (
    validate_ephemeral_containers_update,
    validate_resize,
)
from simulator.apiserver.pod_update_validation import validate_pod_update
from simulator.apiserver.resources import CRDS, EVENTS_V1, NODES, Resource
from simulator.apiserver.slice_validation import validate_slice_update
from simulator.apiserver.status import NIL, Cause, first_causes, forbidden, invalid
from simulator.apiserver.status_validation import validate_status_update
from simulator.apiserver.workload_update_validation import WORKLOAD_UPDATE_CHECKS


def validate_update(resource: Resource, new: Manifest, old: Manifest, subresource: str = "") -> list[Cause]:
    """Return the faults of what an update changes, but for the metadata. Those of the new object are not
    among them: :mod:`simulator.apiserver.update_order`."""
    return first_causes(_faults(resource, new, old, subresource))


def _faults(resource: Resource, new: Manifest, old: Manifest, subresource: str) -> Iterator[Cause]:
    if resource == EVENTS_V1:
        return validate_event_update(new, old)
    match subresource:
        case "status" if resource == NODES:
            return validate_node_update(new, old)
        case "status":
            return validate_status_update(resource, new, old)
        case "finalize":
            return validate_namespace_finalizers(new, old)
        case "ephemeralcontainers":
            return validate_ephemeral_containers_update(new, old)
        case "resize":
            return validate_resize(new, old)
    check = _CHECKS.get(resource.id) if not subresource else None
    return check(new, old) if check else iter(())


def _validate_priority_class_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    if new["value"] != old["value"]:
        yield forbidden("value", "may not be changed in an update.")
    yield from _immutable(new, old, "preemptionPolicy")


def _validate_storage_class_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    for field in ("parameters", "provisioner", "reclaimPolicy"):
        if new.get(field) != old.get(field):
            yield forbidden(field, f"updates to {field} are forbidden.")
    yield from _immutable(new, old, "volumeBindingMode")


def _attributes_class(new: Manifest, old: Manifest) -> Iterator[Cause]:
    for field in ("driverName", "parameters"):
        if new.get(field) != old.get(field):
            yield forbidden(field, f"updates to {field} are forbidden.")


def _driver(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateCSIDriverUpdate reports, which misspells a field."""
    after, before = new["spec"], old["spec"]
    for field, shown in (("attachRequired", "attachedRequired"), ("volumeLifecycleModes",) * 2):
        if after.get(field) != before.get(field):
            yield invalid(f"spec.{shown}", after.get(field, NIL), IMMUTABLE)


def _csi_node(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """ValidateCSINodeUpdate: drivers can be added and removed (MutableCSINodeAllocatableCount is off)."""
    drivers = new["spec"].get("drivers") or ()
    for known in old["spec"].get("drivers") or ():
        for driver in drivers:
            if driver["name"] == known["name"] and driver != known:
                yield invalid(
                    "spec.drivers", api_struct("storage.v1.CSINodeDriver", driver), IMMUTABLE, whole=True
                )


def _storage_capacity(new: Manifest, old: Manifest) -> Iterator[Cause]:
    yield from _immutable(new, old, "nodeTopology")
    yield from _immutable(new, old, "storageClassName")


def _runtime_class(new: Manifest, old: Manifest) -> Iterator[Cause]:
    yield from _immutable(new, old, "handler")


def _revision(new: Manifest, old: Manifest) -> Iterator[Cause]:
    yield from _immutable(new, old, "data")


def _quota(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateResourceQuotaUpdate reports. The order of the scopes does not count."""
    after, before = (manifest.get("spec", {}).get("scopes") for manifest in (new, old))
    if {*(after or ())} != {*(before or ())}:
        yield invalid("spec.scopes", after, IMMUTABLE)


def _spec_of(type_name: str) -> Callable[[Manifest, Manifest], Iterator[Cause]]:
    """Return the check of a kind whose whole spec may not change."""

    def check(new: Manifest, old: Manifest) -> Iterator[Cause]:
        after, before = (manifest.get("spec", {}) for manifest in (new, old))
        if after != before:
            yield invalid("spec", api_struct(type_name, after), IMMUTABLE, whole=True)

    return check


def _claim_template(new: Manifest, old: Manifest) -> Iterator[Cause]:
    after, before = (manifest.get("spec", {}) for manifest in (new, old))
    if after != before:
        claim = api_struct("resource.v1.ResourceClaimSpec", after.get("spec", {}))
        yield invalid("spec", {**after.get("metadata", {}), "Spec": claim}, IMMUTABLE, whole=True)


def _immutable(new: Manifest, old: Manifest, field: str) -> Iterator[Cause]:
    if new.get(field) != old.get(field):
        yield invalid(field, new.get(field, NIL), IMMUTABLE)


_CHECKS: dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]] = {
    "pods": validate_pod_update,
    "priorityclasses.scheduling.k8s.io": _validate_priority_class_update,
    "storageclasses.storage.k8s.io": _validate_storage_class_update,
    **CORE_UPDATE_CHECKS,
    "controllerrevisions.apps": _revision,
    "csidrivers.storage.k8s.io": _driver,
    "csinodes.storage.k8s.io": _csi_node,
    CRDS: validate_definition_update,
    "csistoragecapacities.storage.k8s.io": _storage_capacity,
    "resourceclaims.resource.k8s.io": _spec_of("resource.v1.ResourceClaimSpec"),
    "resourceclaimtemplates.resource.k8s.io": _claim_template,
    "resourceslices.resource.k8s.io": validate_slice_update,
    "resourcequotas": _quota,
    "runtimeclasses.node.k8s.io": _runtime_class,
    "volumeattachments.storage.k8s.io": _spec_of("storage.v1.VolumeAttachmentSpec"),
    "volumeattributesclasses.storage.k8s.io": _attributes_class,
    **WORKLOAD_UPDATE_CHECKS,
}
