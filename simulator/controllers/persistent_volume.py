"""The controllers of claims and volumes: bind claims to volumes that fit, provision new ones by their storage
class, and reclaim volumes (pkg/controller/volume/persistentvolume/pv_controller.go).

Simplified: any provisioner creates the volume that is asked for, in the zone of the selected node, after a
time that an annotation of the storage class sets."""

from collections.abc import Iterable, Iterator

from simulator.api import SECOND, Manifest, Micros
from simulator.controllers.controller import Controller, ControllerContext
from simulator.controllers.status_types import VolumeStatus
from simulator.objects.csi_migration import BY_NAME
from simulator.objects.durations import annotated_seconds
from simulator.objects.metadata import (
    annotations_of,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    object_key,
    uid_of,
    with_annotations,
)
from simulator.objects.node import ZONE
from simulator.objects.status import phase_of, with_status
from simulator.objects.volumes import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    NO_PROVISIONER,
    PVCS,
    PVS,
    SELECTED_NODE,
    STORAGE_CLASSES,
    WAIT_FOR_FIRST_CONSUMER,
    claim_reference_to,
    is_fully_bound,
    is_volume_bound_to_claim,
    storage_class_name,
    volume_capacity,
)
from simulator.plugins.volume_binding.claims import matching_volumes
from simulator.trace import VolumeBound

PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
PROVISION_SECONDS = "schedviz/provision-seconds"
"""The annotation of a StorageClass that sets how long its provisioner takes for a volume; 0 without it."""


class PersistentVolumeClaimController(Controller):
    component = "PersistentVolumeClaim"
    resource = PVCS
    watches = (PVCS, PVS, STORAGE_CLASSES)

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._provisioning: dict[str, tuple[str, str | None, Micros]] = {}
        """Claim whose volume is being provisioned -> its uid, the selected node, and the time at which the
        volume is created. A new leader begins again."""

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource in (PVS, STORAGE_CLASSES):
            for claim_key, claim in self._world.informer.of(PVCS).items():
                if not is_fully_bound(claim) or claim["spec"]["volumeName"] == key:
                    self.enqueue(claim_key)

    def sync(self, key: str, manifest: Manifest) -> None:
        if is_terminating(manifest):
            return
        name = manifest["spec"].get("volumeName", "")
        volume = self._world.informer.get(PVS, name) if name else self._find_volume(manifest)
        if volume is not None:
            if volume["spec"].get("claimRef") is None or is_volume_bound_to_claim(volume, manifest):
                self._bind(key, manifest, volume)
        elif name and BIND_COMPLETED in annotations_of(manifest):
            if phase_of(manifest) != "Lost":
                self.set_status(manifest, VolumeStatus("Lost"))
        elif not name:
            self._provision(key, manifest)

    def sync_deleted(self, key: str) -> None:
        self._provisioning.pop(key, None)

    def _find_volume(self, claim: Manifest) -> Manifest | None:
        """Return the volume that is reserved for the claim, else the smallest one that fits. None: there is
        none, or the scheduler has to select a node first (findBestMatchForClaim)."""
        volumes = self._world.informer.of(PVS).values()
        reserved = next((volume for volume in volumes if is_volume_bound_to_claim(volume, claim)), None)
        delayed = self._is_binding_delayed(claim) and SELECTED_NODE not in annotations_of(claim)
        if reserved is not None or delayed:
            return reserved
        return smallest_volume(volumes, claim)

    def _is_binding_delayed(self, claim: Manifest) -> bool:
        """Return whether the class delays the binding (IsDelayBindingMode)."""
        storage_class = self._world.informer.get(STORAGE_CLASSES, storage_class_name(claim)) or {}
        return bool(storage_class.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER)

    def _bind(self, key: str, claim: Manifest, volume: Manifest) -> None:
        """Update the claim and the volume in one write."""
        new_volume, new_claim = bound_pair(volume, claim)
        name = name_of(volume)
        changes = [
            change
            for resource, old, new in ((PVS, volume, new_volume), (PVCS, claim, new_claim))
            if new != old
            for change in self._world.server.update_by_component(resource, old, new)
        ]
        if changes:
            events = [] if is_fully_bound(claim) else [VolumeBound(t=self._world.now, claim=key, volume=name)]
            self._world.commit(changes, events)

    def _provision(self, key: str, claim: Manifest) -> None:
        """Create a volume, if the claim's class has a provisioner and the scheduler has selected a node where
        it has to (provisionClaim)."""
        class_of_claim = storage_class_name(claim)
        storage_class = self._world.informer.get(STORAGE_CLASSES, class_of_claim) if class_of_claim else None
        if storage_class is None or storage_class["provisioner"] == NO_PROVISIONER:
            return
        node = annotations_of(claim).get(SELECTED_NODE)
        if self._is_binding_delayed(claim) and node is None:
            return
        due = self._provisioned_at(key, claim, storage_class, node)
        if due > self._world.now:
            self.enqueue(key, due)
            return
        on = self._world.informer.get("nodes", node) if node else None
        self.create(claim, [provisioned_volume(claim, storage_class, on)])

    def _provisioned_at(self, key: str, claim: Manifest, storage_class: Manifest, node: str | None) -> Micros:
        """Return the time at which the volume is created: the provisioner begins at the first request for
        it."""
        uid, selected, due = self._provisioning.get(key, ("", None, 0))
        if (uid, selected) != (uid_of(claim), node):
            seconds = annotated_seconds(annotations_of(storage_class), PROVISION_SECONDS) or 0
            due = self._world.now + seconds * SECOND
            self._provisioning[key] = uid_of(claim), node, due
        return due


