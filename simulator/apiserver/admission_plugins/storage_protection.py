"""The StorageObjectInUseProtection admission plugin: finalizers keep claims, volumes and classes while they
are in use. A controller removes them (``simulator/controllers/storage_protection.py``).

Upstream: plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go, v1.34."""

from typing import Final

from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes

PROTECTION: Final = {
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "persistentvolumes": "kubernetes.io/pv-protection",
    "volumeattributesclasses.storage.k8s.io": "kubernetes.io/vac-protection",
}
"""The finalizer of each resource."""


class StorageObjectInUseProtection(AdmissionPlugin):
    name = "StorageObjectInUseProtection"
    handles = dict.fromkeys(PROTECTION, ("CREATE",))

    def admit(self, request: Attributes) -> None:
        finalizer, metadata = PROTECTION[request.resource.id], request.object["metadata"]
        known = metadata.get("finalizers", [])
        if finalizer not in known:
            metadata["finalizers"] = [*known, finalizer]
