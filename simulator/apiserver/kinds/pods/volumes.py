"""Validation of the volumes of pods.

Upstream: ValidateVolumes and validateVolumeSource in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Collection, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.annotation_validation import validate_annotations
from simulator.apiserver.field_checks import check_name, check_required_name
from simulator.apiserver.kinds.pods.projected_volumes import (
    validate_config_map,
    validate_downward_api,
    validate_projected,
    validate_secret,
)
from simulator.apiserver.kinds.volumes.plugins import (
    CONTENT_NAMES,
    PLUGINS,
    SECOND_NAMES,
    Check,
    check_driver_name,
    check_of_schema,
)
from simulator.apiserver.kinds.volumes.validation import validate_claim_spec
from simulator.apiserver.selector_validation import validate_labels
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, required
from simulator.objects import quantity

_ORDER: Final = (
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
)
_TEMPLATE_FIELDS: Final = {
    "name": "name",
    "generateName": "generateName",
    "namespace": "namespace",
    "selfLink": "selfLink",
    "uid": "uID",
    "resourceVersion": "resourceVersion",
    "generation": "generation",
    "creationTimestamp": "creationTimestamp",
    "deletionTimestamp": "deletionTimestamp",
    "deletionGracePeriodSeconds": "deletionGracePeriodSeconds",
    "ownerReferences": "ownerReferences",
    "finalizers": "finalizers",
    "managedFields": "managedFields",
}
"""The fields of metadata that the template of a claim may not have, each with its name in messages."""


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
    name, is_first = volume["name"], True
    for kind in _ORDER:
        if kind not in volume:
            continue
        if is_first:
            check = _SOURCES.get(kind) or check_of_schema(kind)
            yield from check(volume[kind], f"{path}.{CONTENT_NAMES.get(kind, kind)}")
            if kind == "ephemeral" and pod_name and name:
                claim = f"{pod_name}-{name}"
                for problem in names.dns_subdomain(claim):
                    yield invalid(f"{path}.name", name, f'PVC name "{claim}": {problem}')
        else:
            at = f"{path}.{SECOND_NAMES.get(kind, kind)}"
            yield forbidden(at, "may not specify more than 1 volume type")
        is_first = False
    if is_first:
        yield required(path, "must specify a volume type")
    yield from check_required_name(names.dns_label, name, f"{path}.name")
    if name in known:
        yield duplicate(f"{path}.name", name)


def _empty_dir(source: Manifest, path: str) -> Iterator[Cause]:
    if quantity.parse_quantity(source.get("sizeLimit", "0")) < 0:
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _csi(source: Manifest, path: str) -> Iterator[Cause]:
    yield from check_driver_name(source.get("driver", ""), f"{path}.driver")
    secret = source.get("nodePublishSecretRef")
    if secret is not None and not secret.get("name"):
        yield required(f"{path}.nodePublishSecretRef.name")
    elif secret is not None:
        # Upstream leaves out the name of the reference.
        yield from check_name(names.dns_subdomain, secret["name"], f"{path}.name")


def _ephemeral(source: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidatePersistentVolumeClaimTemplate reports."""
    template, at = source.get("volumeClaimTemplate"), f"{path}.volumeClaimTemplate"
    if template is None:
        yield required(at)
        return
    metadata = template.get("metadata") or {}
    yield from validate_annotations(metadata.get("annotations", {}), f"{at}.metadata.annotations")
    yield from validate_labels(metadata.get("labels", {}), f"{at}.metadata.labels")
    for field, shown in _TEMPLATE_FIELDS.items():
        if metadata.get(field):
            yield forbidden(f"{at}.metadata.{shown}", "cannot be set")
    yield from validate_claim_spec(template["spec"], f"{at}.spec")


_SOURCES: Final[dict[str, Check]] = {
    **PLUGINS,
    "emptyDir": _empty_dir,
    "secret": validate_secret,
    "downwardAPI": validate_downward_api,
    "configMap": validate_config_map,
    "projected": validate_projected,
    "csi": _csi,
    "ephemeral": _ephemeral,
}
