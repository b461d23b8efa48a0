"""In-tree volumes are volumes of a CSI driver by now: which driver, which handle, which topology.

staging/src/k8s.io/csi-translation-lib, v1.34, as far as the scheduler asks it. Whether a *node* has gone over
to the driver, its CSINode says in an annotation.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.objects.labels import Requirement
from simulator.objects.node import REGION, REGION_BETA, ZONE, ZONE_BETA
from simulator.objects.node_selector import NodeSelector, NodeSelectorTerm
from simulator.objects.volumes import annotations, csi_node_column, volume_node_affinity

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
ZONE_DELIMITER = "__"
UNSPECIFIED = "UNSPECIFIED"


class TranslationError(ValueError):
    """An in-tree volume that says nothing a CSI driver could use."""


class InTreePlugin(NamedTuple):
    """``bit`` stands for the plugin in :func:`migration_column`; 0: upstream could translate its volumes, but
    the scheduler never takes a node for gone over. ``topology_key`` is the node label by which the driver
    knows zones, "" where none is translated."""

    name: str
    driver: str
    bit: int = 0
    topology_key: str = ""


IN_TREE: Mapping[str, InTreePlugin] = {
    "awsElasticBlockStore": InTreePlugin(
        "kubernetes.io/aws-ebs", "ebs.csi.aws.com", 1, "topology.ebs.csi.aws.com/zone"
    ),
    "gcePersistentDisk": InTreePlugin(
        "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", 2, "topology.gke.io/zone"
    ),
    "cinder": InTreePlugin(
        "kubernetes.io/cinder", "cinder.csi.openstack.org", 4, "topology.cinder.csi.openstack.org/zone"
    ),
    "azureDisk": InTreePlugin("kubernetes.io/azure-disk", "disk.csi.azure.com", 8),
    "portworxVolume": InTreePlugin("kubernetes.io/portworx-volume", "pxd.portworx.com", 16),
    "azureFile": InTreePlugin("kubernetes.io/azure-file", "file.csi.azure.com"),
    "vsphereVolume": InTreePlugin("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
}
"""By the field that holds such a volume in a pod or a PersistentVolume."""

BY_NAME = {plugin.name: plugin for plugin in IN_TREE.values()}
"""By the name that storage classes give as their provisioner."""


def in_tree_source(volume: Mapping[str, Any]) -> str | None:
    """The field that makes a pod's volume, or a PersistentVolume's spec, an in-tree one; None without."""
    return next((source for source in IN_TREE if volume.get(source) is not None), None)


def migration_column(cluster: Cluster) -> NDArray[np.uint8]:
    """The bits of the plugins whose volumes are a CSI driver's business, per node."""
    column: NDArray[np.uint8] = csi_node_column(cluster, ("CSI migration",), migrated_plugins, np.uint8)
    return column


def migrated_plugins(csi_node: Manifest | None) -> int:
    """The same of one node (isPluginMigratedToCSIOnNode)."""
    if csi_node is None:
        return 0
    listed = set(annotations(csi_node).get(MIGRATED_PLUGINS, "").split(","))
    return sum(BY_NAME[name].bit for name in listed if name in BY_NAME)


def volume_handle(source: str, fields: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """What the driver calls the volume. ``labels`` are the PersistentVolume's, empty for a pod's own volume.

    Raises :class:`TranslationError`.
    """
    if source == "awsElasticBlockStore":
        return _ebs_volume_id(fields.get("volumeID") or "")
    if source == "gcePersistentDisk":
        return f"projects/{UNSPECIFIED}/{_gce_place(labels)}/disks/{fields.get('pdName') or ''}"
    return fields.get("diskURI" if source == "azureDisk" else "volumeID") or ""


def _ebs_volume_id(volume_id: str) -> str:
    """``aws://zone/vol-1``, ``aws:///vol-1`` and ``vol-1`` are the same volume."""
    if not volume_id.startswith("aws://"):
        return volume_id
    path = urlsplit(volume_id).path.strip("/")
    if "/" in path or not path.startswith("vol-"):
        raise TranslationError(
            f"failed to translate Kubernetes ID to EBS Volume ID invalid format for AWS volume ({volume_id})"
        )
    return path


def _gce_place(labels: Mapping[str, str]) -> str:
    zones = (labels.get(ZONE_BETA) or labels.get(ZONE) or "").split(ZONE_DELIMITER)
    if len(zones) == 1:
        return f"zones/{zones[0] or UNSPECIFIED}"
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            raise TranslationError(
                "failed to get region from zones: zone in unexpected format, expected: "
                f"{{locale}}-{{region}}-{{zone}}, got: {zone}"
            )
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        raise TranslationError("failed to get region from zones: multiple or no regions gotten from zones")
    return f"regions/{regions.pop()}"


def translated_node_affinity(volume: Manifest, source: str) -> NodeSelector | None:
    """The volume's node affinity on a node that has gone over to the driver: zones by the driver's own label.

    A zone in the affinity is renamed; without one the volume's zone label is added to every term
    (translateTopologyFromInTreeToCSI). Raises :class:`TranslationError` where the volume cannot be
    translated.
    """
    labels = volume["metadata"].get("labels") or {}
    volume_handle(source, volume["spec"][source], labels)
    affinity = volume_node_affinity(volume)
    key = IN_TREE[source].topology_key
    if not key:
        return affinity
    named = {expression.key for term in affinity or () for expression in term.expressions}
    zone, region = _zone_and_region(named, labels)
    renamed = {zone: key} if zone in named else {}
    if region == REGION_BETA:
        renamed[REGION_BETA] = REGION
    terms = tuple(
        NodeSelectorTerm(
            tuple(e._replace(key=renamed.get(e.key, e.key)) for e in term.expressions), term.fields
        )
        for term in affinity or ()
    )
    zones = sorted({z.strip() for z in labels.get(zone, "").split(ZONE_DELIMITER)} - {""})
    if zone in named or not zones:
        return terms if affinity is not None else None
    added = Requirement(key, "In", tuple(zones))
    return tuple(
        NodeSelectorTerm((*term.expressions, added), term.fields)
        for term in terms or (NodeSelectorTerm((), ()),)
    )


def _zone_and_region(named: set[str], labels: Mapping[str, str]) -> tuple[str, str]:
    """Whether a volume speaks of zones by the GA labels or the beta ones (getTopologyLabel)."""
    for present in (named, labels.keys()):
        if ZONE in present:
            return ZONE, REGION
        if ZONE_BETA in present:
            return ZONE_BETA, REGION_BETA
    return ZONE, REGION
