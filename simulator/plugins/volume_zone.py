"""VolumeZone (pkg/scheduler/framework/plugins/volumezone/volume_zone.go)."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools
from simulator.cluster.volume_objects import find_claim
from simulator.framework.cluster_event import (
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    STORAGE_CLASS,
    ActionType,
)
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import EnqueueExtensions, FilterPlugin, PreFilterPlugin, SignPlugin
from simulator.framework.node_batch import NodeBatch
from simulator.framework.queueing_hint import ClusterEventWithHint, register, same_namespace
from simulator.framework.signers import Fragments, sign_volumes
from simulator.framework.status import SKIP, PreFilterResult, Status, Verdicts, unresolvable
from simulator.objects.metadata import labels_of
from simulator.objects.node import REGION, REGION_BETA, ZONE, ZONE_BETA
from simulator.objects.pod import Pod
from simulator.objects.volumes import (
    PVS,
    STORAGE_CLASSES,
    WAIT_FOR_FIRST_CONSUMER,
    claim_names,
    not_found_message,
    storage_class_name,
)

STATE = "PreFilterVolumeZone"
REASON = unresolvable("node(s) had no available volume zone")
TOPOLOGY_LABELS = (ZONE_BETA, REGION_BETA, ZONE, REGION)
GA_LABEL = {ZONE_BETA: ZONE, REGION_BETA: REGION}


class VolumeTopology(NamedTuple):
    """A zone or region label of a volume. Nodes must have a label ``key`` with one of the values."""

    key: str
    values: frozenset[str]


class VolumeZone(EnqueueExtensions, SignPlugin, PreFilterPlugin, FilterPlugin):
    """Rejects nodes whose zone or region is not that of the pod's volumes. Nodes without zone and region
    labels pass."""

    name = "VolumeZone"

    def sign_pod(self, pod: Pod) -> Fragments:
        return sign_volumes(pod)

    def events_to_register(self) -> list[ClusterEventWithHint]:
        add_or_update = ActionType.ADD | ActionType.UPDATE
        return [
            register(STORAGE_CLASS, ActionType.ADD, class_added),
            register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
            register(PERSISTENT_VOLUME_CLAIM, add_or_update, claim_changed),
            register(PERSISTENT_VOLUME, add_or_update, volume_changed),
        ]

    def skips(self, pod: Pod) -> bool:
        return not any(True for _ in claim_names(pod))

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
        if topologies is None:  # PreFilter is disabled. Upstream then computes them here.
            topologies = volume_topologies(state.cluster, pod)
            if isinstance(topologies, Status):
                return Verdicts(np.ones(len(nodes), dtype=np.bool_), (topologies,))
        outside = np.zeros(len(nodes), dtype=np.bool_)
        for topology in topologies:
            outside |= ~_match_topology(nodes, topology)
        zoned = np.zeros(len(nodes), dtype=np.bool_)
        for key in TOPOLOGY_LABELS:
            zoned |= nodes.take(nodes.cluster.label(key).ids) >= 0
        return Verdicts(outside & zoned, (REASON,))


def _match_topology(nodes: NodeBatch, topology: VolumeTopology) -> Bools:
    """Return bool[n]: the nodes that match a label of a volume. A beta label of a volume is compared with the
    GA label of a node that does not have the beta label."""
    column = nodes.cluster.label(topology.key)
    ids = nodes.take(column.ids)
    matched: Bools = column.table(topology.values.__contains__, False, np.bool_)[ids]
    if topology.key in GA_LABEL:
        ga_label = nodes.cluster.label(GA_LABEL[topology.key])
        table = ga_label.table(topology.values.__contains__, False, np.bool_)
        matched |= (ids < 0) & table[nodes.take(ga_label.ids)]
    return matched


def volume_topologies(cluster: Cluster, pod: Pod) -> list[VolumeTopology] | Status:
    """Return the zone and region labels of all volumes to which the pod's claims are bound (getPVbyPod).
    Return a status if a claim or its volume does not exist, or if a claim that must be bound is not."""
    found: list[VolumeTopology] = []
    for name in claim_names(pod):
        if not name:
            return unresolvable("PersistentVolumeClaim had no name")
        claim = find_claim(cluster, pod, name)
        if claim is None:
            return unresolvable(not_found_message("persistentvolumeclaim", name))
        volume_name = claim["spec"].get("volumeName") or ""
        if not volume_name:
            status = _check_unbound_claim(cluster, claim)
            if status is not None:
                return status
            continue
        volume = cluster.objects(PVS).get(volume_name)
        if volume is None:
            return unresolvable(not_found_message("persistentvolume", volume_name))
        found += topologies_of(labels_of(volume))
    return found


def _check_unbound_claim(cluster: Cluster, claim: Manifest) -> Status | None:
    """Return None if the claim's StorageClass has binding mode WaitForFirstConsumer, else a status."""
    name = storage_class_name(claim)
    if not name:
        return unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
    storage_class = cluster.objects(STORAGE_CLASSES).get(name)
    if storage_class is None:
        return unresolvable(not_found_message("storageclass.storage.k8s.io", name))
    mode = storage_class.get("volumeBindingMode")
    if mode is None:
        return unresolvable(f'VolumeBindingMode not set for StorageClass "{name}"')
    return None if mode == WAIT_FOR_FIRST_CONSUMER else unresolvable("PersistentVolume had no name")


def topologies_of(labels: Mapping[str, str]) -> list[VolumeTopology]:
    """Return the zone and region labels of a volume. Several zones are separated by "__"; a value with an
    empty zone ("a____b") is invalid and ignored."""
    found = []
    for key in TOPOLOGY_LABELS:
        zones = [zone.strip() for zone in labels[key].split("__")] if key in labels else [""]
        if all(zones):
            found.append(VolumeTopology(key, frozenset(zones)))
    return found


# Queueing hints


def class_added(pod: Pod, old: None, new: Manifest) -> bool:
    """Queue if the added StorageClass has binding mode WaitForFirstConsumer."""
    return bool(new.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER)


def claim_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue if the pod uses the claim."""
    return same_namespace(pod, new) and new["metadata"]["name"] in claim_names(pod)


def volume_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue if the volume was added, or its zone or region labels changed."""
    return old is None or topologies_of(labels_of(old)) != topologies_of(labels_of(new))
