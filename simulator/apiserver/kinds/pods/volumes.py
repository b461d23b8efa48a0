"""Validation of the volumes of pods.

Upstream: ValidateVolumes, validateVolumeSource and, for files that come from other objects,
validateKeyToPath, validateDownwardAPIVolumeFile and validateProjectionSources in
pkg/apis/core/validation/validation.go.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import PULL_POLICIES
from simulator.apiserver.field_checks import check_file_path
from simulator.apiserver.kinds.pods.environment import (
    VOLUME_FIELDS,
    validate_field_reference,
    validate_resource_reference,
)
from simulator.apiserver.kinds.volumes.validation import (
    DRIVER,
    NONE,
    PLUGINS,
    SECOND_NAMES,
    SEVERAL,
    TOKEN_SECONDS,
    of_schema,
    validate_claim_spec,
)
from simulator.apiserver.object_meta_validation import validate_template_metadata
from simulator.apiserver.shapes import (
    all_of,
    choice,
    each,
    field,
    filled,
    in_range,
    must_have,
    named_by,
    needed,
    union,
)
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, required
from simulator.objects import quantity

_ORDER: Final = (
    *("emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs"),
    *("iscsi", "glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte"),
    *("downwardAPI", "fc", "flexVolume", "configMap", "azureFile", "vsphereVolume"),
    *("photonPersistentDisk", "portworxVolume", "azureDisk", "storageos", "projected", "scaleIO", "csi"),
    *("ephemeral", "image"),
)
"""The sources in the order in which they are looked at."""


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
    yield from TOKEN_SECONDS(part, path)
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
_PARTS: Final[dict[str, Callable[[Manifest, str, str, set[str]], Iterator[Cause]]]] = {
    "secret": _named,
    "configMap": _named,
    "downwardAPI": _downward,
    "serviceAccountToken": _token,
}
"""The checks of the sources of a projected volume, called with the source, its path, the path of the volume
and the files that the volume has already."""


def validate_volumes(
    volumes: Collection[Manifest], path: str, pod_name: str, valid: dict[str, Manifest]
) -> Iterator[Cause]:
    """Validate the volumes of a pod. Adds the valid ones to ``valid``, by name: only these can be mounted.
    ``pod_name`` is empty for the template of a pod."""
    claims = {f"{pod_name}-{volume['name']}" for volume in volumes if pod_name and "ephemeral" in volume}
    for index, volume in enumerate(volumes):
        at = f"{path}[{index}]"
        faults = [*_volume(volume, at, pod_name, valid)]
        if faults:
            yield from faults
        else:
            valid[volume["name"]] = volume
        claim = volume.get("persistentVolumeClaim", {}).get("claimName", "")
        if claim in claims:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            yield invalid(f"{at}.persistentVolumeClaim.claimName", claim, detail)


def _volume(volume: Manifest, path: str, pod_name: str, known: Collection[str]) -> Iterator[Cause]:
    name = volume["name"]
    yield from _SOURCE(volume, path)
    if (
        "ephemeral" in volume
        and pod_name
        and name
        and not any(kind in volume for kind in _ORDER if kind != "ephemeral")
    ):
        claim = f"{pod_name}-{name}"
        for problem in names.dns_subdomain(claim):
            yield invalid(f"{path}.name", name, f'PVC name "{claim}": {problem}')
    yield from _NAME(volume, path)
    if name in known:
        yield duplicate(f"{path}.name", name)


def _empty_dir(source: Manifest, path: str) -> Iterable[Cause]:
    is_negative = quantity.parse_quantity(source.get("sizeLimit", "0")) < 0
    detail = "SizeLimit field must be a valid resource quantity"
    return (forbidden(f"{path}.sizeLimit", detail),) if is_negative else ()


def _claim_template(template: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidatePersistentVolumeClaimTemplate reports."""
    yield from validate_template_metadata(template.get("metadata") or {}, f"{path}.metadata", as_in_go=False)
    yield from validate_claim_spec(template["spec"], f"{path}.spec")


_NAME: Final = needed("name", named_by(names.dns_label))
_SOURCES: Final = {
    **PLUGINS,
    "emptyDir": field("emptyDir", _empty_dir),
    "secret": field("secret", SECRET),
    "downwardAPI": field("downwardAPI", DOWNWARD_API),
    "configMap": field("configMap", CONFIG_MAP),
    "projected": field("projected", validate_projected),
    "csi": field(
        "csi",
        DRIVER,
        field("nodePublishSecretRef", must_have("name")),
        # Upstream leaves the name of the reference out.
        filled("nodePublishSecretRef.name", named_by(names.dns_subdomain), shown="name"),
    ),
    "image": field("image", field("pullPolicy", choice(PULL_POLICIES))),
    "ephemeral": field("ephemeral", needed("volumeClaimTemplate", _claim_template)),
}
_SOURCE: Final = union(
    {kind: _SOURCES.get(kind) or of_schema(kind) for kind in _ORDER},
    none=NONE,
    several=SEVERAL,
    second_names=SECOND_NAMES,
)
