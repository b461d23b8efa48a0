"""Validation of updates of the core kinds but for pods: which fields may change.

Upstream: the Validate...Update functions in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.go_structs import core_struct, struct_difference
from simulator.apiserver.status import Cause, forbidden, invalid
from simulator.objects import quantity

_IMMUTABLE: Final = "field is immutable when `immutable` is set"


def _validate_config_map_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        yield forbidden("immutable", _IMMUTABLE)
    for field in ("data", "binaryData"):
        if new.get(field, {}) != old.get(field, {}):
            yield forbidden(field, _IMMUTABLE)


def _validate_secret_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    if new.get("type") != old.get("type"):
        yield invalid("type", new.get("type"), "field is immutable")
    if old.get("immutable"):
        if not new.get("immutable"):
            yield forbidden("immutable", _IMMUTABLE)
        if new.get("data", {}) != old.get("data", {}):
            yield forbidden("data", _IMMUTABLE)


def _validate_node_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    after, before = new.get("spec", {}), old.get("spec", {})
    detail = 'node updates may not change {} except from "" to valid'
    known, given = before.get("podCIDRs", []), after.get("podCIDRs", [])
    if known and len(known) != len(given):
        yield forbidden("spec.podCIDRs", detail.format("podCIDR"))
    elif known:
        changed = [None for one, other in zip(known, given, strict=True) if one != other]
        yield from (forbidden("spec.podCIDRs", detail.format("podCIDR")) for _ in changed)
    if before.get("providerID") and after.get("providerID") != before["providerID"]:
        yield forbidden("spec.providerID", detail.format("providerID"))


def _validate_claim_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """The spec of a claim may not change but for its volume, once, a storage class where none was set, and
    the requested storage of a bound claim."""
    after, before = {**new["spec"]}, {**old["spec"]}
    if not before.get("volumeName"):
        before["volumeName"] = after.get("volumeName", "")
    if "storageClassName" not in before and "storageClassName" in after:
        before["storageClassName"] = after["storageClassName"]
    path = "spec.resources.requests.storage"
    sizes = [spec.get("resources", {}).get("requests", {}).get("storage") for spec in (after, before)]
    if new.get("status", {}).get("phase") == "Bound":
        after["resources"] = before.get("resources", {})
        after["volumeAttributesClassName"] = before.get("volumeAttributesClassName")
    structs = [core_struct("PersistentVolumeClaimSpec", spec) for spec in (before, after)]
    if structs[0] != structs[1]:
        yield forbidden(
            "spec",
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for "
            f"bound claims\n{struct_difference(*structs)}",
        )
    if all(sizes) and quantity.parse_quantity(sizes[0]) < quantity.parse_quantity(sizes[1]):
        capacity = old.get("status", {}).get("capacity", {}).get("storage", "0")
        if quantity.parse_quantity(sizes[0]) <= quantity.parse_quantity(capacity):
            yield forbidden(path, "field can not be less than status.capacity")
    if after.get("volumeMode") != before.get("volumeMode"):
        yield invalid("volumeMode", after.get("volumeMode"), "field is immutable")


def _validate_service_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """The addresses of a Service do not change (ValidateServiceClusterIPsRelatedFields)."""
    after, before = new["spec"], old["spec"]
    if "ExternalName" in (after.get("type"), before.get("type")):
        return
    known, given = before.get("clusterIPs", []), after.get("clusterIPs", [])
    for index, (address, other) in enumerate(zip(known, given, strict=False)):
        if address != other:
            yield invalid(f"spec.clusterIPs[{index}]", given, "may not change once set")


CORE_UPDATE_CHECKS: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    "configmaps": _validate_config_map_update,
    "secrets": _validate_secret_update,
    "nodes": _validate_node_update,
    "persistentvolumeclaims": _validate_claim_update,
    "services": _validate_service_update,
}
