"""Validation of the volumeMounts and volumeDevices of containers.

Upstream: ValidateVolumeMounts and ValidateVolumeDevices in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.enumerations import PROPAGATIONS
from simulator.apiserver.field_checks import check_descending_path, check_no_steps_back
from simulator.apiserver.status import Cause, forbidden, invalid, not_found, not_supported, required

_RECURSIVE: Final = ("Disabled", "Enabled", "IfPossible")
_FOR_DEVICES: Final = ("persistentVolumeClaim", "ephemeral")

Volumes = Mapping[str, Manifest]
"""The valid volumes of a pod, by name."""


def validate_mounts(container: Manifest, volumes: Volumes, path: str) -> Iterator[Cause]:
    if "volumeMounts" in container:
        yield from _mounts(container, volumes, f"{path}.volumeMounts")
    if "volumeDevices" in container:
        yield from _devices(container, volumes, f"{path}.volumeDevices")


def _mounts(container: Manifest, volumes: Volumes, path: str) -> Iterator[Cause]:
    devices = {device["name"]: device["devicePath"] for device in container.get("volumeDevices", ())}
    seen: set[str] = set()
    for index, mount in enumerate(container["volumeMounts"]):
        at, name, place = f"{path}[{index}]", mount["name"], mount["mountPath"]
        if not name:
            yield required(f"{at}.name")
        if name not in volumes:
            yield not_found(f"{at}.name", name)
        if not place:
            yield required(f"{at}.mountPath")
        if place in seen:
            yield invalid(f"{at}.mountPath", place, "must be unique")
        seen.add(place)
        if name in devices:
            yield invalid(f"{at}.name", name, "must not already exist in volumeDevices")
        if place in devices.values():
            yield invalid(f"{at}.mountPath", place, "must not already exist as a path in volumeDevices")
        # Upstream leaves the index out of the following paths.
        if mount.get("subPath"):
            yield from check_descending_path(mount["subPath"], f"{path}.subPath")
        if mount.get("subPathExpr"):
            if mount.get("subPath"):
                detail = "subPathExpr and subPath are mutually exclusive"
                yield invalid(f"{at}.subPathExpr", mount["subPathExpr"], detail)
            yield from check_descending_path(mount["subPathExpr"], f"{path}.subPathExpr")
        if "mountPropagation" in mount:
            yield from _propagation(mount["mountPropagation"], container, f"{path}.mountPropagation")
        if "recursiveReadOnly" in mount:
            yield from _recursive_read_only(mount, f"{path}.recursiveReadOnly")


def _propagation(propagation: str, container: Manifest, path: str) -> Iterator[Cause]:
    if propagation not in PROPAGATIONS:
        yield not_supported(path, propagation, PROPAGATIONS)
    elif propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        detail = "Bidirectional mount propagation is available only to privileged containers"
        yield forbidden(path, detail)


def _recursive_read_only(mount: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateMountRecursiveReadOnly reports."""
    value = mount["recursiveReadOnly"]
    if value not in _RECURSIVE:
        yield not_supported(path, value, _RECURSIVE)
    elif value != "Disabled":
        if not mount.get("readOnly"):
            yield forbidden(path, "may only be specified when readOnly is true")
        if mount.get("mountPropagation", "None") != "None":
            yield forbidden(path, "may only be specified when mountPropagation is None or not specified")


def _devices(container: Manifest, volumes: Volumes, path: str) -> Iterator[Cause]:
    mounts = {mount["name"]: mount["mountPath"] for mount in container.get("volumeMounts", ())}
    names: set[str] = set()
    places: set[str] = set()
    for index, device in enumerate(container["volumeDevices"]):
        at, name, place = f"{path}[{index}]", device["name"], device["devicePath"]
        volume = volumes.get(name)
        if not name:
            yield required(f"{at}.name")
        if name in names:
            yield invalid(f"{at}.name", name, "must be unique")
        if volume is None:
            yield not_found(f"{at}.name", name)
        elif not any(kind in volume for kind in _FOR_DEVICES):
            detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            yield invalid(f"{at}.name", name, detail)
        if not place:
            yield required(f"{at}.devicePath")
        if place in places:
            yield invalid(f"{at}.devicePath", place, "must be unique")
        if any(check_no_steps_back(place, at)):
            yield invalid(f"{at}.devicePath", place, "can not contain backsteps ('..')")
        else:
            places.add(place)
        if name in mounts:
            yield invalid(f"{at}.name", name, "must not already exist in volumeMounts")
        if place in mounts.values():
            yield invalid(f"{at}.devicePath", place, "must not already exist as a path in volumeMounts")
        if name:
            names.add(name)
