"""Validation of the volumes of pods.

Upstream: ValidateVolumes and validateVolumeSource in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.kinds.pods.projected_volumes import (
    CONFIG_MAP,
    DOWNWARD_API,
    SECRET,
    validate_projected,
)
from simulator.apiserver.kinds.volumes.plugins import (
    DRIVER,
    NONE,
    PLUGINS,
    SECOND_NAMES,
    SEVERAL,
    of_schema,
)
from simulator.apiserver.kinds.volumes.validation import validate_claim_spec
from simulator.apiserver.object_meta_validation import validate_template_metadata
from simulator.apiserver.shapes import field, filled, must_have, named_by, needed, union
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid
from simulator.objects import quantity

_ORDER: Final = (
    *("emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs"),
    *("iscsi", "glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte"),
    *("downwardAPI", "fc", "flexVolume", "configMap", "azureFile", "vsphereVolume"),
    *("photonPersistentDisk", "portworxVolume", "azureDisk", "storageos", "projected", "scaleIO", "csi"),
    "ephemeral",
)
"""The sources in the order in which they are looked at."""


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
    if "ephemeral" in volume and pod_name and name and not any(kind in volume for kind in _ORDER[:-1]):
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
    "ephemeral": field("ephemeral", needed("volumeClaimTemplate", _claim_template)),
}
_SOURCE: Final = union(
    {kind: _SOURCES.get(kind) or of_schema(kind) for kind in _ORDER},
    none=NONE,
    several=SEVERAL,
    second_names=SECOND_NAMES,
)
