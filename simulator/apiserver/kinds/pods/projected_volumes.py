"""Validation of the volumes of pods whose files come from other objects: secret, configMap, downwardAPI and
projected.

Upstream: validateKeyToPath, validateDownwardAPIVolumeFile and validateProjectionSources in
pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.field_checks import check_present
from simulator.apiserver.kinds.pods.environment import (
    VOLUME_FIELDS,
    validate_field_reference,
    validate_resource_reference,
)
from simulator.apiserver.paths import check_file_path, check_mode
from simulator.apiserver.status import Cause, forbidden, invalid, required

_MIN_TOKEN_SECONDS: Final = 10 * 60
_MAX_TOKEN_SECONDS: Final = 1 << 32


def validate_secret(source: Manifest, path: str) -> Iterator[Cause]:
    yield from check_present(source, ("secretName",), path)
    yield from _keys(source, path)


def validate_config_map(source: Manifest, path: str) -> Iterator[Cause]:
    yield from check_present(source, ("name",), path)
    yield from _keys(source, path)


def validate_downward_api(source: Manifest, path: str) -> Iterator[Cause]:
    yield from check_mode(source.get("defaultMode"), f"{path}.defaultMode")
    for item in source.get("items", ()):
        yield from _downward_file(item, path)  # upstream leaves the index of the item out


def validate_projected(source: Manifest, path: str) -> Iterator[Cause]:
    yield from check_mode(source.get("defaultMode"), f"{path}.defaultMode")
    seen: set[str] = set()
    for index, part in enumerate(source.get("sources", ())):
        at = f"{path}.sources[{index}]"
        given = [kind for kind in _PARTS if kind in part]
        for kind in given:
            yield from _PARTS[kind](part[kind], f"{at}.{kind}", path, seen)
        if len(given) > 1:
            yield forbidden(at, "may not specify more than 1 volume type per source")


def _keys(source: Manifest, path: str) -> Iterator[Cause]:
    yield from check_mode(source.get("defaultMode"), f"{path}.defaultMode")
    for index, item in enumerate(source.get("items", ())):
        yield from _key_to_path(item, f"{path}.items[{index}]")


def _key_to_path(item: Manifest, path: str) -> Iterator[Cause]:
    yield from check_present(item, ("key", "path"), path)
    yield from check_file_path(item.get("path", ""), f"{path}.path")
    yield from check_mode(item.get("mode"), f"{path}.mode")


def _downward_file(item: Manifest, path: str) -> Iterator[Cause]:
    yield from check_present(item, ("path",), path)
    yield from check_file_path(item.get("path", ""), f"{path}.path")
    if "fieldRef" in item:
        yield from validate_field_reference(item["fieldRef"], VOLUME_FIELDS, f"{path}.fieldRef")
        if "resourceFieldRef" in item:
            detail = "fieldRef and resourceFieldRef can not be specified simultaneously"
            yield invalid(path, "resource", detail)
    elif "resourceFieldRef" in item:
        reference = item["resourceFieldRef"]
        yield from validate_resource_reference(reference, f"{path}.resourceFieldRef", is_volume=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    yield from check_mode(item.get("mode"), f"{path}.mode")


def _named(part: Manifest, path: str, volume: str, seen: set[str]) -> Iterator[Cause]:
    """Yield the faults of a Secret or a ConfigMap."""
    yield from check_present(part, ("name",), path)
    for index, item in enumerate(part.get("items", ())):
        yield from _key_to_path(item, f"{path}.items[{index}]")
        yield from _unique(item.get("path", ""), part.get("name", ""), volume, seen)


def _downward(part: Manifest, path: str, volume: str, seen: set[str]) -> Iterator[Cause]:
    for item in part.get("items", ()):
        yield from _downward_file(item, path)
        yield from _unique(item.get("path", ""), item.get("path", ""), volume, seen)


def _token(part: Manifest, path: str, volume: str, seen: set[str]) -> Iterator[Cause]:
    seconds, at = part.get("expirationSeconds", 0), f"{path}.expirationSeconds"
    if seconds < _MIN_TOKEN_SECONDS:
        yield invalid(at, seconds, "may not specify a duration less than 10 minutes")
    if seconds > _MAX_TOKEN_SECONDS:
        yield invalid(at, seconds, "may not specify a duration larger than 2^32 seconds")
    # Upstream writes the path of the volume.
    yield from check_present(part, ("path",), volume)
    yield from check_file_path(part.get("path", ""), f"{volume}.path")


def _unique(file: str, shown: str, volume: str, seen: set[str]) -> Iterator[Cause]:
    if file and file in seen:
        yield invalid(volume, shown, "conflicting duplicate paths")
    seen.add(file)


_PARTS: Final[dict[str, Callable[[Manifest, str, str, set[str]], Iterator[Cause]]]] = {
    "secret": _named,
    "configMap": _named,
    "downwardAPI": _downward,
    "serviceAccountToken": _token,
}
"""The checks of the sources of a projected volume, called with the source, its path, the path of the volume
and the files that the volume has already."""
