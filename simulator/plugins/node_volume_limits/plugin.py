"""NodeVolumeLimits (pkg/scheduler/framework/plugins/nodevolumelimits/csi.go)."""

from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints
from simulator.cluster.volume_objects import csi_node_column
from simulator.framework.cluster_event import (
    CSI_NODE,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    VOLUME_ATTACHMENT,
    ActionType,
)
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import EnqueueExtensions, FilterPlugin, PreFilterPlugin, SignPlugin
from simulator.framework.node_batch import NodeBatch
from simulator.framework.queueing_hint import ClusterEventWithHint, freed_resources, register, same_namespace
from simulator.framework.signers import Fragments, sign_volumes
from simulator.framework.status import (
    PreFilterResult,
    Status,
    Verdicts,
    error,
    unresolvable,
    unschedulable,
)
from simulator.objects.csi_migration import IN_TREE_VOLUME_PLUGINS, in_tree_source
from simulator.objects.pod import Pod
from simulator.objects.volumes import CSI_DRIVERS, CSI_NODES, claim_names, claim_references, pod_volumes
from simulator.plugins.node_volume_limits.attached_volumes import (
    AttachedVolumes,
    AttachedVolumesUntilV135,
    AttachError,
    ClaimNotFound,
    Volumes,
    attachable_volumes,
    has_attachable_volumes,
)

REASON = unschedulable("node(s) exceed max volume count")
NO_LIMIT = -1
VOLUME_LIMIT_SCALING = "VolumeLimitScaling"


class NodeVolumeLimits(EnqueueExtensions, SignPlugin, PreFilterPlugin, FilterPlugin):
    """Rejects nodes on which the pod's volumes exceed the limit of a CSI driver, which is in the CSINode."""

    name = "NodeVolumeLimits"

    @property
    def _attached_volumes(self) -> type[AttachedVolumes]:
        migrated = self.handle.features.version.portworx_is_migrated
        return AttachedVolumes if migrated else AttachedVolumesUntilV135

    def sign_pod(self, pod: Pod) -> Fragments:
        return sign_volumes(pod)

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [
            register(CSI_NODE, ActionType.ADD),
            register(CSI_NODE, ActionType.UPDATE, csi_node_updated),
            register(POD, ActionType.DELETE, pod_deleted),
            register(PERSISTENT_VOLUME_CLAIM, ActionType.ADD, claim_added),
            register(VOLUME_ATTACHMENT, ActionType.DELETE, attachment_deleted),
        ]

    def skips(self, pod: Pod) -> bool:
        return not has_attachable_volumes(pod)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        return None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        """Check the nodes in groups with the same migrated in-tree volume plugins. For all nodes of a group,
        the pod needs the same CSI volumes."""
        codes: Ints = np.zeros(len(nodes), dtype=np.int64)
        statuses: list[Status] = [REASON]
        kind = self._attached_volumes
        counted = nodes.take(
            csi_node_column(nodes.cluster, ("NodeVolumeLimits", kind.__name__), kind.migrated, np.uint8)
        )
        for plugins in np.unique(counted).tolist():
            here = counted == plugins
            try:
                new = attachable_volumes(nodes.cluster, pod, plugins, required=True)
            except ClaimNotFound as failure:
                statuses.append(unresolvable(str(failure)))
                codes[here] = len(statuses)
                continue
            except AttachError as failure:
                statuses.append(error(str(failure)))
                codes[here] = len(statuses)
                continue
            if new and self.handle.features.enabled(VOLUME_LIMIT_SCALING):
                here = here & ~_without_driver(nodes, here, new, codes, statuses)
            if new:
                attached = nodes.cluster.index(kind)
                attached.refresh()
                _check(nodes, here, new, codes, statuses, attached=attached)
        return Verdicts(codes, statuses)


def attach_limits(csi_node: Manifest | None) -> dict[str, int]:
    """Return the maximum number of attached volumes by driver, without drivers that have no limit."""
    drivers = (csi_node["spec"].get("drivers") or ()) if csi_node else ()
    return {
        driver["name"]: driver["allocatable"]["count"]
        for driver in drivers
        if (driver.get("allocatable") or {}).get("count") is not None
    }


def _without_driver(
    nodes: NodeBatch, here: Bools, new: Volumes, codes: Ints, statuses: list[Status]
) -> Bools:
    """Write which of the nodes ``here`` (bool[n]) lack a driver of the volumes ``new`` whose CSIDriver
    prevents scheduling there, and return them (checkCSIDriverOnNode). Of several drivers upstream names any;
    here it is the first by name."""
    cluster = nodes.cluster
    without: Bools = np.zeros(len(nodes), dtype=np.bool_)
    for driver in sorted(set(new.values())):
        spec = (cluster.objects(CSI_DRIVERS).get(driver) or {}).get("spec") or {}
        if spec.get("preventPodSchedulingIfMissing"):
            has = csi_node_column(
                cluster, ("NodeVolumeLimits", "driver", driver), partial(_has_driver, driver), np.bool_
            )
            lacking = here & ~without & ~nodes.take(has)
            if lacking.any():
                statuses.append(unschedulable(f"{driver} CSI driver is not installed on the node"))
                codes[lacking] = len(statuses)
                without |= lacking
    return without


