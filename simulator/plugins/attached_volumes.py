"""Which volumes CSI drivers have to attach to which nodes: filterAttachableVolumes and what it leads to in
pkg/scheduler/framework/plugins/nodevolumelimits/csi.go, v1.34."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, grown
from simulator.objects.csi_migration import (
    BY_NAME,
    IN_TREE,
    TranslationError,
    in_tree_source,
    migrated_plugins,
    volume_handle,
)
from simulator.objects.pod import Pod
from simulator.objects.volumes import (
    CSI_NODES,
    PVCS,
    PVS,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
    claim_reference,
    class_name,
    disowned,
    find_claim,
    not_found,
    pod_volumes,
)

Volumes = dict[str, str]
"""Volumes by ``driver/handle``, and their drivers: a volume of several pods counts once."""


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
    """The volumes of the pods on each node, and of VolumeAttachments (a PodIndex).

    What a pod's claims lead to can change without the pod: rows are worked out when somebody asks, those
    whose pods changed since, and all of them when one of the objects concerned did.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.faults: dict[int, str] = {}
        """Rows of nodes with a pod whose volumes cannot be told, and why."""
        self.users: dict[str, set[int]] = {}
        """Rows by volume."""
        self.attachments: dict[str, Volumes] = {}
        """Volumes of VolumeAttachments by node name."""
        self._cluster = cluster
        self._pods: dict[int, dict[str, Pod]] = {}
        self._of_pods: dict[int, Volumes] = {}
        self._counts: dict[str, Ints] = {}
        self._version = -1
        self._stale: set[int] = set()

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
        self._counts = {driver: grown(counts, capacity) for driver, counts in self._counts.items()}

    def count(self, driver: str) -> Ints:
        """int64[width]: how many volumes of a driver the pods of each node have."""
        counts = self._counts.get(driver)
        width = self._cluster.width
        return np.zeros(width, dtype=np.int64) if counts is None else counts[:width]

    def of_pods(self, row: int) -> Volumes:
        return self._of_pods.get(row, {})

    def refresh(self) -> None:
        """Take in what changed since; to be called before anything is read."""
        version = self._cluster.objects_version(PVCS, PVS, STORAGE_CLASSES, CSI_NODES, VOLUME_ATTACHMENTS)
        if version != self._version:
            self._version = version
            self._stale.update(self._pods)
            self.attachments = _attachments(self._cluster)
        for row in self._stale:
            self._work_out(row)
        self._stale.clear()

    def _work_out(self, row: int) -> None:
        for volume, driver in self._of_pods.pop(row, {}).items():
            self._counts[driver][row] -= 1
            self.users[volume].discard(row)
            if not self.users[volume]:
                del self.users[volume]
        self.faults.pop(row, None)
        if row not in self._pods:
            return
        try:
            found = volumes_of(self._cluster, self._cluster.node(row).name, self._pods[row].values())
        except AttachError as failure:
            self.faults[row] = str(failure)
            return
        self._of_pods[row] = found
        for volume, driver in found.items():
            if driver not in self._counts:
                self._counts[driver] = np.zeros(self._cluster.capacity, dtype=np.int64)
            self._counts[driver][row] += 1
            self.users.setdefault(volume, set()).add(row)


def volumes_of(cluster: Cluster, node: str, pods: Iterable[Pod]) -> Volumes:
    """The volumes of pods that are on a node. Raises AttachError."""
    plugins = counted_plugins(cluster.objects(CSI_NODES).get(node))
    found: Volumes = {}
    for pod in pods:
        found |= attachable_volumes(cluster, pod, plugins, required=False)
    return found


def _attachments(cluster: Cluster) -> dict[str, Volumes]:
    """getNodeVolumeAttachmentInfo, for all nodes."""
    found: dict[str, Volumes] = {}
    for attachment in cluster.objects(VOLUME_ATTACHMENTS).values():
        spec = attachment["spec"]
        volume = cluster.objects(PVS).get(spec["source"].get("persistentVolumeName") or "")
        csi = volume["spec"].get("csi") if volume else None
        if spec.get("attacher") and csi is not None:
            name = f"{spec['attacher']}/{csi.get('volumeHandle') or ''}"
            found.setdefault(spec["nodeName"], {})[name] = spec["attacher"]
    return found