def smallest_volume(volumes: Iterable[Manifest], claim: Manifest) -> Manifest | None:
    """Return the volume that the claim is bound to; None = none fits."""
    fitting = matching_volumes(volumes, claim)
    return min(fitting, default=None, key=lambda volume: (volume_capacity(volume), name_of(volume)))


def bound_pair(volume: Manifest, claim: Manifest) -> tuple[Manifest, Manifest]:
    """Return the volume and the claim, bound to each other."""
    spec = {**volume["spec"], "claimRef": claim_reference_to(claim)}
    new_claim = with_annotations(claim, {BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"})
    new_claim = with_status(
        {**new_claim, "spec": {**claim["spec"], "volumeName": name_of(volume)}},
        phase="Bound",
        accessModes=volume["spec"].get("accessModes"),
        capacity=volume["spec"].get("capacity"),
    )
    return with_status({**volume, "spec": spec}, phase="Bound"), new_claim


def provisioned_volume(claim: Manifest, storage_class: Manifest, node: Manifest | None) -> Manifest:
    """Return the volume that is created for a claim. node: the one that the scheduler has selected; None =
    the class does not wait for one."""
    provisioner, name = storage_class["provisioner"], f"pvc-{uid_of(claim)}"
    spec = {
        "capacity": dict(claim["spec"]["resources"]["requests"]),
        "accessModes": claim["spec"]["accessModes"],
        "volumeMode": claim["spec"].get("volumeMode", "Filesystem"),
        "storageClassName": name_of(storage_class),
        "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
        "claimRef": claim_reference_to(claim),
        "csi": {"driver": csi_driver_of(provisioner), "volumeHandle": name},
        **_zone_affinity(node),
    }
    metadata = {"name": name, "annotations": {PROVISIONED_BY: provisioner}, "ownerReferences": []}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}


def _zone_affinity(node: Manifest | None) -> Manifest:
    """Return the nodeAffinity of a volume in the zone of a node; {} if the node has no zone."""
    zone = labels_of(node).get(ZONE) if node is not None else None
    if zone is None:
        return {}
    expression = {"key": ZONE, "operator": "In", "values": [zone]}
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}}


class PersistentVolumeController(Controller):
    """Sets the phase of volumes, and reclaims volumes whose claim was deleted."""

    component = "PersistentVolume"
    resource = PVS
    watches = (PVCS, PVS)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource == PVCS:
            for manifest in (old, new):
                if manifest is not None and manifest["spec"].get("volumeName"):
                    self.enqueue(manifest["spec"]["volumeName"])

    def sync(self, key: str, manifest: Manifest) -> None:
        reference = manifest["spec"].get("claimRef")
        if reference is None or not reference.get("uid"):
            # Without a claim, or reserved for one that does not exist yet.
            self.set_status(manifest, VolumeStatus("Available"))
            return
        claim_key = object_key(reference.get("namespace"), reference.get("name"))
        claim = self._world.informer.get(PVCS, claim_key)
        if claim is not None and uid_of(claim) == reference["uid"]:
            phase = "Bound" if claim["spec"].get("volumeName") == key else "Available"
            self.set_status(manifest, VolumeStatus(phase))
        elif phase_of(manifest) != "Released":
            self.set_status(manifest, VolumeStatus("Released"))
        elif manifest["spec"].get("persistentVolumeReclaimPolicy") == "Delete" and not is_terminating(
            manifest
        ):
            self.delete(manifest, [manifest], "its claim is gone")


class EphemeralVolumeController(Controller):
    """Creates the claims of pods with ephemeral volumes (pkg/controller/volume/ephemeral/controller.go)."""

    component = "Pod"
    resource = "pods"
    watches = ("pods",)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if new is not None and old is None and any(_ephemeral_volumes(new)):
            self.enqueue(key)

    def sync(self, key: str, manifest: Manifest) -> None:
        if is_terminating(manifest):
            return
        namespace = namespace_of(manifest)
        for claim in ephemeral_claims(manifest):
            if self._world.informer.get(PVCS, object_key(namespace, name_of(claim))) is None:
                self.create(manifest, [claim])


def ephemeral_claims(pod: Manifest) -> Iterator[Manifest]:
    """Yield the claims of the pod's ephemeral volumes, as they are created."""
    for volume in _ephemeral_volumes(pod):
        template = volume["ephemeral"]["volumeClaimTemplate"]
        metadata = {**(template.get("metadata") or {}), "name": f"{name_of(pod)}-{volume['name']}"}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}
        yield {**claim, "spec": template["spec"]}


def _ephemeral_volumes(pod: Manifest) -> list[Manifest]:
    return [volume for volume in pod["spec"].get("volumes") or () if volume.get("ephemeral")]


def csi_driver_of(provisioner: str) -> str:
    """Return the CSI driver that provides the volumes of a storage class: the one to which an in-tree plugin
    is migrated, or the one that has the provisioner's name. Names of other provisioners have a slash, which
    no driver has: a dot takes its place."""
    in_tree = BY_NAME.get(provisioner)
    return in_tree.driver if in_tree else provisioner.replace("/", ".")
