"""VolumeBinding (pkg/scheduler/framework/plugins/volumebinding/volume_binding.go, v1.34)."""

from typing import Any

from simulator import quantity
from simulator.api import Manifest
from simulator.pod import Pod
from simulator.queueing.cluster_event import (
    CSI_DRIVER,
    CSI_NODE,
    CSI_STORAGE_CAPACITY,
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    STORAGE_CLASS,
    ActionType,
)
from simulator.queueing.hint import Registered, register
from simulator.queueing.hints.volumes import all_claim_names, in_namespace_of, volumes

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"


def events_to_register(args: Any) -> list[Registered]:
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
    return old is None or old.get("allowedTopologies") != new.get("allowedTopologies")


def claim_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    return in_namespace_of(pod, new) and new["metadata"]["name"] in all_claim_names(pod)


def csi_node_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    return old is None or _migrated(old) != _migrated(new)


def _migrated(csi_node: Manifest) -> str:
    annotations = csi_node["metadata"].get("annotations") or {}
    plugins: str = annotations.get(MIGRATED_PLUGINS, "")
    return plugins


def csi_driver_updated(pod: Pod, old: Manifest, new: Manifest) -> bool:
    """Queue when the driver of one of the pod's inline volumes no longer tracks capacity."""
    if not any(v["csi"]["driver"] == new["metadata"]["name"] for v in volumes(pod) if v.get("csi")):
        return False
    return bool(old["spec"].get("storageCapacity")) and not new["spec"].get("storageCapacity")


def capacity_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    if old is None:
        return True
    before, after = _volume_limit(old), _volume_limit(new)
    return after is not None and (before is None or after > before)


def _volume_limit(capacity: Manifest) -> int | None:
    """The largest volume that can be made (bytes): the maximum where one is stated, else the whole
    capacity."""
    stated = capacity.get("maximumVolumeSize", capacity.get("capacity"))
    return None if stated is None else quantity.value(quantity.parse(stated))
