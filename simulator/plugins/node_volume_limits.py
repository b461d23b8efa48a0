"""pkg/scheduler/framework/plugins/nodevolumelimits/csi.go, v1.34."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from simulator.api import Manifest
from simulator.cluster import Cluster
from simulator.columns import Bools, Ints
from simulator.csi_migration import (
    BY_NAME,
    IN_TREE,
    TranslationError,
    in_tree_source,
    migrated_plugins,
    volume_handle,
)
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
from simulator.pod import Pod
from simulator.volumes import (
    CSI_NODES,
    PVCS,
    PVS,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
    claim_reference,
    class_name,
    csi_node_column,
    disowned,
    find_claim,
    not_found,
    pod_volumes,
)

REASON = unschedulable("node(s) exceed max volume count")
NO_LIMIT = -1

Volumes = dict[str, str]
"""Volumes by ``driver/handle``, and their drivers: a volume of several pods counts once."""


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


def counted_plugins(csi_node: Manifest | None) -> int:
    """The bits of the in-tree plugins whose volumes count as a CSI driver's (isCSIMigrationOn in
    nodevolumelimits/utils.go). Unlike VolumeBinding, this plugin takes it for done where there is a CSINode,
    but for Portworx."""
    if csi_node is None:
        return 0
    portworx = IN_TREE["portworxVolume"].bit
    done = sum(plugin.bit for plugin in IN_TREE.values() if plugin.bit != portworx)
    return done | (migrated_plugins(csi_node) & portworx)


class AttachError(Exception):
    """A pod's volume that cannot be told."""


class ClaimNotFound(AttachError):
    """The incoming pod's claim is not there."""


def has_attachable_volumes(pod: Pod) -> bool:
    return any(
        claim_reference(pod, volume) is not None or in_tree_source(volume) is not None
        for volume in pod_volumes(pod)
    )


def attachable_volumes(cluster: Cluster, pod: Pod, plugins: int, *, required: bool) -> Volumes:
    """The pod's volumes that a CSI driver attaches (filterAttachableVolumes), where the in-tree ``plugins``
    (see counted_plugins) have gone over. Raises AttachError; a missing claim counts for nothing unless
    ``required``."""
    found: Volumes = {}
    for volume in pod_volumes(pod):
        reference = claim_reference(pod, volume)
        if reference is None:
            found |= _inline(volume, plugins)
            continue
        if not reference.name:
            raise AttachError("PersistentVolumeClaim had no name")
        claim = find_claim(cluster, pod, reference.name)
        if claim is None:
            if required:
                reason = not_found("persistentvolumeclaim", reference.name)
                raise ClaimNotFound(f"looking up PVC {pod.namespace}/{reference.name}: {reason}")
            continue
        if reference.ephemeral and (foreign := disowned(pod, claim)) is not None:
            raise AttachError(foreign)
        driver, handle = _driver_and_handle(cluster, claim, f"{pod.namespace}/{reference.name}", plugins)
        if driver and handle:
            found[f"{driver}/{handle}"] = driver
    return found


def _inline(volume: Mapping[str, Any], plugins: int) -> Volumes:
    """checkAttachableInlineVolume: a pod's own in-tree volume."""
    source = in_tree_source(volume)
    if source is None or not IN_TREE[source].bit & plugins:
        return {}
    driver = IN_TREE[source].driver
    try:
        return {f"{driver}/{volume_handle(source, volume[source], {})}": driver}
    except TranslationError as failure:
        message = f"converting volume({volume['name']}) from inline to csi: {failure}"
        raise AttachError(message) from None


NOT_COUNTED = ("", "")


def _driver_and_handle(cluster: Cluster, claim: Manifest, key: str, plugins: int) -> tuple[str, str]:
    """getCSIDriverInfo; NOT_COUNTED where no driver attaches the claim's volume."""
    volume = cluster.objects(PVS).get(claim["spec"].get("volumeName") or "")
    if volume is None:
        return _of_class(cluster, claim, key, plugins)
    csi = volume["spec"].get("csi")
    if csi is not None:
        return csi.get("driver") or "", csi.get("volumeHandle") or ""
    source = in_tree_source(volume["spec"])
    if source is None or not IN_TREE[source].bit & plugins:
        return NOT_COUNTED
    try:
        handle = volume_handle(source, volume["spec"][source], volume["metadata"].get("labels") or {})
    except TranslationError:
        return NOT_COUNTED
    return IN_TREE[source].driver, handle


def _of_class(cluster: Cluster, claim: Manifest, key: str, plugins: int) -> tuple[str, str]:
    """A claim without volume will get one from its class; until then it goes by its own name, which is no
    volume's (upstream puts random letters before it)."""
    storage_class = cluster.objects(STORAGE_CLASSES).get(class_name(claim))
    if storage_class is None:
        return NOT_COUNTED
    provisioner = storage_class.get("provisioner") or ""
    plugin = BY_NAME.get(provisioner)
    if plugin is not None:
        if not plugin.bit & plugins:
            return NOT_COUNTED
        provisioner = plugin.driver
    return provisioner, f"claim {key}"


