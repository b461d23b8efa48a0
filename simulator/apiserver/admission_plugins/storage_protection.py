"""The StorageObjectInUseProtection admission plugin: finalizers keep claims, volumes and classes while they
are in use. A controller removes them (``simulator/controllers/storage_protection.py``).

Upstream: plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go."""

from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes
from simulator.objects.volumes import PROTECTION


class StorageObjectInUseProtection(AdmissionPlugin):
    name = "StorageObjectInUseProtection"
    handles = dict.fromkeys(PROTECTION, ("CREATE",))

    def admit(self, request: Attributes) -> None:
        finalizer, metadata = PROTECTION[request.resource.id], request.object["metadata"]
        known = metadata.get("finalizers", [])
        if finalizer not in known:
            metadata["finalizers"] = [*known, finalizer]
