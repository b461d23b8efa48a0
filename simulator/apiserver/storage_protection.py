"""The finalizers that keep claims, volumes and classes while they are in use. A controller removes them
(``simulator/controllers/storage_protection.py``).

Upstream: plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go, v1.34."""

from typing import Final

from simulator.api import Manifest

PROTECTION: Final = {
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "persistentvolumes": "kubernetes.io/pv-protection",
    "volumeattributesclasses.storage.k8s.io": "kubernetes.io/vac-protection",
}
"""The finalizer of each resource."""


def protect(resource: str, manifest: Manifest) -> None:
    """Add the finalizer to a new object, in place."""
    finalizer = PROTECTION.get(resource)
    known = manifest["metadata"].get("finalizers", [])
    if finalizer is not None and finalizer not in known:
        manifest["metadata"]["finalizers"] = [*known, finalizer]
