"""Remove the finalizers of claims, volumes and classes that are being deleted, when nothing uses them.

Upstream: pkg/controller/volume/pvcprotection/pvc_protection_controller.go, pvprotection and vacprotection."""

from typing import ClassVar

from simulator.api import Manifest
from simulator.controllers.controller import Controller
from simulator.objects.metadata import (
    is_terminating,
    is_waiting_for,
    name_of,
    namespace_of_key,
    object_key,
    without_finalizer,
)
from simulator.objects.pod import Pod
from simulator.objects.status import phase_of, status_of
from simulator.objects.volumes import PROTECTION, PVCS, PVS, claim_references, ephemeral_claim_problem

CLASSES = "volumeattributesclasses.storage.k8s.io"


class ProtectionController(Controller):
    """The base of the controllers that remove a finalizer."""

    finalizer: ClassVar[str]

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if resource == self.resource and new is not None and is_terminating(new):
            self.enqueue(key)

    def enqueue_if_ending(self, key: str) -> None:
        """Look again at an object that waits for its users."""
        manifest = self._world.informer.get(self.resource, key)
        if manifest is not None and is_terminating(manifest):
            self.enqueue(key)

    def sync(self, key: str, manifest: Manifest) -> None:
        if is_waiting_for(manifest, self.finalizer) and not self._is_used(key, manifest):
            self.patch(self.resource, manifest, lambda current: without_finalizer(current, self.finalizer))

    def _is_used(self, key: str, manifest: Manifest) -> bool:
        raise NotImplementedError


class PersistentVolumeClaimProtectionController(ProtectionController):
    """The controller of the finalizer of claims. A claim is in use by a pod that has a node, also when the
    pod is over."""

    component = "PersistentVolumeClaimProtection"
    resource = PVCS
    finalizer = PROTECTION[PVCS]
    watches = (PVCS, "pods")

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource == "pods" and new is None and old is not None:
            namespace, pod = namespace_of_key(key), name_of(old)
            for volume in old["spec"].get("volumes") or ():
                claim = volume.get("persistentVolumeClaim")
                name = claim.get("claimName", "") if claim is not None else f"{pod}-{volume['name']}"
                if claim is not None or volume.get("ephemeral") is not None:
                    self.enqueue_if_ending(object_key(namespace, name))

    def _is_used(self, key: str, manifest: Manifest) -> bool:
        namespace, name = namespace_of_key(key), name_of(manifest)
        return any(
            pod.namespace == namespace and pod.node_name and _uses(pod, name, manifest)
            for pod in self._pods.values()
        )


class PersistentVolumeProtectionController(ProtectionController):
    """The controller of the finalizer of volumes. A volume is in use while it is bound."""

    component = "PersistentVolumeProtection"
    resource = PVS
    finalizer = PROTECTION[PVS]
    watches = (PVS,)

    def _is_used(self, key: str, manifest: Manifest) -> bool:
        return phase_of(manifest) == "Bound"


class VolumeAttributesClassProtectionController(ProtectionController):
    """The controller of the finalizer of VolumeAttributesClasses. A class is in use by the claims that ask
    for it or have it, and by the volumes that have it."""

    component = "VolumeAttributesClassProtection"
    resource = CLASSES
    finalizer = PROTECTION[CLASSES]
    watches = (CLASSES, PVCS, PVS)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource != CLASSES and old is not None:
            for name in _classes_of(old):
                self.enqueue_if_ending(name)

    def _is_used(self, key: str, manifest: Manifest) -> bool:
        users = [*self._world.informer.of(PVCS).values(), *self._world.informer.of(PVS).values()]
        return any(key in _classes_of(user) for user in users)


def _uses(pod: Pod, name: str, claim: Manifest) -> bool:
    return any(
        reference.name == name and not (reference.ephemeral and ephemeral_claim_problem(pod, claim))
        for reference in claim_references(pod)
    )


def _classes_of(manifest: Manifest) -> set[str]:
    """Return the names of the classes that a claim or volume uses."""
    names = (
        manifest["spec"].get("volumeAttributesClassName"),
        status_of(manifest).get("currentVolumeAttributesClassName"),
        (status_of(manifest).get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    )
    return {name for name in names if name}