class AttachedVolumes:
    """The volumes of the pods on each node, and of its VolumeAttachments (a PodIndex).

    What a pod's claims lead to can change without the pod: the answers are kept until one of the objects
    concerned changes.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._pods: dict[int, dict[str, Pod]] = {}
        self._version = -1
        self._by_row: dict[int, Volumes] = {}
        self._attachments: dict[str, Volumes] = {}

    def pod_added(self, row: int, pod: Pod) -> None:
        if has_attachable_volumes(pod):
            self._pods.setdefault(row, {})[pod.key] = pod
            self._by_row.pop(row, None)

    def pod_removed(self, row: int, pod: Pod) -> None:
        pods = self._pods.get(row, {})
        if pods.pop(pod.key, None) is not None:
            self._by_row.pop(row, None)
            if not pods:
                del self._pods[row]

    def grow(self, capacity: int) -> None:
        """Nothing here is as long as the columns."""

    def occupied(self) -> Bools:
        """bool[width]: the nodes that have any such volume."""
        self._refresh()
        column = np.zeros(self._cluster.width, dtype=np.bool_)
        column[list(self._pods)] = True
        rows = self._cluster.rows
        column[[rows[name] for name in self._attachments if name in rows]] = True
        return column

    def of_pods(self, row: int, plugins: int) -> Volumes:
        """The volumes of the pods on a node. Raises AttachError."""
        self._refresh()
        found = self._by_row.get(row)
        if found is None:
            found = {}
            for pod in self._pods.get(row, {}).values():
                found |= attachable_volumes(self._cluster, pod, plugins, required=False)
            self._by_row[row] = found
        return found

    def of_attachments(self, node: str) -> Volumes:
        self._refresh()
        return self._attachments.get(node, {})

    def _refresh(self) -> None:
        version = self._cluster.objects_version(PVCS, PVS, STORAGE_CLASSES, CSI_NODES, VOLUME_ATTACHMENTS)
        if version == self._version:
            return
        self._version = version
        self._by_row.clear()
        self._attachments.clear()
        for attachment in self._cluster.objects(VOLUME_ATTACHMENTS).values():
            spec = attachment["spec"]
            volume = self._cluster.objects(PVS).get(spec["source"].get("persistentVolumeName") or "")
            csi = volume["spec"].get("csi") if volume else None
            if spec.get("attacher") and csi is not None:
                handle = f"{spec['attacher']}/{csi.get('volumeHandle') or ''}"
                self._attachments.setdefault(spec["nodeName"], {})[handle] = spec["attacher"]


def attach_limits(csi_node: Manifest | None) -> dict[str, int]:
    """How many volumes of each driver a node can attach; drivers without a limit are not listed."""
    drivers = (csi_node["spec"].get("drivers") or ()) if csi_node else ()
    return {
        driver["name"]: driver["allocatable"]["count"]
        for driver in drivers
        if (driver.get("allocatable") or {}).get("count") is not None
    }


def _check(nodes: NodeBatch, here: Bools, new: Volumes, codes: Ints, statuses: list[Status]) -> None:
    """Hold the new volumes against the limits of the nodes ``here``. Where nothing is attached yet, all nodes
    are looked at at once."""
    cluster = nodes.cluster
    attached = cluster.index(AttachedVolumes)
    limited = csi_node_column(
        cluster, ("NodeVolumeLimits", "limited"), lambda csi_node: bool(attach_limits(csi_node)), np.bool_
    )
    here = here & nodes.take(limited)
    if not here.any():
        return
    for driver, count in Counter(new.values()).items():
        limits = nodes.take(_limits(cluster, driver))
        codes[here & (limits != NO_LIMIT) & (count > limits)] = 1
    occupied = nodes.take(attached.occupied())
    occupied[list(nodes.changed)] = True
    for i in np.flatnonzero(here & occupied).tolist():
        name = nodes.node(i).name
        csi_node = cluster.objects(CSI_NODES)[name]
        plugins = counted_plugins(csi_node)
        try:
            if i in nodes.changed:
                of_pods: Volumes = {}
                for pod in nodes.pods(i):
                    of_pods |= attachable_volumes(cluster, pod, plugins, required=False)
            else:
                of_pods = attached.of_pods(int(nodes.rows[i]), plugins)
        except AttachError as failure:
            statuses.append(error(str(failure)))
            codes[i] = len(statuses)
            continue
        codes[i] = exceeds(attach_limits(csi_node), new, of_pods, attached.of_attachments(name))


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
