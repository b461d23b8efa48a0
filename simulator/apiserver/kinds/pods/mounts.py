"""Validation of the volumeMounts and volumeDevices of containers.

Upstream: ValidateVolumeMounts and ValidateVolumeDevices in pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.enumerations import PROPAGATIONS
from simulator.apiserver.field_checks import check_descending_path, check_no_steps_back
from simulator.apiserver.status import Cause, forbidden, invalid, not_found, not_supported, required

_RECURSIVE: Final = ("Disabled", "Enabled", "IfPossible")
_FOR_DEVICES: Final = ("persistentVolumeClaim", "ephemeral")
_PLACES: Final = {"volumeMounts": "mountPath", "volumeDevices": "devicePath"}
"""The lists, and the field of their items that says where the volume is in the container."""

Volumes = Mapping[str, Manifest]
"""The valid volumes of a pod, by name."""


def validate_mounts(container: Manifest, volumes: Volumes, path: str) -> Iterator[Cause]:
    for kind, other in (("volumeMounts", "volumeDevices"), ("volumeDevices", "volumeMounts")):
        if kind in container:
            yield from _placed(container, kind, other, volumes, f"{path}.{kind}")


def _placed(container: Manifest, kind: str, other: str, volumes: Volumes, path: str) -> Iterator[Cause]:
    """Yield the faults of the items of a list. ``other``: the other list, which has none of their names and
    places."""
    place_field, is_device = _PLACES[kind], kind == "volumeDevices"
    others = {each["name"]: each[_PLACES[other]] for each in container.get(other, ())}
    names, places = set[str](), set[str]()
    for index, item in enumerate(container[kind]):
        at, name, place = f"{path}[{index}]", item["name"], item[place_field]
        if not name:
            yield required(f"{at}.name")
        if is_device and name and name in names:
            yield invalid(f"{at}.name", name, "must be unique")
        names.add(name)
        if name not in volumes:
            yield not_found(f"{at}.name", name)
        elif is_device and not any(source in volumes[name] for source in _FOR_DEVICES):
            detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            yield invalid(f"{at}.name", name, detail)
        if not place:
            yield required(f"{at}.{place_field}")
        if place in places:
            yield invalid(f"{at}.{place_field}", place, "must be unique")
        if is_device and any(check_no_steps_back(place, at)):
            yield invalid(f"{at}.{place_field}", place, "can not contain backsteps ('..')")
        else:
            places.add(place)
        if name in others:
            yield invalid(f"{at}.name", name, f"must not already exist in {other}")
        if place in others.values():
            yield invalid(f"{at}.{place_field}", place, f"must not already exist as a path in {other}")
        if not is_device and len(item) > len(("name", "mountPath")):
            yield from _mount(item, container, at, path)


def _mount(mount: Manifest, container: Manifest, at: str, path: str) -> Iterator[Cause]:
    """Yield the faults of how a volume is mounted. Upstream leaves the index out of most paths."""
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
