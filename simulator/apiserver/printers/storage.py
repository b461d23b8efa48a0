"""The rows of volumes, claims, storage classes and CSINodes."""

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
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def _access_modes(modes: list[str] | None) -> str:
    return ",".join(short for mode, short in ACCESS_MODES.items() if mode in (modes or ()))


def _phase(item: Manifest) -> str:
    return "Terminating" if is_terminating(item) else phase_of(item)


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
        spec.get("storageClassName") or "",
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
        spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or UNSET,
        age_of(item, now),
        spec.get("volumeMode") or UNSET,
    ]


def _storage_class(item: Manifest, now: Micros) -> list[Any]:
    default = " (default)" if annotations_of(item).get(_DEFAULT_CLASS) == "true" else ""
    return [
        item["metadata"]["name"] + default,
        item["provisioner"],
        item.get("reclaimPolicy", "Delete"),
        item.get("volumeBindingMode", "Immediate"),
        bool(item.get("allowVolumeExpansion")),
        age_of(item, now),
    ]


def _csi_node(item: Manifest, now: Micros) -> list[Any]:
    return [item["metadata"]["name"], len(item["spec"].get("drivers") or ()), age_of(item, now)]


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
    "storageclasses.storage.k8s.io": Printer(
        (
            NAME,
            Column("Provisioner", "StorageClass.provisioner"),
            Column("ReclaimPolicy", "StorageClass.reclaimPolicy"),
            Column("VolumeBindingMode", "StorageClass.volumeBindingMode"),
            Column("AllowVolumeExpansion", "StorageClass.allowVolumeExpansion"),
            AGE,
        ),
        _storage_class,
    ),
    "csinodes.storage.k8s.io": Printer(
        (
            NAME,
            Column(
                "Drivers", "Drivers indicates the number of CSI drivers registered on the node", "integer"
            ),
            AGE,
        ),
        _csi_node,
    ),
}
