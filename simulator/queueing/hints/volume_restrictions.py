"""VolumeRestrictions (pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go, v1.34)."""

from collections.abc import Mapping
from typing import Any

from simulator.api import Manifest
from simulator.pod import Pod
from simulator.queueing.cluster_event import NODE, PERSISTENT_VOLUME_CLAIM, POD, ActionType
from simulator.queueing.hint import Registered, register
from simulator.queueing.hints.volumes import claim_names, in_namespace_of, volumes


def events_to_register(args: Any) -> list[Registered]:
    return [
        register(POD, ActionType.DELETE, pod_deleted),
        register(NODE, ActionType.ADD),
        register(PERSISTENT_VOLUME_CLAIM, ActionType.ADD, claim_added),
    ]


def claim_added(pod: Pod, old: None, new: Manifest) -> bool:
    return in_namespace_of(pod, new) and new["metadata"]["name"] in claim_names(pod)


def pod_deleted(pod: Pod, old: Pod, new: None) -> bool:
    """Queue when the pod that is gone used one of this pod's disks, or one of its claims: such a claim may be
    ReadWriteOncePod."""
    if old.namespace != pod.namespace:
        return False
    if any(conflicting(mine, other) for mine in volumes(pod) for other in volumes(old)):
        return True
    return not set(claim_names(pod)).isdisjoint(claim_names(old))


def conflicting(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """isVolumeConflict: the same disk, and not read only by both where that would do."""
    for kind, same, shared_when_read_only in (
        ("gcePersistentDisk", lambda x, y: x["pdName"] == y["pdName"], True),
        ("awsElasticBlockStore", lambda x, y: x["volumeID"] == y["volumeID"], False),
        ("iscsi", lambda x, y: x["iqn"] == y["iqn"], True),
        ("rbd", _same_rbd, True),
    ):
        x, y = a.get(kind), b.get(kind)
        if x and y and same(x, y) and not (shared_when_read_only and x.get("readOnly") and y.get("readOnly")):
            return True
    return False


def _same_rbd(x: Mapping[str, Any], y: Mapping[str, Any]) -> bool:
    # "rbd" is the pool that the API server fills in.
    return (
        not set(x["monitors"]).isdisjoint(y["monitors"])
        and x.get("pool", "rbd") == y.get("pool", "rbd")
        and x["image"] == y["image"]
    )
