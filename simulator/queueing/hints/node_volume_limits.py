"""NodeVolumeLimits (pkg/scheduler/framework/plugins/nodevolumelimits/csi.go, v1.34)."""

from typing import Any

from simulator.api import Manifest
from simulator.pod import Pod
from simulator.queueing.cluster_event import (
    CSI_NODE,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    VOLUME_ATTACHMENT,
    ActionType,
)
from simulator.queueing.hint import Registered, register
from simulator.queueing.hints.volumes import all_claim_names, claim_names, in_namespace_of, volumes

MIGRATED_DRIVERS = {
    "awsElasticBlockStore": "ebs.csi.aws.com",
    "azureDisk": "disk.csi.azure.com",
    "azureFile": "file.csi.azure.com",
    "cinder": "cinder.csi.openstack.org",
    "gcePersistentDisk": "pd.csi.storage.gke.io",
    "portworxVolume": "pxd.portworx.com",
    "vsphereVolume": "csi.vsphere.vmware.com",
}
"""In-tree volumes are CSI volumes of these drivers by now (csi-translation-lib/translate.go in staging)."""


def events_to_register(args: Any) -> list[Registered]:
    return [
        register(CSI_NODE, ActionType.ADD),
        register(CSI_NODE, ActionType.UPDATE, csi_node_updated),
        register(POD, ActionType.DELETE, pod_deleted),
        register(PERSISTENT_VOLUME_CLAIM, ActionType.ADD, claim_added),
        register(VOLUME_ATTACHMENT, ActionType.DELETE, attachment_deleted),
    ]


def pod_deleted(pod: Pod, old: Pod, new: None) -> bool:
    """Queue when the pod that is gone may have had a volume attached."""
    return bool(old.node_name) and any(
        v.get("persistentVolumeClaim") or v.get("ephemeral") or not MIGRATED_DRIVERS.keys().isdisjoint(v)
        for v in volumes(old)
    )


def claim_added(pod: Pod, old: None, new: Manifest) -> bool:
    return in_namespace_of(pod, new) and new["metadata"]["name"] in all_claim_names(pod)


def attachment_deleted(pod: Pod, old: Manifest, new: None) -> bool:
    """Queue when the pod has a claim (whose driver is not looked up), or an in-tree volume of this driver."""
    drivers = {MIGRATED_DRIVERS[kind] for v in volumes(pod) for kind in v.keys() & MIGRATED_DRIVERS.keys()}
    return any(True for _ in claim_names(pod)) or old["spec"]["attacher"] in drivers


def csi_node_updated(pod: Pod, old: Manifest, new: Manifest) -> bool:
    """Queue when some driver allows more volumes on the node than before."""
    before = _limits(old)
    return any(name in before and limit > before[name] for name, limit in _limits(new).items())


def _limits(csi_node: Manifest) -> dict[str, int]:
    drivers = csi_node["spec"].get("drivers") or ()
    return {
        d["name"]: d["allocatable"]["count"] for d in drivers if (d.get("allocatable") or {}).get("count")
    }
