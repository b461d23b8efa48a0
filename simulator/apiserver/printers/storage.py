"""The rows of volumes, claims, and of what storage.k8s.io has."""

from typing import Any

from simulator.api import Manifest, Micros
from simulator.apiserver.printers.column import AGE, NAME, UNSET, Column, Printer, age_of
from simulator.objects.metadata import annotations_of, is_terminating
from simulator.objects.status import phase_of, status_of

ACCESS_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_CLASS = "volume.beta.kubernetes.io/storage-class"
"""An annotation that counts more than the field ``storageClassName``."""


def _access_modes(modes: list[str] | None) -> str:
    return ",".join(short for mode, short in ACCESS_MODES.items() if mode in (modes or ()))


def _phase(item: Manifest) -> str:
    return "Terminating" if is_terminating(item) else phase_of(item)


def _class_of(item: Manifest) -> str:
    annotations: dict[str, str] = annotations_of(item)
    return annotations.get(_CLASS, item["spec"].get("storageClassName") or "")


def _volume(item: Manifest, now: Micros) -> list[Any]:
    spec = item["spec"]
    claim = spec.get("claimRef") or {}
    return [
        item["metadata"]["name"],
        (spec.get("capacity") or {}).get("storage", "0"),
        _access_modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        _phase(item),
        f"{claim.get('namespace', '')}/{claim['name']}" if claim.get("name") else "",
        _class_of(item),
        spec.get("volumeAttributesClassName") or UNSET,
        status_of(item).get("reason") or "",
        age_of(item, now),
        spec.get("volumeMode") or UNSET,
    ]


def _claim(item: Manifest, now: Micros) -> list[Any]:
    spec, status = item["spec"], status_of(item)
    volume = spec.get("volumeName") or ""
    return [
        item["metadata"]["name"],
        _phase(item),
        volume,
        (status.get("capacity") or {}).get("storage", "0") if volume else "",
        _access_modes(status.get("accessModes")) if volume else "",
        _class_of(item),
        spec.get("volumeAttributesClassName") or UNSET,
        age_of(item, now),
        spec.get("volumeMode") or UNSET,
    ]


STORAGE_PRINTERS = {
    "persistentvolumes": Printer(
        (
            NAME,
            Column("Capacity", "PersistentVolumeSpec.capacity"),
            Column("Access Modes", "PersistentVolumeSpec.accessModes"),
            Column("Reclaim Policy", "PersistentVolumeSpec.persistentVolumeReclaimPolicy"),
            Column("Status", "PersistentVolumeStatus.phase"),
            Column("Claim", "PersistentVolumeSpec.claimRef"),
            Column("StorageClass", "StorageClass of the pv"),
            Column("VolumeAttributesClass", "VolumeAttributesClass of the pv"),
            Column("Reason", "PersistentVolumeStatus.reason"),
            AGE,
            Column("VolumeMode", "PersistentVolumeSpec.volumeMode", wide=1),
        ),
        _volume,
    ),
    "persistentvolumeclaims": Printer(
        (
            NAME,
            Column("Status", "PersistentVolumeClaimStatus.phase"),
            Column("Volume", "PersistentVolumeClaimSpec.volumeName"),
            Column("Capacity", "PersistentVolumeClaimStatus.capacity"),
            Column("Access Modes", "PersistentVolumeClaimStatus.accessModes"),
            Column("StorageClass", "StorageClass of the pvc"),
            Column("VolumeAttributesClass", "VolumeAttributesClass of the pvc"),
            AGE,
            Column("VolumeMode", "PersistentVolumeClaimSpec.volumeMode", wide=1),
        ),
        _claim,
    ),
}
