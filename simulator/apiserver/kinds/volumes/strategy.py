"""The strategies of PersistentVolumes and PersistentVolumeClaims.

Upstream: strategy.go in pkg/registry/core/{persistentvolume,persistentvolumeclaim},
pkg/apis/core/v1/defaults.go, pkg/api/persistentvolumeclaim/util.go,
ValidatePersistentVolumeClaimStatusUpdate in pkg/apis/core/validation/validation.go, and
printPersistentVolume... in pkg/printers/internalversion/printers.go.
"""

import copy
from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.kinds.volumes.source_defaults import set_claim_spec_defaults, set_source_defaults
from simulator.apiserver.kinds.volumes.update_validation import validate_claim_update, validate_volume_update
from simulator.apiserver.kinds.volumes.validation import (
    validate_persistent_volume,
    validate_persistent_volume_claim,
)
from simulator.apiserver.printers.column import AGE, NAME, UNSET, Cell, Column, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.selector_validation import term_warnings
from simulator.apiserver.status import Cause, invalid, not_supported
from simulator.apiserver.strategy import Strategy, status_strategy
from simulator.objects import quantity
from simulator.objects.metadata import annotations_of, is_terminating
from simulator.objects.status import phase_of, status_of

VOLUMES: Final = built_in("v1", "PersistentVolume", "pv", in_cluster=True, has_status=True)
CLAIMS: Final = built_in("v1", "PersistentVolumeClaim", "pvc", has_status=True)
_PHASE_TIME: Final = "lastPhaseTransitionTime"
_RESIZE_STATES: Final = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizePending",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
)
ACCESS_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_CLASS = "volume.beta.kubernetes.io/storage-class"
"""An annotation that counts more than the field ``storageClassName``."""


