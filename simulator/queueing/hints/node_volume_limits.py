"""NodeVolumeLimits (pkg/scheduler/framework/plugins/nodevolumelimits/csi.go, v1.34)."""

from typing import Any

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.objects.csi_migration import IN_TREE, in_tree_source
from simulator.objects.pod import Pod
from simulator.objects.volumes import claim_names, claim_references, pod_volumes
from simulator.plugins.attached_volumes import has_attachable_volumes
from simulator.plugins.node_volume_limits import attach_limits
from simulator.queueing.cluster_event import (
    CSI_NODE,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    VOLUME_ATTACHMENT,
    ActionType,
)
from simulator.queueing.hint import Registered, left_room, register, same_namespace


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    return [
        register(CSI_NODE, ActionType.ADD),
        register(CSI_NODE, ActionType.UPDATE, csi_node_updated),
        register(POD, ActionType.DELETE, pod_deleted),
        register(PERSISTENT_VOLUME_CLAIM, ActionType.ADD, claim_added),
        register(VOLUME_ATTACHMENT, ActionType.DELETE, attachment_deleted),
    ]


def pod_deleted(pod: Pod, old: Pod, new: None) -> bool:
    """Queue when the pod that is gone may have had a volume attached."""
    return left_room(old) and has_attachable_volumes(old)


def claim_added(pod: Pod, old: None, new: Manifest) -> bool:
    return same_namespace(pod, new) and any(
        reference.name == new["metadata"]["name"] for reference in claim_references(pod)
    )


def attachment_deleted(pod: Pod, old: Manifest, new: None) -> bool:
    """Queue when the pod has a claim (whose driver is not looked up), or an in-tree volume of this driver."""
    sources = (in_tree_source(volume) for volume in pod_volumes(pod))
    drivers = {IN_TREE[source].driver for source in sources if source is not None}
    return any(True for _ in claim_names(pod)) or old["spec"]["attacher"] in drivers


def csi_node_updated(pod: Pod, old: Manifest, new: Manifest) -> bool:
    """Queue when some driver allows more volumes on the node than before; no limit counts as 0."""
    before = attach_limits(old)
    return any(limit > before.get(driver, 0) for driver, limit in attach_limits(new).items())
