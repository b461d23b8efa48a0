"""pkg/scheduler/framework/plugins/nodevolumelimits/csi.go, v1.34."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints
from simulator.framework.interface import (
    SKIP,
    CycleState,
    FilterPlugin,
    PreFilterPlugin,
    PreFilterResult,
    Status,
    Verdicts,
    error,
    unresolvable,
    unschedulable,
)
from simulator.framework.node_batch import NodeBatch
from simulator.objects.pod import Pod
from simulator.objects.volumes import CSI_NODES, csi_node_column
from simulator.plugins.attached_volumes import (
    AttachedVolumes,
    AttachError,
    ClaimNotFound,
    Volumes,
    attachable_volumes,
    counted_plugins,
    has_attachable_volumes,
    volumes_of,
)

REASON = unschedulable("node(s) exceed max volume count")
NO_LIMIT = -1


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin):
    """A node can attach only so many volumes of a CSI driver: as many as its CSINode says."""

    name = "NodeVolumeLimits"

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        return None if has_attachable_volumes(pod) else SKIP

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        """What the pod brings is the same on all nodes where the same in-tree plugins have gone over."""
        codes: Ints = np.zeros(len(nodes), dtype=np.int64)
        statuses: list[Status] = [REASON]
        counted = nodes.take(
            csi_node_column(nodes.cluster, ("NodeVolumeLimits", "plugins"), counted_plugins, np.uint8)
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
            if new:
                _check(nodes, here, new, codes, statuses)
        return Verdicts(codes, statuses)


def attach_limits(csi_node: Manifest | None) -> dict[str, int]:
    """How many volumes of each driver a node can attach; drivers without a limit are not listed."""
    drivers = (csi_node["spec"].get("drivers") or ()) if csi_node else ()
    return {
        driver["name"]: driver["allocatable"]["count"]
        for driver in drivers
        if (driver.get("allocatable") or {}).get("count") is not None
    }


def _check(nodes: NodeBatch, here: Bools, new: Volumes, codes: Ints, statuses: list[Status]) -> None:
    """Hold the new volumes against the limits of the nodes ``here``: all at once by their numbers, and one by
    one where these do not tell."""
    cluster = nodes.cluster
    limited = csi_node_column(
        cluster, ("NodeVolumeLimits", "limited"), lambda csi_node: bool(attach_limits(csi_node)), np.bool_
    )
    here = here & nodes.take(limited)
    if not here.any():
        return
    attached = cluster.index(AttachedVolumes)
    attached.refresh()
    for driver, more in Counter(new.values()).items():
        limits = nodes.take(_limits(cluster, driver))
        codes[here & (limits != NO_LIMIT) & (nodes.take(attached.count(driver)) + more > limits)] = 1
    for i in np.flatnonzero(here & _unclear(nodes, attached, new)).tolist():
        name, row = nodes.node(i).name, int(nodes.rows[i])
        try:
            if i in nodes.changed:
                of_pods = volumes_of(cluster, name, nodes.pods(i))
            elif row in attached.faults:
                raise AttachError(attached.faults[row])
            else:
                of_pods = attached.of_pods(row)
        except AttachError as failure:
            statuses.append(error(str(failure)))
            codes[i] = len(statuses)
            continue
        limits_here = attach_limits(cluster.objects(CSI_NODES)[name])
        codes[i] = exceeds(limits_here, new, of_pods, attached.attachments.get(name, {}))


def _unclear(nodes: NodeBatch, attached: AttachedVolumes, new: Volumes) -> Bools:
    """The nodes where numbers do not tell: some of the new volumes are there already, or there are
    attachments that may be of the same volumes as pods, or faults, or supposed pods."""
    rows = nodes.cluster.rows
    unclear = np.zeros(nodes.cluster.width, dtype=np.bool_)
    unclear[[rows[name] for name in attached.attachments if name in rows]] = True
    unclear[list(attached.faults)] = True
    for volume in new:
        unclear[list(attached.users.get(volume, ()))] = True
    found = nodes.take(unclear)
    found[list(nodes.changed)] = True
    return found


def _limits(cluster: Cluster, driver: str) -> Ints:
    column: Ints = csi_node_column(
        cluster,
        ("NodeVolumeLimits", "limit", driver),
        lambda csi_node: attach_limits(csi_node).get(driver, NO_LIMIT),
        np.int64,
    )
    return column


def exceeds(limits: Mapping[str, int], new: Volumes, of_pods: Volumes, of_attachments: Volumes) -> bool:
    """Whether a node cannot take the new volumes beside those of its pods and its attachments."""
    count = Counter(of_pods.values())
    count.update(driver for volume, driver in of_attachments.items() if volume not in of_pods)
    wanted = Counter(driver for volume, driver in new.items() if volume not in of_pods)
    return any(driver in limits and count[driver] + more > limits[driver] for driver, more in wanted.items())
