"""AttachedVolumes: the volumes that CSI drivers attach to each node (filterAttachableVolumes and the
functions that it calls in pkg/scheduler/framework/plugins/nodevolumelimits/csi.go)."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, grow_column
from simulator.cluster.volume_objects import find_claim
from simulator.objects.csi_migration import (
    BY_NAME,
    IN_TREE_VOLUME_PLUGINS,
    TranslationError,
    in_tree_source,
    migrated_plugins,
    volume_handle,
)
from simulator.objects.metadata import labels_of
from simulator.objects.pod import Pod
from simulator.objects.volumes import (
    CSI_NODES,
    PVCS,
    PVS,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
    claim_reference,
    ephemeral_claim_problem,
    not_found_message,
    pod_volumes,
    storage_class_name,
)

Volumes = dict[str, str]
"""The name of the driver by ``driver/handle``. A volume that several pods use counts once."""


class AttachError(Exception):
    """A volume of a pod cannot be determined."""


class ClaimNotFound(AttachError):
    """A claim of the incoming pod does not exist."""


def has_attachable_volumes(pod: Pod) -> bool:
    return any(
        claim_reference(pod, volume) is not None or in_tree_source(volume) is not None
        for volume in pod_volumes(pod)
    )


def attachable_volumes(cluster: Cluster, pod: Pod, plugins: int, *, required: bool) -> Volumes:
    """Return the pod's volumes that a CSI driver attaches to a node on which the in-tree ``plugins`` (see
    AttachedVolumes.migrated) are migrated (filterAttachableVolumes). A missing claim raises ClaimNotFound
    if ``required``, else it is ignored. Raises AttachError."""
    found: Volumes = {}
    for volume in pod_volumes(pod):
        reference = claim_reference(pod, volume)
        if reference is None:
            found |= _inline_volume(volume, plugins)
            continue
        if not reference.name:
            raise AttachError("PersistentVolumeClaim had no name")
        claim = find_claim(cluster, pod, reference.name)
        if claim is None:
            if required:
                reason = not_found_message("persistentvolumeclaim", reference.name)
                raise ClaimNotFound(f"looking up PVC {pod.namespace}/{reference.name}: {reason}")
            continue
        if reference.ephemeral and (foreign := ephemeral_claim_problem(pod, claim)) is not None:
            raise AttachError(foreign)
        driver, handle = _driver_and_handle(cluster, claim, f"{pod.namespace}/{reference.name}", plugins)
        if driver and handle:
            found[f"{driver}/{handle}"] = driver
    return found


def _inline_volume(volume: Mapping[str, Any], plugins: int) -> Volumes:
    """Return the CSI volume of an in-tree volume in the pod's spec, empty if its plugin is not migrated
    (checkAttachableInlineVolume)."""
    source = in_tree_source(volume)
    if source is None or not IN_TREE_VOLUME_PLUGINS[source].bit & plugins:
        return {}
    driver = IN_TREE_VOLUME_PLUGINS[source].driver
    try:
        return {f"{driver}/{volume_handle(source, volume[source], {})}": driver}
    except TranslationError as failure:
        message = f"converting volume({volume['name']}) from inline to csi: {failure}"
        raise AttachError(message) from None


NOT_COUNTED = ("", "")


def _driver_and_handle(cluster: Cluster, claim: Manifest, key: str, plugins: int) -> tuple[str, str]:
    """Return the driver and the volume handle of a claim, NOT_COUNTED if no CSI driver attaches its volume
    (getCSIDriverInfo)."""
    volume = cluster.objects(PVS).get(claim["spec"].get("volumeName") or "")
    if volume is None:
        return _driver_and_handle_from_class(cluster, claim, key, plugins)
    csi = volume["spec"].get("csi")
    if csi is not None:
        return csi.get("driver") or "", csi.get("volumeHandle") or ""
    source = in_tree_source(volume["spec"])
    if source is None or not IN_TREE_VOLUME_PLUGINS[source].bit & plugins:
        return NOT_COUNTED
    try:
        handle = volume_handle(source, volume["spec"][source], labels_of(volume))
    except TranslationError:
        return NOT_COUNTED
    return IN_TREE_VOLUME_PLUGINS[source].driver, handle


def _driver_and_handle_from_class(
    cluster: Cluster, claim: Manifest, key: str, plugins: int
) -> tuple[str, str]:
    """Return the driver of the StorageClass of a claim without volume, and a handle made from the name of the
    claim that no volume has (getCSIDriverInfoFromSC). Upstream adds a random prefix to the name instead."""
    storage_class = cluster.objects(STORAGE_CLASSES).get(storage_class_name(claim))
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
    """An index of the cluster (see PodIndex): the volumes of the pods on each node, and of VolumeAttachments.

    The volumes of a pod can change when a claim, volume or StorageClass changes. Therefore :meth:`refresh`
    computes them before they are read: for the nodes whose pods changed, or for all nodes if one of these
    objects changed.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.errors: dict[int, str] = {}
        """Messages by row, for nodes with a pod whose volumes cannot be determined."""
        self.users: dict[str, set[int]] = {}
        """The rows of the nodes whose pods use a volume, by volume."""
        self.attachments: dict[str, Volumes] = {}
        """The volumes of VolumeAttachments by node name."""
        self._cluster = cluster
        self._pods: dict[int, dict[str, Pod]] = {}
        self._of_pods: dict[int, Volumes] = {}
        self._counts: dict[str, Ints] = {}
        self._version = -1
        self._stale: set[int] = set()

    @staticmethod
    def migrated(csi_node: Manifest | None) -> int:
        """Return the bits of the in-tree volume plugins that count as migrated to a CSI driver on a node
        (isCSIMigrationOn in nodevolumelimits/utils.go): unlike in VolumeBinding, all if the node has one."""
        return 0 if csi_node is None else sum(plugin.bit for plugin in IN_TREE_VOLUME_PLUGINS.values())

    def volumes_of_pods(self, node: str, pods: Iterable[Pod]) -> Volumes:
        """Return the volumes that a CSI driver attaches for pods on a node. Raises AttachError."""
        plugins = self.migrated(self._cluster.objects(CSI_NODES).get(node))
        found: Volumes = {}
        for pod in pods:
            found |= attachable_volumes(self._cluster, pod, plugins, required=False)
        return found

    def pod_added(self, row: int, pod: Pod) -> None:
        if has_attachable_volumes(pod):
            self._pods.setdefault(row, {})[pod.key] = pod
            self._stale.add(row)

    def pod_removed(self, row: int, pod: Pod) -> None:
        pods = self._pods.get(row, {})
        if pods.pop(pod.key, None) is not None:
            self._stale.add(row)
            if not pods:
                del self._pods[row]

    def grow(self, capacity: int) -> None:
        self._counts = {driver: grow_column(counts, capacity) for driver, counts in self._counts.items()}

    def count(self, driver: str) -> Ints:
        """Return int64[width]: the number of volumes of a driver that the pods of each node use."""
        counts = self._counts.get(driver)
        width = self._cluster.width
        return np.zeros(width, dtype=np.int64) if counts is None else counts[:width]

    def of_pods(self, row: int) -> Volumes:
        return self._of_pods.get(row, {})

    def refresh(self) -> None:
        """Process the changes since the last call. Must be called before anything is read."""
        version = self._cluster.objects_version(PVCS, PVS, STORAGE_CLASSES, CSI_NODES, VOLUME_ATTACHMENTS)
        if version != self._version:
            self._version = version
            self._stale.update(self._pods)
            self.attachments = _attachments(self._cluster)
        for row in self._stale:
            self._refresh_row(row)
        self._stale.clear()

    def _refresh_row(self, row: int) -> None:
        for volume, driver in self._of_pods.pop(row, {}).items():
            self._counts[driver][row] -= 1
            self.users[volume].discard(row)
            if not self.users[volume]:
                del self.users[volume]
        self.errors.pop(row, None)
        if row not in self._pods:
            return
        try:
            found = self.volumes_of_pods(self._cluster.node(row).name, self._pods[row].values())
        except AttachError as failure:
            self.errors[row] = str(failure)
            return
        self._of_pods[row] = found
        for volume, driver in found.items():
            if driver not in self._counts:
                self._counts[driver] = np.zeros(self._cluster.capacity, dtype=np.int64)
            self._counts[driver][row] += 1
            self.users.setdefault(volume, set()).add(row)


class AttachedVolumesUntilV135(AttachedVolumes):
    """The same until v1.35: Portworx counts as migrated only where the CSINode says so."""

    @staticmethod
    def migrated(csi_node: Manifest | None) -> int:
        portworx = IN_TREE_VOLUME_PLUGINS["portworxVolume"].bit
        every = AttachedVolumes.migrated(csi_node)
        return every & (~portworx | migrated_plugins(csi_node)) if csi_node else every


def _attachments(cluster: Cluster) -> dict[str, Volumes]:
    """getNodeVolumeAttachmentInfo for all nodes: return the volumes of VolumeAttachments by node name."""
    found: dict[str, Volumes] = {}
    for attachment in cluster.objects(VOLUME_ATTACHMENTS).values():
        spec = attachment["spec"]
        volume = cluster.objects(PVS).get(spec["source"].get("persistentVolumeName") or "")
        csi = volume["spec"].get("csi") if volume else None
        if spec.get("attacher") and csi is not None:
            name = f"{spec['attacher']}/{csi.get('volumeHandle') or ''}"
            found.setdefault(spec["nodeName"], {})[name] = spec["attacher"]
    return found
