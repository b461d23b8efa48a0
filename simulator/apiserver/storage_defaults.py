"""Defaults of PersistentVolumes, PersistentVolumeClaims, StorageClasses, CSIDrivers and CSINodes
(pkg/apis/core/v1/defaults.go, pkg/registry/core/persistentvolumeclaim/strategy.go and
pkg/apis/storage/v1/defaults.go, v1.34)."""

import copy
from collections.abc import Callable

from simulator.api import Manifest
from simulator.apiserver.volume_defaults import set_claim_spec_defaults, set_source_defaults


def _default_volume(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    set_source_defaults(spec)


def _default_claim(manifest: Manifest) -> None:
    """Set the defaults, and of the two fields for the claim's source the one that is missing
    (NormalizeDataSources)."""
    spec = manifest.setdefault("spec", {})
    set_claim_spec_defaults(spec)
    if "dataSourceRef" not in spec and not _is_claim_or_snapshot(spec.get("dataSource") or {}):
        spec.pop("dataSource", None)
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None:
        spec["dataSourceRef"] = copy.deepcopy(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = {field: value for field, value in reference.items() if field != "namespace"}


def _is_claim_or_snapshot(source: Manifest) -> bool:
    """Whether a claim may be made of this; others are dropped (EnforceDataSourceBackwardsCompatibility)."""
    identity = (source.get("apiGroup") or "", source.get("kind"))
    return identity in (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))


STORAGE_DEFAULTS: dict[str, Callable[[Manifest], None]] = {
    "persistentvolumes": _default_volume,
    "persistentvolumeclaims": _default_claim,
}
