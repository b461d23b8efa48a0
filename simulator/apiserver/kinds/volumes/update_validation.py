"""Validation of updates of PersistentVolumes and PersistentVolumeClaims: which fields may change.

Upstream: ValidatePersistentVolumeUpdate and ValidatePersistentVolumeClaimUpdate in
pkg/apis/core/validation/validation.go.
"""

import copy
from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.field_checks import IMMUTABLE
from simulator.apiserver.go_structs import core_struct, struct_difference, volume_source_struct
from simulator.apiserver.kinds.volumes.validation import SOURCES
from simulator.apiserver.status import NIL, Cause, forbidden, invalid
from simulator.objects import quantity

CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
"""The annotation that names a storage class in objects of old clients (BetaStorageClassAnnotation)."""
_ATTRIBUTES_CLASS: Final = "volumeAttributesClassName"
_CURRENT_CLASS: Final = "currentVolumeAttributesClassName"
_STABLE_LABELS: Final = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}


def validate_volume_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    after, before = new["spec"], old["spec"]
    sources = [_source(spec) for spec in (before, after)]
    if "csi" in before and "controllerExpandSecretRef" not in before["csi"]:
        # It may be added.
        sources[1].get("csi", {}).pop("controllerExpandSecretRef", None)
    if sources[0] != sources[1]:
        difference = struct_difference(*map(volume_source_struct, sources))
        detail = f"spec.persistentvolumesource is immutable after creation\n{difference}"
        yield forbidden("spec.persistentvolumesource", detail)
    yield from _volume_mode(after, before)
    affinity, known = after.get("nodeAffinity"), before.get("nodeAffinity")
    if known is not None and affinity not in (known, _with_stable_labels(known, affinity)):
        shown = NIL if affinity is None else core_struct("VolumeNodeAffinity", affinity)
        detail = f"{IMMUTABLE}, except for updating from beta label to GA"
        yield invalid("nodeAffinity", shown, detail, whole=True)
    if _ATTRIBUTES_CLASS in before and _ATTRIBUTES_CLASS not in after:
        yield forbidden(f"spec.{_ATTRIBUTES_CLASS}", "update from non-nil value to nil is forbidden")


def _source(spec: Manifest) -> dict[str, Any]:
    return {source: copy.deepcopy(spec[source]) for source in SOURCES if source in spec}


def _volume_mode(after: Manifest, before: Manifest) -> Iterator[Cause]:
    if after.get("volumeMode") != before.get("volumeMode"):
        # Upstream leaves out the spec.
        yield invalid("volumeMode", after.get("volumeMode", NIL), IMMUTABLE)


def _with_stable_labels(known: Manifest, new: Manifest | None) -> Manifest:
    """Return the stored affinity with the stable keys that ``new`` has where it has deprecated ones."""
    changed = copy.deepcopy(known)
    pairs = zip(_requirements(changed), _requirements(new or {}), strict=False)
    for requirement, wanted in pairs:
        if _STABLE_LABELS.get(requirement["key"]) == wanted["key"]:
            requirement["key"] = wanted["key"]
    return changed


def _requirements(affinity: Manifest) -> list[Manifest]:
    terms = affinity.get("required", {}).get("nodeSelectorTerms", ())
    return [
        each for term in terms for kind in ("matchExpressions", "matchFields") for each in term.get(kind, ())
    ]


def validate_claim_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults of changes to a claim's spec: it may not change but for its volume, once, a storage
    class where none was set, and the requested storage and the VolumeAttributesClass of a bound claim."""
    after, before = copy.deepcopy(new["spec"]), {**old["spec"]}
    if not before.get("volumeName"):
        before["volumeName"] = after.get("volumeName", "")
    yield from _storage_class(after, new, old)
    if new.get("status", {}).get("phase") == "Bound":
        requests = after.get("resources", {}).get("requests")
        known = before.get("resources", {}).get("requests", {})
        if requests is not None and "storage" in known:
            requests["storage"] = known["storage"]
        after[_ATTRIBUTES_CLASS] = before.get(_ATTRIBUTES_CLASS)
    structs = [core_struct("PersistentVolumeClaimSpec", spec) for spec in (before, after)]
    if structs[0] != structs[1]:
        yield forbidden(
            "spec",
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for "
            f"bound claims\n{struct_difference(*structs)}",
        )
    yield from _shrinking(new, old)
    yield from _volume_mode(new["spec"], old["spec"])
    yield from _attributes_class(new, old)


def _storage_class(after: Manifest, new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults of the class: it may be set where there was none, and moved from the annotation of old
    clients to its field. What may change is set to the stored value in ``after``."""
    before = old["spec"]
    known, given = (each["metadata"].get("annotations", {}).get(CLASS_ANNOTATION) for each in (old, new))
    wanted = after.get("storageClassName")
    is_added = "storageClassName" not in before and wanted is not None
    if is_added and wanted == known and given in (None, known):
        del after["storageClassName"]
        return
    if given != known:
        yield invalid(f"metadata.annotations.{CLASS_ANNOTATION}", given or "", IMMUTABLE)
    if is_added and known in (None, wanted):
        del after["storageClassName"]


def _shrinking(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults of a smaller size: a claim that could not be enlarged may be made smaller, but not as
    small as its volume is."""
    size, known = (
        quantity.parse_quantity(each["spec"].get("resources", {}).get("requests", {}).get("storage", "0"))
        for each in (new, old)
    )
    capacity = quantity.parse_quantity(old.get("status", {}).get("capacity", {}).get("storage", "0"))
    if size < known and size <= capacity:
        path = "spec.resources.requests.storage"
        yield forbidden(path, "field can not be less than status.capacity")


def _attributes_class(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults of the VolumeAttributesClass: a claim keeps one once its volume has its attributes."""
    known, given = (each["spec"].get(_ATTRIBUTES_CLASS) for each in (old, new))
    if known != given and not given and _CURRENT_CLASS in old.get("status", {}):
        what = "nil" if given is None else "empty string"
        detail = f"update to {what} is forbidden when status.{_CURRENT_CLASS} is not nil"
        yield forbidden(f"spec.{_ATTRIBUTES_CLASS}", detail)
