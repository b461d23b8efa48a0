"""CSI migration: the driver, volume handle and topology of in-tree volumes.

staging/src/k8s.io/csi-translation-lib, as far as the scheduler uses it. An annotation of the CSINode
lists the in-tree plugins that are migrated on this node.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from simulator.api import Manifest
from simulator.objects.labels import Requirement
from simulator.objects.metadata import annotations_of, labels_of
from simulator.objects.node import REGION, REGION_BETA, ZONE, ZONE_BETA
from simulator.objects.node_selector import NodeSelector, NodeSelectorTerm
from simulator.objects.volumes import volume_node_affinity

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
ZONE_DELIMITER = "__"
UNSPECIFIED = "UNSPECIFIED"


class TranslationError(ValueError):
    """The in-tree volume cannot be translated to a CSI volume."""


class InTreePlugin(NamedTuple):
    """An in-tree volume plugin and the CSI driver that replaces it.

    ``bit`` identifies the plugin in the sums of :func:`migrated_plugins`. It is 0 for plugins that upstream
    can translate, but that the scheduler never treats as migrated on a node. ``topology_key`` is the driver's
    node label for zones, "" if zones are not translated."""

    name: str
    driver: str
    bit: int = 0
    topology_key: str = ""


IN_TREE_VOLUME_PLUGINS: Mapping[str, InTreePlugin] = {
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
"""The plugins by the field that contains such a volume in a pod or a PersistentVolume."""

BY_NAME = {plugin.name: plugin for plugin in IN_TREE_VOLUME_PLUGINS.values()}
"""The plugins by the name that storage classes have as provisioner."""


def in_tree_source(volume: Mapping[str, Any]) -> str | None:
    """Return the field with the in-tree source of a pod's volume or a PersistentVolume's spec; None if it has
    none."""
    return next((source for source in IN_TREE_VOLUME_PLUGINS if volume.get(source) is not None), None)


def migrated_plugins(csi_node: Manifest | None) -> int:
    """Return the sum of the bits of the plugins that are migrated on a node (isPluginMigratedToCSIOnNode)."""
    if csi_node is None:
        return 0
    listed = set(annotations_of(csi_node).get(MIGRATED_PLUGINS, "").split(","))
    return sum(BY_NAME[name].bit for name in listed if name in BY_NAME)


def volume_handle(source: str, fields: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """Return the CSI volume handle. ``labels`` are the PersistentVolume's, empty for an inline volume.

    Raises :class:`TranslationError`.
    """
    if source == "awsElasticBlockStore":
        return _ebs_volume_id(fields.get("volumeID") or "")
    if source == "gcePersistentDisk":
        return f"projects/{UNSPECIFIED}/{_gce_place(labels)}/disks/{fields.get('pdName') or ''}"
    return fields.get("diskURI" if source == "azureDisk" else "volumeID") or ""


def _ebs_volume_id(volume_id: str) -> str:
    """Return the volume's ID: ``vol-1`` for ``aws://zone/vol-1``, ``aws:///vol-1`` and ``vol-1``."""
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
    """Return the volume's node affinity on a node where the plugin is migrated, with the driver's zone label.

    The zone label in the affinity is renamed. If the affinity has none, the zone of the volume's own label is
    added to every term (translateTopologyFromInTreeToCSI). Raises :class:`TranslationError`.
    """
    labels = labels_of(volume)
    volume_handle(source, volume["spec"][source], labels)
    affinity = volume_node_affinity(volume)
    key = IN_TREE_VOLUME_PLUGINS[source].topology_key
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
    """Return the zone and region labels that a volume uses: the GA or the beta ones (getTopologyLabel)."""
    for present in (named, labels.keys()):
        if ZONE in present:
            return ZONE, REGION
        if ZONE_BETA in present:
            return ZONE_BETA, REGION_BETA
    return ZONE, REGION
