"""VolumeZone (pkg/scheduler/framework/plugins/volumezone/volume_zone.go, v1.34)."""

from typing import Any

from simulator import node
from simulator.api import Manifest
from simulator.pod import Pod
from simulator.queueing.cluster_event import (
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    STORAGE_CLASS,
    ActionType,
)
from simulator.queueing.hint import Registered, register
from simulator.queueing.hints.volumes import claim_names, in_namespace_of

TOPOLOGY_LABELS = (node.ZONE_BETA, node.REGION_BETA, node.ZONE, node.REGION)


def events_to_register(args: Any) -> list[Registered]:
    return [
        register(STORAGE_CLASS, ActionType.ADD, class_added),
        register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
        register(PERSISTENT_VOLUME_CLAIM, ActionType.ADD | ActionType.UPDATE, claim_changed),
        register(PERSISTENT_VOLUME, ActionType.ADD | ActionType.UPDATE, volume_changed),
    ]


def class_added(pod: Pod, old: None, new: Manifest) -> bool:
    return bool(new.get("volumeBindingMode") == "WaitForFirstConsumer")


def claim_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    return in_namespace_of(pod, new) and new["metadata"]["name"] in claim_names(pod)


def volume_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    return old is None or topologies(old) != topologies(new)


def topologies(volume: Manifest) -> dict[str, frozenset[str]]:
    """The zones and regions of a volume. A label with an empty one among them ("a__") is no set of zones."""
    labels = volume["metadata"].get("labels") or {}
    found = {
        key: [zone.strip() for zone in labels[key].split("__")] for key in TOPOLOGY_LABELS if key in labels
    }
    return {key: frozenset(zones) for key, zones in found.items() if all(zones)}