def _set_volume_defaults(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    set_source_defaults(spec)


def _set_phase_time(manifest: Manifest, now: str) -> None:
    manifest["status"][_PHASE_TIME] = now


def _with_phase_time(new: Manifest, old: Manifest, now: str) -> Manifest:
    """Return the status of a PersistentVolume with the time at which it came into its phase, unless the
    update has another one (PrepareForUpdate of its status)."""
    status, before = new.get("status", {}), old.get("status", {})
    time, known = status.get(_PHASE_TIME), before.get(_PHASE_TIME)
    if status.get("phase") != before.get("phase"):
        time = now if time in (None, known) else time
    elif time is None:
        time = known
    return {**new, "status": {**status, _PHASE_TIME: time}} if time is not None else new


def _volume_warnings(manifest: Manifest, _: object = None) -> Iterator[str]:
    terms = (manifest["spec"].get("nodeAffinity") or {}).get("required", {}).get("nodeSelectorTerms", ())
    for index, term in enumerate(terms):
        yield from term_warnings(term, f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]")


def _drop_claim_fields(manifest: Manifest, _: object) -> None:
    spec = manifest.get("spec") or {}
    if (spec.get("dataSourceRef") or {}).get("namespace"):  # CrossNamespaceVolumeDataSource
        del spec["dataSourceRef"]


def _set_claim_defaults(manifest: Manifest) -> None:
    """Set the defaults, and of the two fields for the claim's source the one that is missing
    (NormalizeDataSources)."""
    spec = manifest.setdefault("spec", {})
    set_claim_spec_defaults(spec)
    if "dataSourceRef" not in spec and not _is_claim_or_snapshot(spec.get("dataSource") or {}):
        spec.pop("dataSource", None)
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None:
        spec["dataSourceRef"] = copy.deepcopy(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = {field: value for field, value in reference.items() if field != "namespace"}


def _is_claim_or_snapshot(source: Manifest) -> bool:
    """Whether a claim may be made of this; others are dropped (EnforceDataSourceBackwardsCompatibility)."""
    identity = (source.get("apiGroup") or "", source.get("kind"))
    return identity in (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))


def _validate_claim_status(new: Manifest, _: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidatePersistentVolumeClaimStatusUpdate reports."""
    status = new.get("status", {})
    for name, text in sorted(status.get("capacity", {}).items()):
        yield from _basic_amount(text, f"status.capacity[{name}]")
    for name, state in sorted(status.get("allocatedResourceStatuses", {}).items()):
        path = "status.allocatedResourceStatuses"
        yield from _claim_resource(name, path)
        if state not in _RESIZE_STATES:
            yield not_supported(path, name, _RESIZE_STATES)
    for name, text in sorted(status.get("allocatedResources", {}).items()):
        faults = [*_claim_resource(name, "status.allocatedResources")]
        yield from faults or _basic_amount(text, f"status.allocatedResources[{name}]")


def _basic_amount(text: str, path: str) -> Iterator[Cause]:
    amount = quantity.value(quantity.parse_text(text))
    if amount < 0:
        yield invalid(path, amount, "must be a valid resource quantity")


def _claim_resource(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validatePersistentVolumeClaimResourceKey reports."""
    faults = [*check_name(names.qualified_name, name, path)]
    if not faults and name != "storage" and ("/" not in name or "kubernetes.io/" in name):
        faults = [not_supported(path, name, ("storage",))]
    yield from faults


def _access_modes(modes: list[str] | None) -> str:
    return ",".join(short for mode, short in ACCESS_MODES.items() if mode in (modes or ()))


def _phase_cell(item: Manifest, _: Micros) -> str:
    return "Terminating" if is_terminating(item) else phase_of(item)


def _class_cell(item: Manifest, _: Micros) -> str:
    annotations: dict[str, str] = annotations_of(item)
    return annotations.get(_CLASS, item["spec"].get("storageClassName") or "")


def _claim_cell(volume: Manifest, _: Micros) -> str:
    claim = volume["spec"].get("claimRef") or {}
    return f"{claim.get('namespace', '')}/{claim['name']}" if claim.get("name") else ""


def _given_capacity(claim: Manifest, _: Micros) -> str:
    capacity: dict[str, str] = status_of(claim).get("capacity") or {}
    return capacity.get("storage", "0") if claim["spec"].get("volumeName") else ""


def _given_modes(claim: Manifest, _: Micros) -> str:
    return _access_modes(status_of(claim).get("accessModes")) if claim["spec"].get("volumeName") else ""


def _or_unset(field: str) -> Cell:
    return lambda item, _: item["spec"].get(field) or UNSET


VOLUME_STRATEGY: Final = Strategy(
    resource=VOLUMES,
    set_defaults=_set_volume_defaults,
    first_phase="Pending",
    prepare_for_create=_set_phase_time,
    validate=validate_persistent_volume,
    warnings=_volume_warnings,
    validate_update=validate_volume_update,
    update_order="MSMSC",
    subresources={"status": status_strategy(set_times=_with_phase_time)},
    is_shown_when_deleted=True,
    printer=printer_of(
        NAME,
        Column("Capacity", "PersistentVolumeSpec.capacity", cell="spec.capacity.storage", absent="0"),
        Column(
            "Access Modes",
            "PersistentVolumeSpec.accessModes",
            cell=lambda item, _: _access_modes(item["spec"].get("accessModes")),
        ),
        Column("Reclaim Policy", "PersistentVolumeSpec.persistentVolumeReclaimPolicy"),
        Column("Status", "PersistentVolumeStatus.phase", cell=_phase_cell),
        Column("Claim", "PersistentVolumeSpec.claimRef", cell=_claim_cell),
        Column("StorageClass", "StorageClass of the pv", cell=_class_cell),
        Column(
            "VolumeAttributesClass",
            "VolumeAttributesClass of the pv",
            cell=_or_unset("volumeAttributesClassName"),
        ),
        Column("Reason", "PersistentVolumeStatus.reason"),
        AGE,
        Column("VolumeMode", "PersistentVolumeSpec.volumeMode", wide=1, cell=_or_unset("volumeMode")),
    ),
)
VOLUME_CLAIM_STRATEGY: Final = Strategy(
    resource=CLAIMS,
    drop_disabled_fields=_drop_claim_fields,
    set_defaults=_set_claim_defaults,
    first_phase="Pending",
    validate=validate_persistent_volume_claim,
    validate_update=validate_claim_update,
    update_order="MSUMSC",
    subresources={"status": status_strategy(_validate_claim_status)},
    is_shown_when_deleted=True,
    printer=printer_of(
        NAME,
        Column("Status", "PersistentVolumeClaimStatus.phase", cell=_phase_cell),
        Column("Volume", "PersistentVolumeClaimSpec.volumeName"),
        Column("Capacity", "PersistentVolumeClaimStatus.capacity", cell=_given_capacity),
        Column("Access Modes", "PersistentVolumeClaimStatus.accessModes", cell=_given_modes),
        Column("StorageClass", "StorageClass of the pvc", cell=_class_cell),
        Column(
            "VolumeAttributesClass",
            "VolumeAttributesClass of the pvc",
            cell=_or_unset("volumeAttributesClassName"),
        ),
        AGE,
        Column("VolumeMode", "PersistentVolumeClaimSpec.volumeMode", wide=1, cell=_or_unset("volumeMode")),
    ),
)
