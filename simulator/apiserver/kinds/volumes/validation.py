"""Validation of PersistentVolumes and PersistentVolumeClaims, beyond their schemas.

Upstream: ValidatePersistentVolumeSpec and ValidatePersistentVolumeClaimSpec in
pkg/apis/core/validation/validation.go, v1.34.
"""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import ACCESS_MODES, RECLAIM_POLICIES, VOLUME_MODES
from simulator.apiserver.field_checks import NOT_POSITIVE, check_name
from simulator.apiserver.kinds.volumes.plugins import NONE, PERSISTENT, SECOND_NAMES, SEVERAL, of_schema
from simulator.apiserver.selector_validation import NODE_SELECTOR, validate_label_selector
from simulator.apiserver.shapes import (
    all_of,
    field,
    filled,
    may_not_have,
    must_have,
    named_by,
    needed,
    one_of,
    union,
)
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
        yield from _INLINE(spec, path)
    yield from _ACCESS_MODES(spec, path)
    if not is_inline:
        yield from _VOLUME(spec, path)
    yield from _SOURCE(spec, path)
    host = spec.get("hostPath", {}).get("path", "")
    is_root = host and posixpath.normpath(host) in ("/", "//")
    if is_root and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        detail = "may not be 'recycle' for a hostPath mount of '/'"
        yield forbidden(f"{path}.persistentVolumeReclaimPolicy", detail)
    if not is_inline:
        yield from _CLASS_AND_MODE(spec, path)
    if "volumeAttributesClassName" in spec:
        yield from _ATTRIBUTES(spec, path)


def _access_modes(modes: Sequence[str], path: str) -> Iterator[Cause]:
    for mode in modes:
        if mode not in ACCESS_MODES:
            yield not_supported(path, mode, ACCESS_MODES)
    known = {mode for mode in modes if mode in ACCESS_MODES}
    if "ReadWriteOncePod" in known and len(known) > 1:
        yield forbidden(path, "may not use ReadWriteOncePod with other access modes")


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


def validate_persistent_volume_claim(manifest: Manifest) -> Iterator[Cause]:
    yield from validate_claim_spec(manifest["spec"], "spec")


def validate_claim_spec(spec: Manifest, path: str) -> Iterator[Cause]:
    """Validate the spec of a claim or of a claim template (ValidatePersistentVolumeClaimSpec)."""
    yield from _CLAIM(spec, path)
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is not None and not _is_same(source, reference):
        yield invalid(path, {}, "must match dataSourceRef")  # the path is a struct without public fields
    yield from _CLAIM_ATTRIBUTES(spec, path)


def _requested_storage(spec: Manifest, path: str) -> Iterable[Cause]:
    amount = spec.get("resources", {}).get("requests", {}).get("storage")
    at = f"{path}.resources[storage]"
    if amount is None:
        return (required(at),)
    return () if quantity.parse_text(amount) > 0 else (invalid(at, amount, NOT_POSITIVE),)


def _data_source(source: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateDataSource and validateDataSourceRef reports."""
    group, kind = source.get("apiGroup") or "", source.get("kind", "")
    yield from _DATA_SOURCE(source, path)
    if not group and kind != _CLASSIC:
        yield invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
    if group:
        yield from check_name(names.dns_subdomain, group, f"{path}.apiGroup")


def _is_same(source: Manifest, reference: Manifest) -> bool:
    return all(source.get(field) == reference.get(field) for field in ("apiGroup", "kind", "name"))


_SUBDOMAIN: Final = named_by(names.dns_subdomain)
_INLINE_DETAIL: Final = "may not be specified in the context of inline volumes"
_INLINE: Final = all_of(
    may_not_have("claimRef", "capacity", detail=_INLINE_DETAIL),
    needed("csi", detail="has to be specified in the context of inline volumes"),
    may_not_have("nodeAffinity", "storageClassName", detail=_INLINE_DETAIL),
)
_ACCESS_MODES: Final = all_of(must_have("accessModes"), field("accessModes", _access_modes))
_VOLUME: Final = all_of(
    field("capacity", _capacity, default={}),
    field("persistentVolumeReclaimPolicy", one_of(RECLAIM_POLICIES)),
    field("nodeAffinity", needed("required", NODE_SELECTOR, detail="must specify required node constraints")),
)
_SOURCE: Final = union(
    {source: PERSISTENT.get(source) or of_schema(source) for source in SOURCES},
    none=NONE,
    several=SEVERAL,
    may_follow=("flexVolume",),
    second_names=SECOND_NAMES,
)
_CLASS_AND_MODE: Final = all_of(
    filled("storageClassName", _SUBDOMAIN), field("volumeMode", one_of(VOLUME_MODES))
)
_ATTRIBUTES: Final = all_of(
    needed("volumeAttributesClassName", _SUBDOMAIN, detail="an empty string is disallowed"),
    needed("csi", detail="has to be specified when using volumeAttributesClassName"),
)
_DATA_SOURCE: Final = must_have("name", "kind")
_CLAIM: Final = all_of(
    must_have("accessModes", detail="at least 1 access mode is required"),
    field("selector", validate_label_selector),
    field("accessModes", _access_modes),
    _requested_storage,
    _CLASS_AND_MODE,
    field("dataSource", _data_source),
    field("dataSourceRef", _data_source),
)
_CLAIM_ATTRIBUTES: Final = filled("volumeAttributesClassName", _SUBDOMAIN)
