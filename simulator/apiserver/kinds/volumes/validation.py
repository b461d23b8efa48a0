"""Validation of PersistentVolumes and PersistentVolumeClaims, beyond their schemas.

Upstream: ValidatePersistentVolumeSpec and ValidatePersistentVolumeClaimSpec in
pkg/apis/core/validation/validation.go, v1.34.
"""

import posixpath
from collections.abc import Collection, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import ACCESS_MODES, RECLAIM_POLICIES, VOLUME_MODES
from simulator.apiserver.field_checks import NOT_POSITIVE, check_name, check_present
from simulator.apiserver.kinds.volumes.plugins import NONE, PERSISTENT, SECOND_NAMES, SEVERAL, of_schema
from simulator.apiserver.selector_validation import NODE_SELECTOR, validate_label_selector
from simulator.apiserver.shapes import union
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required
from simulator.objects import quantity

SOURCES: Final = (
    *("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd"),
    *("quobyte", "cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume"),
    *("photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO", "local", "storageos", "csi"),
)
"""The sources of a PersistentVolume, in the order in which they are looked at."""
_CLASSIC: Final = "PersistentVolumeClaim"


def validate_persistent_volume(manifest: Manifest) -> Iterator[Cause]:
    yield from validate_volume_spec(manifest["spec"], "spec")


def validate_volume_spec(spec: Manifest, path: str, *, is_inline: bool = False) -> Iterator[Cause]:
    """Yield the faults of a volume's spec. ``is_inline``: in a VolumeAttachment, where only the source
    counts."""
    if is_inline:
        yield from _not_inline(spec, path)
    yield from check_present(spec, ("accessModes",), path)
    yield from _access_modes(spec, path)
    if not is_inline:
        yield from _capacity(spec.get("capacity", {}), f"{path}.capacity")
        yield from _supported(spec, "persistentVolumeReclaimPolicy", RECLAIM_POLICIES, path)
        if "nodeAffinity" in spec:
            yield from _node_affinity(spec["nodeAffinity"], f"{path}.nodeAffinity")
    yield from _SOURCE(spec, path)
    host = spec.get("hostPath", {}).get("path", "")
    is_root = host and posixpath.normpath(host) in ("/", "//")
    if is_root and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        detail = "may not be 'recycle' for a hostPath mount of '/'"
        yield forbidden(f"{path}.persistentVolumeReclaimPolicy", detail)
    if not is_inline:
        if spec.get("storageClassName"):
            yield from check_name(names.dns_subdomain, spec["storageClassName"], f"{path}.storageClassName")
        yield from _supported(spec, "volumeMode", VOLUME_MODES, path)
    if "volumeAttributesClassName" in spec:
        class_name, at = spec["volumeAttributesClassName"], f"{path}.volumeAttributesClassName"
        if not class_name:
            yield required(at, "an empty string is disallowed")
        else:
            yield from check_name(names.dns_subdomain, class_name, at)
        if "csi" not in spec:
            yield required(f"{path}.csi", "has to be specified when using volumeAttributesClassName")


def _not_inline(spec: Manifest, path: str) -> Iterator[Cause]:
    detail = "may not be specified in the context of inline volumes"
    for field in ("claimRef", "capacity"):
        if spec.get(field):
            yield forbidden(f"{path}.{field}", detail)
    if "csi" not in spec:
        yield required(f"{path}.csi", "has to be specified in the context of inline volumes")
    for field in ("nodeAffinity", "storageClassName"):
        if spec.get(field):
            yield forbidden(f"{path}.{field}", detail)


def _supported(spec: Manifest, field: str, choices: Collection[str], path: str) -> Iterator[Cause]:
    if field in spec and spec[field] not in choices:
        yield not_supported(f"{path}.{field}", spec[field], choices)


def _access_modes(spec: Manifest, path: str) -> Iterator[Cause]:
    modes = spec.get("accessModes", ())
    for mode in modes:
        if mode not in ACCESS_MODES:
            yield not_supported(f"{path}.accessModes", mode, ACCESS_MODES)
    known = {mode for mode in modes if mode in ACCESS_MODES}
    if "ReadWriteOncePod" in known and len(known) > 1:
        yield forbidden(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes")


def _capacity(capacity: dict[str, str], path: str) -> Iterator[Cause]:
    if not capacity:
        yield required(path)
    if "storage" not in capacity or len(capacity) > 1:
        yield not_supported(path, dict(sorted(capacity.items())) or None, ("storage",), whole=True)
    for name, text in capacity.items():
        amount = quantity.parse_text(text)
        if quantity.value(amount) < 0:
            yield invalid(f"{path}[{name}]", quantity.value(amount), "must be a valid resource quantity")
        if amount <= 0:
            yield invalid(f"{path}[{name}]", text, NOT_POSITIVE)


def _node_affinity(affinity: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateVolumeNodeAffinity reports."""
    if "required" in affinity:
        yield from NODE_SELECTOR(affinity["required"], f"{path}.required")
    else:
        yield required(f"{path}.required", "must specify required node constraints")


def validate_persistent_volume_claim(manifest: Manifest) -> Iterator[Cause]:
    yield from validate_claim_spec(manifest["spec"], "spec")


def validate_claim_spec(spec: Manifest, path: str) -> Iterator[Cause]:
    """Validate the spec of a claim or of a claim template (ValidatePersistentVolumeClaimSpec)."""
    if not spec.get("accessModes"):
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from validate_label_selector(spec.get("selector"), f"{path}.selector")
    yield from _access_modes(spec, path)
    yield from _requested_storage(spec.get("resources", {}).get("requests", {}), f"{path}.resources[storage]")
    if spec.get("storageClassName"):
        yield from check_name(names.dns_subdomain, spec["storageClassName"], f"{path}.storageClassName")
    yield from _supported(spec, "volumeMode", VOLUME_MODES, path)
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for field, given in (("dataSource", source), ("dataSourceRef", reference)):
        if given is not None:
            yield from _data_source(given, f"{path}.{field}")
    if source is not None and reference is not None and not _is_same(source, reference):
        yield invalid(path, {}, "must match dataSourceRef")  # the path is a struct without public fields
    if spec.get("volumeAttributesClassName"):
        at = f"{path}.volumeAttributesClassName"
        yield from check_name(names.dns_subdomain, spec["volumeAttributesClassName"], at)


def _requested_storage(requests: dict[str, str], path: str) -> Iterator[Cause]:
    if "storage" not in requests:
        yield required(path)
    elif quantity.parse_text(requests["storage"]) <= 0:
        yield invalid(path, requests["storage"], NOT_POSITIVE)


def _data_source(source: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateDataSource and validateDataSourceRef reports."""
    group, kind = source.get("apiGroup") or "", source.get("kind", "")
    yield from check_present(source, ("name", "kind"), path)
    if not group and kind != _CLASSIC:
        yield invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
    if group:
        yield from check_name(names.dns_subdomain, group, f"{path}.apiGroup")


def _is_same(source: Manifest, reference: Manifest) -> bool:
    return all(source.get(field) == reference.get(field) for field in ("apiGroup", "kind", "name"))


_SOURCE: Final = union(
    {source: PERSISTENT.get(source) or of_schema(source) for source in SOURCES},
    none=NONE,
    several=SEVERAL,
    may_follow=("flexVolume",),
    second_names=SECOND_NAMES,
)
