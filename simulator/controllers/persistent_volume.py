"""Claims get volumes: fitting ones that are there, or new ones by their class
(pkg/controller/volume/persistentvolume/pv_controller.go, v1.34).

Simplified: a provisioner is whatever the class names, and makes what it is asked for in the zone of the
selected node, as fast as an annotation of the class says. Claims and volumes in use may be deleted at any
time: no finalizers protect them."""

from simulator.api import SECOND, Change, Manifest, Micros
from simulator.controllers.controller import Controller
from simulator.controllers.ownership import Ownership, uid
from simulator.objects.durations import annotated_seconds
from simulator.objects.node import ZONE
from simulator.objects.pod_status import with_status
from simulator.objects.volumes import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    NO_PROVISIONER,
    PVCS,
    PVS,
    SELECTED_NODE,
    STORAGE_CLASSES,
    WAIT_FOR_FIRST_CONSUMER,
    annotations,
    capacity,
    claim_reference_to,
    class_name,
    fully_bound,
    reserved_for,
    with_annotations,
)
from simulator.plugins.volume_binding.claims import matching_volumes
from simulator.trace import VolumeBound
from simulator.world.world import World

PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
PROVISION_SECONDS = "schedviz/provision-seconds"
"""The annotation of a StorageClass that says how long its provisioner takes for a volume; without it, no time
at all."""


class PersistentVolumeClaimController(Controller):
    resource = PVCS
    kind = "PersistentVolumeClaim"
    dependents = ()

    def __init__(self, world: World, ownership: Ownership) -> None:
        super().__init__(world, ownership)
        self._provisioned_at: dict[str, tuple[str, str | None, Micros]] = {}
        """For claims in the works: the uid, the selected node, and when the volume will be there. A new
        leader begins them anew."""

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource in (PVS, STORAGE_CLASSES):
            for claim_key, claim in self._world.informer.of(PVCS).items():
                if not fully_bound(claim) or claim["spec"]["volumeName"] == key:
                    self.enqueue(claim_key)

    def sync(self, key: str, manifest: Manifest) -> None:
        if "deletionTimestamp" in manifest["metadata"]:
            return
        name = manifest["spec"].get("volumeName", "")
        volume = self._world.informer.get(PVS, name) if name else self._volume_for(manifest)
        if volume is not None:
            reference = volume["spec"].get("claimRef")
            if reference is None or reserved_for(volume, manifest):
                self._bind(key, manifest, volume)
        elif name and BIND_COMPLETED in annotations(manifest):
            self._set_phase(manifest, "Lost")
        elif not name:
            self._provision(key, manifest)

    def gone(self, key: str) -> None:
        self._provisioned_at.pop(key, None)

    def _volume_for(self, claim: Manifest) -> Manifest | None:
        """One that was bound to this claim beforehand, else the smallest that fits; None = none yet, or it is
        for the scheduler to say which."""
        volumes = self._world.informer.of(PVS).values()
        reserved = next((volume for volume in volumes if reserved_for(volume, claim)), None)
        if reserved is not None or (self._is_delayed(claim) and SELECTED_NODE not in annotations(claim)):
            return reserved
        fitting = matching_volumes(volumes, claim)
        return min(fitting, default=None, key=lambda volume: (capacity(volume), volume["metadata"]["name"]))

    def _is_delayed(self, claim: Manifest) -> bool:
        storage_class = self._world.informer.get(STORAGE_CLASSES, class_name(claim)) or {}
        return bool(storage_class.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER)

    def _bind(self, key: str, claim: Manifest, volume: Manifest) -> None:
        """Both sides in one write."""
        new_volume = with_status(
            {**volume, "spec": {**volume["spec"], "claimRef": claim_reference_to(claim)}}, phase="Bound"
        )
        name = volume["metadata"]["name"]
        new_claim = with_annotations(claim, {BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"})
        new_claim = {**new_claim, "spec": {**claim["spec"], "volumeName": name}}
        new_claim = with_status(
            new_claim,
            phase="Bound",
            accessModes=volume["spec"].get("accessModes"),
            capacity=volume["spec"].get("capacity"),
        )
        changes = [
            Change(resource, where, new, int(old["metadata"]["resourceVersion"]))
            for resource, where, new, old in (
                (PVS, name, new_volume, volume),
                (PVCS, key, new_claim, claim),
            )
            if new != old
        ]
        if changes:
            told = [] if fully_bound(claim) else [VolumeBound(t=self._world.now, claim=key, volume=name)]
            self._world.commit(changes, told)

    def _provision(self, key: str, claim: Manifest) -> None:
        """Make a volume, unless it is the scheduler's turn to choose a node, or nobody makes any."""
        name = class_name(claim)
        storage_class = self._world.informer.get(STORAGE_CLASSES, name) if name else None
        if storage_class is None or storage_class["provisioner"] == NO_PROVISIONER:
            return
        node = annotations(claim).get(SELECTED_NODE)
        if self._is_delayed(claim) and node is None:
            return
        due = self._ready_at(key, claim, storage_class, node)
        if due > self._world.now:
            self.enqueue(key, due)
            return
        provisioner, volume = storage_class["provisioner"], f"pvc-{uid(claim)}"
        spec = {
            "capacity": dict(claim["spec"]["resources"]["requests"]),
            "accessModes": claim["spec"]["accessModes"],
            "volumeMode": claim["spec"].get("volumeMode", "Filesystem"),
            "storageClassName": name,
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
            "claimRef": claim_reference_to(claim),
            "csi": {"driver": provisioner, "volumeHandle": volume},
            **self._reach(node),
        }
        metadata = {"name": volume, "annotations": {PROVISIONED_BY: provisioner}, "ownerReferences": []}
        made = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}
        self.create(claim, [made])

    def _ready_at(self, key: str, claim: Manifest, storage_class: Manifest, node: str | None) -> Micros:
        """When what is asked for will be there: the provisioner begins when it is first asked for it."""
        known, selected, due = self._provisioned_at.get(key, ("", None, 0))
        if (known, selected) != (uid(claim), node):
            seconds = annotated_seconds(annotations(storage_class), PROVISION_SECONDS) or 0
            due = self._world.now + seconds * SECOND
            self._provisioned_at[key] = uid(claim), node, due
        return due

    def _reach(self, node: str | None) -> Manifest:
        """The zone of the selected node, where it has one."""
        manifest = self._world.informer.get("nodes", node) if node else None
        zone = ((manifest or {}).get("metadata") or {}).get("labels", {}).get(ZONE)
        if zone is None:
            return {}
        expression = {"key": ZONE, "operator": "In", "values": [zone]}
        return {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}}

    def _set_phase(self, manifest: Manifest, phase: str) -> None:
        if (manifest.get("status") or {}).get("phase") != phase:
            self.set_status(manifest, phase=phase)


