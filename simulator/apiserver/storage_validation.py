"""Validation of PersistentVolumes, PersistentVolumeClaims, StorageClasses and CSINodes, beyond their schemas.

Upstream: pkg/apis/core/validation/validation.go and pkg/apis/storage/validation/validation.go, v1.34.
"""

from collections.abc import Callable, Iterator

from simulator.api import Manifest
from simulator.apiserver import names, selector_validation
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, not_supported, required
from simulator.objects import quantity

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")


def _validate_persistent_volume(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest["spec"]
    yield from _storage(spec.get("capacity", {}), "spec.capacity")
    if not spec.get("accessModes"):
        yield required("spec.accessModes")
    yield from _modes_and_class(spec)
    policy = spec["persistentVolumeReclaimPolicy"]
    if policy not in RECLAIM_POLICIES:
        yield not_supported("spec.persistentVolumeReclaimPolicy", policy, RECLAIM_POLICIES)
    affinity = spec.get("nodeAffinity", {}).get("required")
    if affinity:
        yield from selector_validation.validate_node_selector(affinity, "spec.nodeAffinity.required")


def validate_claim_spec(spec: Manifest, path: str) -> Iterator[Cause]:
    """Validate the spec of a claim or of a claim template (ValidatePersistentVolumeClaimSpec)."""
    if not spec.get("accessModes"):
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from _modes_and_class(spec, path)
    yield from _storage(spec.get("resources", {}).get("requests", {}), f"{path}.resources")
    yield from selector_validation.validate_label_selector(spec.get("selector"), f"{path}.selector")


def _validate_persistent_volume_claim(manifest: Manifest) -> Iterator[Cause]:
    yield from validate_claim_spec(manifest["spec"], "spec")


def _modes_and_class(spec: Manifest, path: str = "spec") -> Iterator[Cause]:
    modes = spec.get("accessModes", ())
    for mode in modes:
        if mode not in ACCESS_MODES:
            yield not_supported(f"{path}.accessModes", mode, ACCESS_MODES)
    if "ReadWriteOncePod" in modes and len({*modes}) > 1:
        yield forbidden(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes")
    if "volumeMode" in spec and spec["volumeMode"] not in VOLUME_MODES:
        yield not_supported(f"{path}.volumeMode", spec["volumeMode"], VOLUME_MODES)
    name = spec.get("storageClassName")
    if name and (problem := names.dns_subdomain(name)):
        yield invalid(f"{path}.storageClassName", name, problem)


def _storage(amounts: dict[str, str], path: str) -> Iterator[Cause]:
    if "storage" not in amounts:
        yield required(f"{path}[storage]")
    elif quantity.parse_text(amounts["storage"]) <= 0:
        yield invalid(f"{path}[storage]", amounts["storage"], "must be greater than zero")


def _validate_storage_class(manifest: Manifest) -> Iterator[Cause]:
    if not manifest["provisioner"]:
        yield required("provisioner")
    for field, choices in (
        ("reclaimPolicy", ("Delete", "Retain")),
        ("volumeBindingMode", ("Immediate", "WaitForFirstConsumer")),
    ):
        if manifest[field] not in choices:
            yield not_supported(field, manifest[field], choices)


def _csi_node(manifest: Manifest) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, driver in enumerate(manifest["spec"]["drivers"]):
        path, name = f"spec.drivers[{index}]", driver["name"]
        if not name:
            yield required(f"{path}.name")
        elif name in seen:
            yield duplicate(f"{path}.name", name)
        seen.add(name)
        if not driver["nodeID"]:
            yield required(f"{path}.nodeID")
        count = driver.get("allocatable", {}).get("count", 0)
        if count < 0:
            yield invalid(f"{path}.allocatable.count", count, "must be greater than or equal to 0")


STORAGE_CHECKS: dict[str, Callable[[Manifest], Iterator[Cause]]] = {
    "persistentvolumes": _validate_persistent_volume,
    "persistentvolumeclaims": _validate_persistent_volume_claim,
    "storageclasses.storage.k8s.io": _validate_storage_class,
    "csinodes.storage.k8s.io": _csi_node,
}
