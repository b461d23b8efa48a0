"""Validation of the volumes of pods whose files come from other objects: secret, configMap, downwardAPI and
projected.

Upstream: validateKeyToPath, validateDownwardAPIVolumeFile and validateProjectionSources in
pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.kinds.pods.environment import (
    VOLUME_FIELDS,
    validate_field_reference,
    validate_resource_reference,
)
from simulator.apiserver.paths import check_file_path
from simulator.apiserver.shapes import all_of, each, field, in_range, must_have, where
from simulator.apiserver.status import Cause, forbidden, invalid, required


def validate_projected(source: Manifest, path: str) -> Iterator[Cause]:
    yield from _DEFAULT_MODE(source, path)
    seen: set[str] = set()
    for index, part in enumerate(source.get("sources", ())):
        at = f"{path}.sources[{index}]"
        given = [kind for kind in _PARTS if kind in part]
        for kind in given:
            yield from _PARTS[kind](part[kind], f"{at}.{kind}", path, seen)
        if len(given) > 1:
            yield forbidden(at, "may not specify more than 1 volume type per source")


def _content(item: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults of the content of a file: a field of the pod or a resource of a container."""
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


def _named(part: Manifest, path: str, volume: str, seen: set[str]) -> Iterator[Cause]:
    """Yield the faults of a Secret or a ConfigMap."""
    yield from _NAMED(part, path)
    for index, item in enumerate(part.get("items", ())):
        yield from _KEY_TO_PATH(item, f"{path}.items[{index}]")
        yield from _unique(item.get("path", ""), part.get("name", ""), volume, seen)


def _downward(part: Manifest, path: str, volume: str, seen: set[str]) -> Iterator[Cause]:
    for item in part.get("items", ()):
        yield from _DOWNWARD_FILE(item, path)
        yield from _unique(item.get("path", ""), item.get("path", ""), volume, seen)


def _token(part: Manifest, path: str, volume: str, seen: set[str]) -> Iterator[Cause]:
    yield from _TOKEN_SECONDS(part, path)
    # Upstream writes the path of the volume.
    yield from _FILE(part, volume)


def _unique(file: str, shown: str, volume: str, seen: set[str]) -> Iterator[Cause]:
    if file and file in seen:
        yield invalid(volume, shown, "conflicting duplicate paths")
    seen.add(file)


_MODE: Final = in_range(0, 0o777, detail="must be a number between 0 and 0777 (octal), both inclusive")
_FILE: Final = all_of(must_have("path"), field("path", check_file_path))
_KEY_TO_PATH: Final = all_of(must_have("key"), _FILE, field("mode", _MODE))
_DOWNWARD_FILE: Final = all_of(_FILE, _content, field("mode", _MODE))
_NAMED: Final = must_have("name")
_DEFAULT_MODE: Final = field("defaultMode", _MODE)
_FILES: Final = all_of(_DEFAULT_MODE, each("items", _KEY_TO_PATH))
SECRET: Final = all_of(must_have("secretName"), _FILES)
CONFIG_MAP: Final = all_of(_NAMED, _FILES)
# Upstream leaves the index of the item out.
DOWNWARD_API: Final = all_of(_DEFAULT_MODE, each("items", _DOWNWARD_FILE, indexed=False, shown=""))
_TOKEN_SECONDS: Final = field(
    "expirationSeconds",
    where(lambda seconds: seconds >= 600, "may not specify a duration less than 10 minutes"),
    where(lambda seconds: seconds <= 1 << 32, "may not specify a duration larger than 2^32 seconds"),
    default=0,
)
_PARTS: Final[dict[str, Callable[[Manifest, str, str, set[str]], Iterator[Cause]]]] = {
    "secret": _named,
    "configMap": _named,
    "downwardAPI": _downward,
    "serviceAccountToken": _token,
}
"""The checks of the sources of a projected volume, called with the source, its path, the path of the volume
and the files that the volume has already."""
