"""Validation of the volumes of pods and of the mounts of containers.

Upstream: ValidateVolumes, validateVolumeSource and ValidateVolumeMounts in
pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.env_validation import (
    VOLUME_FIELDS,
    validate_field_reference,
    validate_resource_reference,
)
from simulator.apiserver.status import (
    Cause,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from simulator.apiserver.storage_validation import validate_claim_spec
from simulator.objects import quantity

_ORDER: Final = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
]
_HOST_PATH_TYPES: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
_MODE_RANGE: Final = "must be a number between 0 and 0777 (octal), both inclusive"
_MAX_MODE: Final = 0o777


def validate_volumes(volumes: Collection[Manifest], path: str, valid: set[str]) -> Iterator[Cause]:
    """Validate the volumes of a pod. Adds the names of the valid ones to ``valid``: only these can be
    mounted."""
    for index, volume in enumerate(volumes):
        faults = [*_volume(volume, f"{path}[{index}]", valid)]
        if faults:
            yield from faults
        else:
            valid.add(volume["name"])


def _volume(volume: Manifest, path: str, known: set[str]) -> Iterator[Cause]:
    given = [kind for kind in _ORDER if kind in volume]
    for number, kind in enumerate(given):
        if number:
            yield forbidden(f"{path}.{kind}", "may not specify more than 1 volume type")
        elif kind in _SOURCES:
            yield from _SOURCES[kind](volume[kind], f"{path}.{kind}")
    if not given:
        yield required(path, "must specify a volume type")
    name = volume["name"]
    if not name:
        yield required(f"{path}.name")
    elif problem := names.dns_label(name):
        yield invalid(f"{path}.name", name, problem)
    if name in known:
        yield duplicate(f"{path}.name", name)


def _empty_dir(source: Manifest, path: str) -> Iterator[Cause]:
    if quantity.parse_quantity(source.get("sizeLimit", "0")) < 0:
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _host_path(source: Manifest, path: str) -> Iterator[Cause]:
    if not source.get("path"):
        yield required(f"{path}.path")
        return
    yield from _no_steps_back(source["path"], f"{path}.path")
    if source.get("type", "") not in _HOST_PATH_TYPES:
        yield not_supported(f"{path}.type", source["type"], _HOST_PATH_TYPES)


def _secret(source: Manifest, path: str) -> Iterator[Cause]:
    if not source.get("secretName"):
        yield required(f"{path}.secretName")
    yield from _keys(source, path)


def _config_map(source: Manifest, path: str) -> Iterator[Cause]:
    if not source.get("name"):
        yield required(f"{path}.name")
    yield from _keys(source, path)


def _keys(source: Manifest, path: str) -> Iterator[Cause]:
    yield from _mode(source.get("defaultMode"), f"{path}.defaultMode")
    for index, item in enumerate(source.get("items", ())):
        at = f"{path}.items[{index}]"
        if not item.get("key"):
            yield required(f"{at}.key")
        if not item.get("path"):
            yield required(f"{at}.path")
        yield from _file_path(item.get("path", ""), f"{at}.path")
        yield from _mode(item.get("mode"), f"{at}.mode")


def _nfs(source: Manifest, path: str) -> Iterator[Cause]:
    for field in ("server", "path"):
        if not source.get(field):
            yield required(f"{path}.{field}")
    if not source.get("path", "/").startswith("/"):
        yield invalid(f"{path}.path", source["path"], "must be an absolute path")


def _claim(source: Manifest, path: str) -> Iterator[Cause]:
    if not source.get("claimName"):
        yield required(f"{path}.claimName")


def _downward_api(source: Manifest, path: str) -> Iterator[Cause]:
    yield from _mode(source.get("defaultMode"), f"{path}.defaultMode")
    at = path  # upstream leaves the index of the item out
    for item in source.get("items", ()):
        if not item.get("path"):
            yield required(f"{at}.path")
        yield from _file_path(item.get("path", ""), f"{at}.path")
        if "fieldRef" in item:
            yield from validate_field_reference(item["fieldRef"], VOLUME_FIELDS, f"{at}.fieldRef")
            if "resourceFieldRef" in item:
                detail = "fieldRef and resourceFieldRef can not be specified simultaneously"
                yield invalid(at, "resource", detail)
        elif "resourceFieldRef" in item:
            reference = item["resourceFieldRef"]
            yield from validate_resource_reference(reference, f"{at}.resourceFieldRef", is_volume=True)
        else:
            yield required(at, "one of fieldRef and resourceFieldRef is required")
        yield from _mode(item.get("mode"), f"{at}.mode")


def _csi(source: Manifest, path: str) -> Iterator[Cause]:
    driver = source.get("driver", "")
    if not driver:
        yield required(f"{path}.driver")
    elif problem := names.dns_subdomain(driver.lower()):
        yield invalid(f"{path}.driver", driver, problem)


def _projected(source: Manifest, path: str) -> Iterator[Cause]:
    yield from _mode(source.get("defaultMode"), f"{path}.defaultMode")


def _ephemeral(source: Manifest, path: str) -> Iterator[Cause]:
    template, at = source.get("volumeClaimTemplate"), f"{path}.volumeClaimTemplate"
    if template is None:
        yield required(at)
    else:
        yield from validate_claim_spec(template["spec"], f"{at}.spec")


_SOURCES: Final[dict[str, Callable[[Manifest, str], Iterator[Cause]]]] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "secret": _secret,
    "nfs": _nfs,
    "persistentVolumeClaim": _claim,
    "downwardAPI": _downward_api,
    "configMap": _config_map,
    "projected": _projected,
    "csi": _csi,
    "ephemeral": _ephemeral,
}


def _mode(mode: int | None, path: str) -> Iterator[Cause]:
    if mode is not None and not 0 <= mode <= _MAX_MODE:
        yield invalid(path, mode, _MODE_RANGE)


def _file_path(text: str, path: str) -> Iterator[Cause]:
    """validateLocalNonReservedPath."""
    yield from _descending_path(text, path)
    if text.startswith("..") and not text.startswith("../"):
        yield invalid(path, text, "must not start with '..'")


def _descending_path(text: str, path: str) -> Iterator[Cause]:
    """validateLocalDescendingPath."""
    if text.startswith("/"):
        yield invalid(path, text, "must be a relative path")
    yield from _no_steps_back(text, path)


def _no_steps_back(text: str, path: str) -> Iterator[Cause]:
    if ".." in text.split("/"):
        yield invalid(path, text, "must not contain '..'")


def validate_mounts(container: Manifest, volumes: Collection[str], path: str) -> Iterator[Cause]:
    """Validate the volumeMounts of a container. ``volumes``: the names of the pod's volumes."""
    devices = container.get("volumeDevices", ())
    seen: set[str] = set()
    base = f"{path}.volumeMounts"
    for index, mount in enumerate(container.get("volumeMounts", ())):
        at, name, place = f"{base}[{index}]", mount["name"], mount["mountPath"]
        if not name:
            yield required(f"{at}.name")
        if name not in volumes:
            yield not_found(f"{at}.name", name)
        if not place:
            yield required(f"{at}.mountPath")
        if place in seen:
            yield invalid(f"{at}.mountPath", place, "must be unique")
        seen.add(place)
        if any(device["name"] == name for device in devices):
            yield invalid(f"{at}.name", name, "must not already exist in volumeDevices")
        if any(device["devicePath"] == place for device in devices):
            yield invalid(f"{at}.mountPath", place, "must not already exist as a path in volumeDevices")
        # Upstream leaves the index out of the following paths.
        for field in ("subPath", "subPathExpr"):
            if mount.get(field):
                yield from _descending_path(mount[field], f"{base}.{field}")
        if mount.get("subPath") and mount.get("subPathExpr"):
            detail = "subPathExpr and subPath are mutually exclusive"
            yield invalid(f"{at}.subPathExpr", mount["subPathExpr"], detail)
        yield from _propagation(mount, container, f"{base}.mountPropagation")


def _propagation(mount: Manifest, container: Manifest, path: str) -> Iterator[Cause]:
    propagation = mount.get("mountPropagation", "None")
    if propagation not in _PROPAGATIONS:
        yield not_supported(path, propagation, _PROPAGATIONS)
    elif propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        detail = "Bidirectional mount propagation is available only to privileged containers"
        yield forbidden(path, detail)
