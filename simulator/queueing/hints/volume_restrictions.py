"""VolumeRestrictions (pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go, v1.34)."""

from typing import Any

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.objects.pod import Pod
from simulator.objects.volumes import claim_names
from simulator.plugins.volume_restrictions import disks
from simulator.queueing.cluster_event import NODE, PERSISTENT_VOLUME_CLAIM, POD, ActionType
from simulator.queueing.hint import Registered, register, same_namespace


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    return [
        register(POD, ActionType.DELETE, pod_deleted),
        register(NODE, ActionType.ADD),
        register(PERSISTENT_VOLUME_CLAIM, ActionType.ADD, claim_added),
    ]


def claim_added(pod: Pod, old: None, new: Manifest) -> bool:
    return same_namespace(pod, new) and new["metadata"]["name"] in claim_names(pod)


def pod_deleted(pod: Pod, old: Pod, new: None) -> bool:
    """Queue when the pod that is gone used one of this pod's disks, or one of its claims: such a claim may be
    ReadWriteOncePod."""
    if old.namespace != pod.namespace:
        return False
    if any(mine.conflicts(other) for mine in disks(pod) for other in disks(old)):
        return True
    return not set(claim_names(pod)).isdisjoint(claim_names(old))