class PersistentVolumeController(Controller):
    """What phase a volume is in, and what becomes of it when its claim is gone."""

    resource = PVS
    kind = "PersistentVolume"
    dependents = ()

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource == PVCS:
            for manifest in (old, new):
                if manifest is not None and manifest["spec"].get("volumeName"):
                    self.enqueue(manifest["spec"]["volumeName"])

    def sync(self, key: str, manifest: Manifest) -> None:
        reference = manifest["spec"].get("claimRef")
        if "deletionTimestamp" in manifest["metadata"]:
            return
        if reference is None or not reference.get("uid"):
            # Bound beforehand by its author, or not at all.
            self.set_status(manifest, phase="Available")
            return
        claim = self._world.informer.get(PVCS, f"{reference['namespace']}/{reference['name']}")
        if claim is not None and uid(claim) == reference["uid"]:
            phase = "Bound" if claim["spec"].get("volumeName") == key else "Available"
            self.set_status(manifest, phase=phase)
        elif manifest["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
            self.delete(manifest, [manifest], "its claim is gone")
        else:
            self.set_status(manifest, phase="Released")


class EphemeralVolumeController(Controller):
    """Pods with ephemeral volumes get claims of their own
    (pkg/controller/volume/ephemeral/controller.go)."""

    resource = "pods"
    kind = "Pod"
    dependents = ()

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if resource == "pods" and new is not None and old is None and any(_ephemeral(new)):
            self.enqueue(key)

    def sync(self, key: str, manifest: Manifest) -> None:
        if "deletionTimestamp" in manifest["metadata"]:
            return
        namespace, _, pod = key.partition("/")
        for volume in _ephemeral(manifest):
            name = f"{pod}-{volume['name']}"
            if self._world.informer.get(PVCS, f"{namespace}/{name}") is None:
                template = volume["ephemeral"]["volumeClaimTemplate"]
                metadata = {**(template.get("metadata") or {}), "name": name}
                claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}
                self.create(manifest, [{**claim, "spec": template["spec"]}])


def _ephemeral(pod: Manifest) -> list[Manifest]:
    return [volume for volume in pod["spec"].get("volumes") or () if volume.get("ephemeral")]