def _has_driver(driver: str, csi_node: Manifest | None) -> bool:
    drivers = (csi_node["spec"].get("drivers") or ()) if csi_node else ()
    return any(each["name"] == driver for each in drivers)


def _check(
    nodes: NodeBatch,
    here: Bools,
    new: Volumes,
    codes: Ints,
    statuses: list[Status],
    *,
    attached: AttachedVolumes,
) -> None:
    """Write to ``codes`` and ``statuses`` which of the nodes ``here`` (bool[n]) cannot attach the volumes
    ``new``. The nodes are checked in columns by the numbers of volumes, except those for which the volumes
    must be compared, see :func:`_needs_comparison`."""
    cluster = nodes.cluster
    limited = csi_node_column(
        cluster, ("NodeVolumeLimits", "limited"), lambda csi_node: bool(attach_limits(csi_node)), np.bool_
    )
    here = here & nodes.take(limited)
    if not here.any():
        return
    changed = frozenset(nodes.changed)
    for driver, more in Counter(new.values()).items():
        limits = nodes.take(_limits(cluster, driver))
        codes[here & (limits != NO_LIMIT) & (nodes.take(attached.count(driver)) + more > limits)] = 1
    for i in np.flatnonzero(here & _needs_comparison(nodes, changed, attached, new)).tolist():
        name, row = nodes.node(i).name, int(nodes.rows[i])
        try:
            if i in changed:
                of_pods = attached.volumes_of_pods(name, nodes.pods(i))
            elif row in attached.errors:
                raise AttachError(attached.errors[row])
            else:
                of_pods = attached.of_pods(row)
        except AttachError as failure:
            statuses.append(error(str(failure)))
            codes[i] = len(statuses)
            continue
        limits_here = attach_limits(cluster.objects(CSI_NODES)[name])
        codes[i] = exceeds(limits_here, new, of_pods, attached.attachments.get(name, {}))


def _needs_comparison(
    nodes: NodeBatch, changed: Collection[int], attached: AttachedVolumes, new: Volumes
) -> Bools:
    """Return bool[n]: the nodes for which the numbers of volumes are not sufficient. These have one of the
    new volumes already, or VolumeAttachments (possibly for volumes of pods), or a pod whose volumes cannot be
    determined, or are a copy with other pods than in the cluster."""
    rows = nodes.cluster.rows
    by_row = np.zeros(nodes.cluster.width, dtype=np.bool_)
    by_row[[rows[name] for name in attached.attachments if name in rows]] = True
    by_row[list(attached.errors)] = True
    for volume in new:
        by_row[list(attached.users.get(volume, ()))] = True
    needed = nodes.take(by_row)
    needed[list(changed)] = True
    return needed


def _limits(cluster: Cluster, driver: str) -> Ints:
    column: Ints = csi_node_column(
        cluster,
        ("NodeVolumeLimits", "limit", driver),
        lambda csi_node: attach_limits(csi_node).get(driver, NO_LIMIT),
        np.int64,
    )
    return column


def exceeds(limits: Mapping[str, int], new: Volumes, of_pods: Volumes, of_attachments: Volumes) -> bool:
    """Whether the new volumes exceed the limits of a node that has the volumes of its pods and of its
    VolumeAttachments."""
    count = Counter(of_pods.values())
    count.update(driver for volume, driver in of_attachments.items() if volume not in of_pods)
    wanted = Counter(driver for volume, driver in new.items() if volume not in of_pods)
    return any(driver in limits and count[driver] + more > limits[driver] for driver, more in wanted.items())


# Queueing hints


def csi_node_updated(pod: Pod, old: Manifest, new: Manifest) -> bool:
    """Queue if the limit of a driver on the node increased. A missing limit counts as 0."""
    before = attach_limits(old)
    return any(limit > before.get(driver, 0) for driver, limit in attach_limits(new).items())


def pod_deleted(pod: Pod, old: Pod, new: None) -> bool:
    """Queue if the deleted pod has volumes that can have been attached."""
    return freed_resources(old) and has_attachable_volumes(old)


def claim_added(pod: Pod, old: None, new: Manifest) -> bool:
    """Queue if the pod uses the claim."""
    return same_namespace(pod, new) and any(
        reference.name == new["metadata"]["name"] for reference in claim_references(pod)
    )


def attachment_deleted(pod: Pod, old: Manifest, new: None) -> bool:
    """Queue if the pod uses any claim, or an in-tree volume whose CSI driver is that of the attachment."""
    sources = (in_tree_source(volume) for volume in pod_volumes(pod))
    drivers = {IN_TREE_VOLUME_PLUGINS[source].driver for source in sources if source is not None}
    return any(True for _ in claim_names(pod)) or old["spec"]["attacher"] in drivers
