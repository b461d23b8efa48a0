"""Defaults of volumes: those of pods, PersistentVolumes and PersistentVolumeClaims
(pkg/apis/core/v1/defaults.go)."""

from typing import Any

from simulator.api import Manifest

FIELD_API_VERSION = "v1"
"""The version of the fields that the downward API gives, where a reference names none."""
_MODE = 0o644
_TOKEN_SECONDS = 3600
_COMMON: dict[str, dict[str, Any]] = {
    "azureDisk": {"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": False},
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
}
"""The defaults of a source, which are the same in a pod and in a PersistentVolume."""
_OF_PODS: dict[str, dict[str, Any]] = {
    "configMap": {"defaultMode": _MODE},
    "downwardAPI": {"defaultMode": _MODE},
    "projected": {"defaultMode": _MODE},
    "secret": {"defaultMode": _MODE},
    **_COMMON,
}


def set_volume_defaults(volume: Manifest) -> None:
    """Set the defaults of a pod's volume. One without a source is an empty directory."""
    if len(volume) == 1:
        volume["emptyDir"] = {}
    for source, content in volume.items():
        if source in _OF_PODS:
            _set_missing(content, _OF_PODS[source])
        if source == "downwardAPI":
            _set_item_defaults(content)
        elif source == "projected":
            for part in content.get("sources", ()):
                _set_projection_defaults(part)
        elif source == "ephemeral" and "volumeClaimTemplate" in content:
            template = content["volumeClaimTemplate"]
            template.setdefault("metadata", {})
            set_claim_spec_defaults(template.setdefault("spec", {}))


def set_source_defaults(spec: Manifest) -> None:
    """Set the defaults of the source of a PersistentVolume, which is a field of its spec."""
    for source, defaults in _COMMON.items():
        if source in spec:
            _set_missing(spec[source], defaults)


def set_claim_spec_defaults(spec: Manifest) -> None:
    spec.setdefault("resources", {})
    spec.setdefault("volumeMode", "Filesystem")
    for field in ("dataSource", "dataSourceRef"):
        if field in spec:
            spec[field].setdefault("apiGroup", None)


def _set_missing(content: Manifest, defaults: Manifest) -> None:
    for field, value in defaults.items():
        content.setdefault(field, value)


def _set_item_defaults(projection: Manifest) -> None:
    for item in projection.get("items", ()):
        if "fieldRef" in item:
            item["fieldRef"].setdefault("apiVersion", FIELD_API_VERSION)
        if "resourceFieldRef" in item:
            item["resourceFieldRef"].setdefault("divisor", "0")


def _set_projection_defaults(part: Manifest) -> None:
    if "serviceAccountToken" in part:
        part["serviceAccountToken"].setdefault("expirationSeconds", _TOKEN_SECONDS)
    if "downwardAPI" in part:
        _set_item_defaults(part["downwardAPI"])
