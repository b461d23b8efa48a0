"""Removes the finalizer of PodGroups that are being deleted, when no pod of them is left that is not over.

Upstream: pkg/controller/scheduling/podgroupprotection/podgroup_protection_controller.go."""

from simulator.api import Manifest
from simulator.controllers.pods import is_finished
from simulator.controllers.storage_protection import ProtectionController
from simulator.objects.pod_group import POD_GROUP_PROTECTION, POD_GROUPS, group_key_of


class PodGroupProtectionController(ProtectionController):
    component = "PodGroupProtection"
    resource = POD_GROUPS
    finalizer = POD_GROUP_PROTECTION
    watches = (POD_GROUPS, "pods")

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource == "pods" and old is not None and (new is None or is_finished(new)):
            group = group_key_of(old)
            if group:
                self.enqueue_if_ending(group)

    def _is_used(self, key: str, manifest: Manifest) -> bool:
        return any(pod.pod_group == key and not is_finished(pod.manifest) for pod in self._pods.values())
