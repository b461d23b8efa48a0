"""pkg/scheduler/framework/plugins/volumezone/volume_zone.go, v1.34."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools
from simulator.framework.interface import (
    SKIP,
    CycleState,
    FilterPlugin,
    PreFilterPlugin,
    PreFilterResult,
    Status,
    Verdicts,
    unresolvable,
)
from simulator.framework.node_batch import NodeBatch
from simulator.objects.node import REGION, REGION_BETA, ZONE, ZONE_BETA
from simulator.objects.pod import Pod
from simulator.objects.volumes import (
    PVS,
    STORAGE_CLASSES,
    WAIT_FOR_FIRST_CONSUMER,
    claim_names,
    class_name,
    find_claim,
    not_found,
)

STATE = "PreFilterVolumeZone"
REASON = unresolvable("node(s) had no available volume zone")
TOPOLOGY_LABELS = (ZONE_BETA, REGION_BETA, ZONE, REGION)
GA_LABEL = {ZONE_BETA: ZONE, REGION_BETA: REGION}


class VolumeTopology(NamedTuple):
    """A zone or region label of a volume: nodes must have one of the values."""

    key: str
    values: frozenset[str]


class VolumeZone(PreFilterPlugin, FilterPlugin):
    """A volume that is in some zones can be reached from nodes there, and from nodes that know no zones."""

    name = "VolumeZone"
    counts_only = True

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        topologies = volume_topologies(state.cluster, pod)
        if isinstance(topologies, Status):
            return topologies
        if not topologies:
            return SKIP
        state.write(STATE, topologies)
        return None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        topologies = state.find(STATE)
        if topologies is None:  # Without PreFilter, upstream looks again.
            topologies = volume_topologies(state.cluster, pod)
            if isinstance(topologies, Status):
                return Verdicts(np.ones(len(nodes), dtype=np.bool_), (topologies,))
        outside = np.zeros(len(nodes), dtype=np.bool_)
        for topology in topologies:
            outside |= ~_inside(nodes, topology)
        zoned = np.zeros(len(nodes), dtype=np.bool_)
        for key in TOPOLOGY_LABELS:
            zoned |= nodes.take(nodes.cluster.label(key).ids) >= 0
        return Verdicts(outside & zoned, (REASON,))


def _inside(nodes: NodeBatch, topology: VolumeTopology) -> Bools:
    """A beta label of a volume is held against the node's GA label where the node has no beta one."""
    column = nodes.cluster.label(topology.key)
    ids = nodes.take(column.ids)
    inside = column.table(topology.values.__contains__, False, np.bool_)[ids]
    if topology.key in GA_LABEL:
        newer = nodes.cluster.label(GA_LABEL[topology.key])
        table = newer.table(topology.values.__contains__, False, np.bool_)
        inside |= (ids < 0) & table[nodes.take(newer.ids)]
    found: Bools = inside
    return found


def volume_topologies(cluster: Cluster, pod: Pod) -> list[VolumeTopology] | Status:
    """Those of all volumes that the pod's claims are bound to; a status where a claim or what it is bound to
    is not as it must be (getPVbyPod)."""
    found: list[VolumeTopology] = []
    for name in claim_names(pod):
        if not name:
            return unresolvable("PersistentVolumeClaim had no name")
        claim = find_claim(cluster, pod, name)
        if claim is None:
            return unresolvable(not_found("persistentvolumeclaim", name))
        volume_name = claim["spec"].get("volumeName") or ""
        if not volume_name:
            status = _unbound(cluster, claim)
            if status is not None:
                return status
            continue
        volume = cluster.objects(PVS).get(volume_name)
        if volume is None:
            return unresolvable(not_found("persistentvolume", volume_name))
        found += topologies_of(volume["metadata"].get("labels") or {})
    return found


def _unbound(cluster: Cluster, claim: Manifest) -> Status | None:
    """Only a claim that waits for its first consumer may be without a volume."""
    name = class_name(claim)
    if not name:
        return unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
    storage_class = cluster.objects(STORAGE_CLASSES).get(name)
    if storage_class is None:
        return unresolvable(not_found("storageclass.storage.k8s.io", name))
    mode = storage_class.get("volumeBindingMode")
    if mode is None:
        return unresolvable(f'VolumeBindingMode not set for StorageClass "{name}"')
    return None if mode == WAIT_FOR_FIRST_CONSUMER else unresolvable("PersistentVolume had no name")


def topologies_of(labels: Mapping[str, str]) -> list[VolumeTopology]:
    """A label whose value is no list of zones ("a____b" names an empty one) is passed over."""
    found = []
    for key in TOPOLOGY_LABELS:
        zones = [zone.strip() for zone in labels[key].split("__")] if key in labels else [""]
        if all(zones):
            found.append(VolumeTopology(key, frozenset(zones)))
    return found
