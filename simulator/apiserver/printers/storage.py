"""The rows of volumes, claims, and of what storage.k8s.io has."""

from typing import Any

from simulator.api import Manifest, Micros
from simulator.apiserver.printers.column import AGE, NAME, NONE, UNSET, Column, Printer, age_of
from simulator.objects.metadata import annotations_of, is_terminating
from simulator.objects.status import phase_of, status_of

ACCESS_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_DEFAULT_ATTRIBUTES_CLASS = "volumeattributesclass.alpha.kubernetes.io/is-default-class"
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


def _name_of_class(item: Manifest, annotations: tuple[str, ...]) -> str:
    """Return the name, and whether one of the annotations makes the class the default one."""
    is_default = any(annotations_of(item).get(name) == "true" for name in annotations)
    name: str = item["metadata"]["name"]
    return f"{name} (default)" if is_default else name


def _storage_class(item: Manifest, now: Micros) -> list[Any]:
    return [
        _name_of_class(item, _DEFAULT_CLASS),
        item["provisioner"],
        item.get("reclaimPolicy", "Delete"),
        item.get("volumeBindingMode", "Immediate"),
        bool(item.get("allowVolumeExpansion")),
        age_of(item, now),
    ]


def _csi_node(item: Manifest, now: Micros) -> list[Any]:
    return [item["metadata"]["name"], len(item["spec"].get("drivers") or ()), age_of(item, now)]


def _csi_driver(item: Manifest, now: Micros) -> list[Any]:
    spec = item["spec"]
    requests = spec.get("tokenRequests")
    return [
        item["metadata"]["name"],
        bool(spec.get("attachRequired", True)),
        *(bool(spec.get(field)) for field in ("podInfoOnMount", "storageCapacity")),
        UNSET if requests is None else ",".join(each.get("audience", "") for each in requests),
        bool(spec.get("requiresRepublish")),
        ",".join(spec.get("volumeLifecycleModes") or ()) or NONE,
        age_of(item, now),
    ]


def _csi_capacity(item: Manifest, now: Micros) -> list[Any]:
    return [item["metadata"]["name"], item["storageClassName"], item.get("capacity", UNSET)]


def _attachment(item: Manifest, now: Micros) -> list[Any]:
    spec = item["spec"]
    return [
        item["metadata"]["name"],
        spec["attacher"],
        spec["source"].get("persistentVolumeName", ""),
        spec["nodeName"],
        bool(status_of(item).get("attached")),
        age_of(item, now),
    ]


def _attributes_class(item: Manifest, now: Micros) -> list[Any]:
    return [_name_of_class(item, (_DEFAULT_ATTRIBUTES_CLASS,)), item["driverName"], age_of(item, now)]


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
    "csidrivers.storage.k8s.io": Printer(
        (
            NAME,
            Column("AttachRequired", "CSIDriverSpec.attachRequired", "boolean"),
            Column("PodInfoOnMount", "CSIDriverSpec.podInfoOnMount", "boolean"),
            Column("StorageCapacity", "CSIDriverSpec.storageCapacity", "boolean"),
            Column("TokenRequests", "CSIDriverSpec.tokenRequests"),
            Column("RequiresRepublish", "CSIDriverSpec.requiresRepublish", "boolean"),
            Column("Modes", "CSIDriverSpec.volumeLifecycleModes"),
            AGE,
        ),
        _csi_driver,
    ),
    "csistoragecapacities.storage.k8s.io": Printer(
        (
            NAME,
            Column("StorageClassName", "CSIStorageCapacity.storageClassName"),
            Column("Capacity", "CSIStorageCapacity.capacity"),
        ),
        _csi_capacity,
    ),
    "volumeattachments.storage.k8s.io": Printer(
        (
            NAME,
            Column("Attacher", "VolumeAttachmentSpec.attacher", format="name"),
            Column("PV", "VolumeAttachmentSource.persistentVolumeName"),
            Column("Node", "VolumeAttachmentSpec.nodeName"),
            Column("Attached", "VolumeAttachmentStatus.attached", "boolean"),
            AGE,
        ),
        _attachment,
    ),
    "volumeattributesclasses.storage.k8s.io": Printer(
        (NAME, Column("DriverName", "VolumeAttributesClass.driverName"), AGE), _attributes_class
    ),
}
