"""VolumeZone (pkg/scheduler/framework/plugins/volumezone/volume_zone.go, v1.34)."""

from typing import Any

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.objects.pod import Pod
from simulator.objects.volumes import WAIT_FOR_FIRST_CONSUMER, claim_names
from simulator.plugins.volume_zone import topologies_of
from simulator.queueing.cluster_event import (
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    STORAGE_CLASS,
    ActionType,
)
from simulator.queueing.hint import Registered, register, same_namespace


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    return [
        register(STORAGE_CLASS, ActionType.ADD, class_added),
        register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
        register(PERSISTENT_VOLUME_CLAIM, ActionType.ADD | ActionType.UPDATE, claim_changed),
        register(PERSISTENT_VOLUME, ActionType.ADD | ActionType.UPDATE, volume_changed),
    ]


def class_added(pod: Pod, old: None, new: Manifest) -> bool:
    return bool(new.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER)


def claim_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    return same_namespace(pod, new) and new["metadata"]["name"] in claim_names(pod)


def volume_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    return old is None or topologies_of(_labels(old)) != topologies_of(_labels(new))


def _labels(volume: Manifest) -> dict[str, str]:
    return volume["metadata"].get("labels") or {}
