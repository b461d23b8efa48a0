"""The admission plugin PersistentVolumeClaimResize: which claims may ask for more storage.

Upstream: plugin/pkg/admission/storage/persistentvolume/resize/admission.go.
"""

from typing import Final

from simulator.api import Manifest
from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes
from simulator.apiserver.kinds.volumes.update_validation import CLASS_ANNOTATION
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.status import Forbidden
from simulator.objects import quantity

_CLAIMS: Final = "persistentvolumeclaims"
_NOT_BOUND: Final = "Only bound persistent volume claims can be expanded"
_NOT_ALLOWED: Final = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must "
    "support resize"
)


class ClaimResize(AdmissionPlugin):
    name = "PersistentVolumeClaimResize"
    handles = {_CLAIMS: ("UPDATE",)}

    def validate(self, request: Attributes) -> None:
        """Raise Forbidden if the claim asks for more and its class does not allow that."""
        new, old = request.object, request.old or {}
        if _size(new) <= _size(old):
            return
        if old.get("status", {}).get("phase") != "Bound":
            raise Forbidden(_CLAIMS, request.name, _NOT_BOUND)
        if not _allows_expansion(new, old, request.overlay):
            raise Forbidden(_CLAIMS, request.name, _NOT_ALLOWED)


def _size(claim: Manifest) -> quantity.Nanos:
    requests = claim["spec"].get("resources", {}).get("requests", {})
    return quantity.parse_quantity(requests.get("storage", "0"))


def _allows_expansion(new: Manifest, old: Manifest, overlay: Overlay) -> bool:
    name = _class_of(new)
    if not name or name != _class_of(old):
        return False
    storage_class = overlay.get("storageclasses.storage.k8s.io", name)
    return storage_class is not None and bool(storage_class.get("allowVolumeExpansion"))


def _class_of(claim: Manifest) -> str:
    """Return the class of a claim (GetPersistentVolumeClaimClass)."""
    annotations = claim["metadata"].get("annotations", {})
    return str(annotations.get(CLASS_ANNOTATION) or claim["spec"].get("storageClassName") or "")
