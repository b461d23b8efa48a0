"""Validation of PersistentVolumes and PersistentVolumeClaims, and of the sources of volumes that pods have,
too: the fields that the schema of a source requires, and more of the common ones.

Upstream: ValidatePersistentVolumeSpec, ValidatePersistentVolumeClaimSpec, validateHostPathVolumeSource and
its siblings in pkg/apis/core/validation/validation.go.
"""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import ACCESS_MODES, HOST_PATH_TYPES, RECLAIM_POLICIES, VOLUME_MODES
from simulator.apiserver.field_checks import NOT_POSITIVE, check_name, check_no_steps_back
from simulator.apiserver.selector_validation import NODE_SELECTOR, validate_label_selector
from simulator.apiserver.served_features import once_per_version
from simulator.apiserver.shapes import (
    Rule,
    all_of,
    field,
    filled,
    may_not_have,
    must_have,
    named_by,
    needed,
    one_of,
    union,
    where,
)
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required, too_long
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import StructType
from simulator.objects import quantity

MAX_DRIVER_NAME: Final = 63
_SECRETS: Final = (
    *("controllerPublishSecretRef", "controllerExpandSecretRef"),
    *("nodePublishSecretRef", "nodeExpandSecretRef"),
)
_CONTENT_NAMES: Final = {"gcePersistentDisk": "persistentDisk"}
"""Sources whose fields are at another path than the source."""
SOURCES: Final = (
    *("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd"),
    *("quobyte", "cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume"),
    *("photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO", "local", "storageos", "csi"),
)
"""The sources of a PersistentVolume, in the order in which they are looked at."""
_CLASSIC: Final = "PersistentVolumeClaim"


@once_per_version()
def _schema_rule(name: str) -> Rule:
    """Return the rule of a source that has no other: none of the fields that its schema requires is empty. A
    number may be 0."""
    of = api_types().struct("io.k8s.api.core.v1.Volume").fields[name].type
    fields = of.fields.values() if isinstance(of, StructType) else ()
    return must_have(*(each.name for each in fields if each.is_required and each.type.go_name != "int32"))


def of_schema(name: str) -> Rule:
    """Return what applies :func:`_schema_rule`, for which the types are read when it is first needed."""

    def check(source: Manifest, path: str) -> Iterable[Cause]:
        return _schema_rule(name)(source, path)

    return field(name, check, shown=_CONTENT_NAMES.get(name))


def check_driver_name(driver: str, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateCSIDriverName reports."""
    if not driver:
        yield required(path)
    if len(driver) > MAX_DRIVER_NAME:
        yield too_long(path, MAX_DRIVER_NAME)
    yield from (invalid(path, driver, problem) for problem in names.dns_subdomain(driver.lower()))


def _host_path(source: Manifest, path: str) -> Iterable[Cause]:
    faults = [*_PATH(source, path)]
    return faults if not source.get("path") else [*faults, *_HOST_PATH_TYPE(source, path)]


def _absolute(source: Manifest, path: str) -> Iterable[Cause]:
    text = source.get("path", "")
    return () if text.startswith("/") else (invalid(f"{path}.path", text, "must be an absolute path"),)


def _needs_affinity(spec: Manifest, path: str) -> Iterable[Cause]:
    if "nodeAffinity" in spec:
        return ()
    return (required(f"{path}.nodeAffinity", "Local volume requires node affinity"),)


_PATH: Final = needed("path", check_no_steps_back)
_HOST_PATH_TYPE: Final = field("type", one_of(HOST_PATH_TYPES))
TOKEN_SECONDS: Final = field(
    "expirationSeconds",
    where(lambda seconds: seconds >= 600, "may not specify a duration less than 10 minutes"),
    where(lambda seconds: seconds <= 1 << 32, "may not specify a duration larger than 2^32 seconds"),
)
"""The rule of tokens of service accounts."""
DRIVER: Final = field("driver", check_driver_name, default="")
_SECRET: Final = all_of(
    needed("name", named_by(names.dns_subdomain)), needed("namespace", named_by(names.dns_label))
)
PLUGINS: Final[dict[str, Rule]] = {
    "hostPath": field("hostPath", _host_path),
    "nfs": field("nfs", must_have("server", "path"), _absolute),
}
"""The rules of sources of pods and PersistentVolumes, by field, for what has the source."""
PERSISTENT: Final[dict[str, Rule]] = {
    **PLUGINS,
    "csi": field("csi", DRIVER, must_have("volumeHandle"), *(field(secret, _SECRET) for secret in _SECRETS)),
    "local": all_of(field("local", _PATH), _needs_affinity),
}
"""The rules of a PersistentVolume's sources (csi: validateCSIPersistentVolumeSource)."""
SEVERAL: Final = "may not specify more than 1 volume type"
NONE: Final = "must specify a volume type"
SECOND_NAMES: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""Sources with another name where they are the second one of a volume."""


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
