"""The queueing hints of VolumeBinding (volumebinding/volume_binding.go, v1.34)."""

from simulator.api import Manifest
from simulator.framework.cluster_event import (
    CSI_DRIVER,
    CSI_NODE,
    CSI_STORAGE_CAPACITY,
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    STORAGE_CLASS,
    ActionType,
)
from simulator.framework.queueing_hint import ClusterEventWithHint, register, same_namespace
from simulator.objects import quantity
from simulator.objects.csi_migration import MIGRATED_PLUGINS
from simulator.objects.metadata import annotations_of
from simulator.objects.pod import Pod
from simulator.objects.volumes import claim_references, pod_volumes


def events_to_register() -> list[ClusterEventWithHint]:
    add_or_update = ActionType.ADD | ActionType.UPDATE
    return [
        register(STORAGE_CLASS, add_or_update, class_changed),
        register(PERSISTENT_VOLUME_CLAIM, add_or_update, claim_changed),
        register(PERSISTENT_VOLUME, add_or_update),
        register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
        register(CSI_NODE, add_or_update, csi_node_changed),
        register(CSI_DRIVER, ActionType.UPDATE, csi_driver_updated),
        register(CSI_STORAGE_CAPACITY, add_or_update, capacity_changed),
    ]


def class_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue if the class was added, or its allowed topologies changed."""
    return old is None or old.get("allowedTopologies") != new.get("allowedTopologies")


def claim_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue if the pod uses the claim."""
    return same_namespace(pod, new) and any(
        reference.name == new["metadata"]["name"] for reference in claim_references(pod)
    )


def csi_node_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue if the CSINode was added, or its migrated in-tree plugins changed."""
    if old is None:
        return True
    return annotations_of(old).get(MIGRATED_PLUGINS) != annotations_of(new).get(MIGRATED_PLUGINS)


def csi_driver_updated(pod: Pod, old: Manifest, new: Manifest) -> bool:
    """Queue if the driver of one of the pod's inline volumes no longer tracks capacity."""
    if not any(v["csi"]["driver"] == new["metadata"]["name"] for v in pod_volumes(pod) if v.get("csi")):
        return False
    return bool(old["spec"].get("storageCapacity")) and not new["spec"].get("storageCapacity")


def capacity_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue if the capacity was added, or its volume limit grew."""
    if old is None:
        return True
    before, after = _volume_limit(old), _volume_limit(new)
    return after is not None and (before is None or after > before)


def _volume_limit(capacity: Manifest) -> int | None:
    """Return the size in bytes of the largest volume that can be provisioned: the maximum if there is one,
    else the whole capacity."""
    stated = capacity.get("maximumVolumeSize", capacity.get("capacity"))
    return None if stated is None else quantity.value(quantity.parse_quantity(stated))
