"""Warnings about PersistentVolumes, claims and the kinds of storage.k8s.io.

Upstream: pkg/api/{persistentvolume,persistentvolumeclaim,storage}/util.go, v1.34.
"""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.deprecated_labels import DEPRECATED_LABELS
from simulator.apiserver.volume_update_validation import CLASS_ANNOTATION
from simulator.objects import quantity

_CLASS_IS_DEPRECATED: Final = 'deprecated since v1.8; use "storageClassName" attribute instead'
_RECYCLE: Final = (
    "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended "
    "approach is to use dynamic provisioning."
)
_PLUGINS: Final = {
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "photonPersistentDisk": ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    "scaleIO": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}
"""The sources of PersistentVolumes that are deprecated, with the name that upstream writes."""


def volume_warnings(manifest: Manifest) -> Iterator[str]:
    spec = manifest["spec"]
    yield from _annotation_warnings(manifest)
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield _RECYCLE
    terms = (spec.get("nodeAffinity") or {}).get("required", {}).get("nodeSelectorTerms", ())
    for index, term in enumerate(terms):
        path = f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]"
        yield from _expression_warnings(term, path)
    for source, (name, text) in _PLUGINS.items():
        if source in spec:
            yield f"spec.{name}: {text}"


def claim_warnings(manifest: Manifest) -> Iterator[str]:
    yield from _annotation_warnings(manifest)
    yield from claim_spec_warnings(manifest["spec"], "spec")


def claim_spec_warnings(spec: Manifest, path: str) -> Iterator[str]:
    """Yield the warnings about a claim's spec (GetWarningsForPersistentVolumeClaimSpec)."""
    for kind in ("requests", "limits"):
        text = ((spec.get("resources") or {}).get(kind) or {}).get("storage", "0")
        if quantity.parse_quantity(text) % quantity.NANO:
            at = f"{path}.resources.{kind}[storage]"
            yield f'{at}: fractional byte value "{text}" is invalid, must be an integer'


def _annotation_warnings(manifest: Manifest) -> Iterator[str]:
    if CLASS_ANNOTATION in (manifest["metadata"].get("annotations") or {}):
        yield f"metadata.annotations[{CLASS_ANNOTATION}]: {_CLASS_IS_DEPRECATED}"


def _expression_warnings(selector: Manifest, path: str) -> Iterator[str]:
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        key = expression.get("key")
        if key in DEPRECATED_LABELS:
            yield f"{path}.matchExpressions[{index}].key: {key} is {DEPRECATED_LABELS[key]}"


def storage_class_warnings(manifest: Manifest) -> Iterator[str]:
    for index, topology in enumerate(manifest.get("allowedTopologies") or ()):
        for number, expression in enumerate(topology.get("matchLabelExpressions") or ()):
            if expression.get("key") in DEPRECATED_LABELS:
                path = f"allowedTopologies[{index}].matchLabelExpressions[{number}].key"
                yield f"{path}: {DEPRECATED_LABELS[expression['key']]}"


def storage_capacity_warnings(manifest: Manifest) -> Iterator[str]:
    topology = manifest.get("nodeTopology") or {}
    yield from _expression_warnings(topology, "nodeTopology")
    for key in sorted(topology.get("matchLabels") or ()):
        if key in DEPRECATED_LABELS:
            yield f"nodeTopology.matchLabels.{key}: {DEPRECATED_LABELS[key]}"


def node_warnings(manifest: Manifest) -> Iterator[str]:
    """Yield the warnings about a node (fieldIsDeprecatedWarnings in pkg/registry/core/node/strategy.go)."""
    if manifest.get("spec", {}).get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"
