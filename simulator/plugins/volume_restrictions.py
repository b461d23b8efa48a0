"""VolumeRestrictions (pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.cluster.volume_objects import find_claim
from simulator.framework.cluster_event import NODE, PERSISTENT_VOLUME_CLAIM, POD, ActionType
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import ColumnExtensions, EnqueueExtensions, FilterPlugin, SignPlugin
from simulator.framework.node_batch import CountChanges, NodeBatch
from simulator.framework.queueing_hint import ClusterEventWithHint, register, same_namespace
from simulator.framework.signers import Fragments, sign_volumes
from simulator.framework.status import (
    SKIP,
    PluginError,
    PreFilterResult,
    Status,
    Verdicts,
    error,
    unresolvable,
    unschedulable,
)
from simulator.objects.pod import Pod
from simulator.objects.volumes import claim_names, not_found_message, pod_volumes

STATE = "PreFilterVolumeRestrictions"
REASON_DISK = unschedulable("node(s) had no available disk")
REASON_READ_WRITE_ONCE_POD = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
    "another pod"
)
NO_STATE = f'cannot read "{STATE}" from cycleState'


class Disk(NamedTuple):
    """A disk in a pod's spec, not in a claim. Two disks with the same identity conflict on one node unless
    both are read-only (isVolumeConflict)."""

    identity: tuple[str, ...]
    read_only: bool
    monitors: frozenset[str] = frozenset()
    """The monitors of a Ceph RBD disk: disks are the same only if they have a monitor in common. Other disks
    have none."""

    def conflicts(self, other: "Disk") -> bool:
        return (
            self.identity == other.identity
            and not (self.read_only and other.read_only)
            and not (self.monitors and self.monitors.isdisjoint(other.monitors))
        )


def disk(volume: Mapping[str, Any]) -> Disk | None:
    """Return the disk of a volume, None if the volume is of another kind."""
    if (gce := volume.get("gcePersistentDisk")) is not None:
        return Disk(("gce", gce.get("pdName") or ""), bool(gce.get("readOnly")))
    if (aws := volume.get("awsElasticBlockStore")) is not None:
        # As upstream, readOnly of this kind is ignored.
        return Disk(("aws", aws.get("volumeID") or ""), read_only=False)
    if (iscsi := volume.get("iscsi")) is not None:
        return Disk(("iscsi", iscsi.get("iqn") or ""), bool(iscsi.get("readOnly")))
    if (rbd := volume.get("rbd")) is not None:
        identity = ("rbd", rbd.get("pool") or "", rbd.get("image") or "")
        return Disk(identity, bool(rbd.get("readOnly")), frozenset(rbd.get("monitors") or ()))
    return None


def disks(pod: Pod) -> list[Disk]:
    return [found for found in map(disk, pod_volumes(pod)) if found is not None]


class VolumesInUse:
    """An index of the cluster (see PodIndex): the claims and the disks of the pods on nodes."""

    def __init__(self, cluster: Cluster) -> None:
        self.claims: Counter[str] = Counter()
        """The number of volumes of pods that use a claim, by ``namespace/name``."""
        self.disks: dict[tuple[str, ...], dict[int, list[Disk]]] = {}
        """The disks in use, by identity and row."""

    def pod_added(self, row: int, pod: Pod) -> None:
        self.claims.update(f"{pod.namespace}/{name}" for name in claim_names(pod))
        for used in disks(pod):
            self.disks.setdefault(used.identity, {}).setdefault(row, []).append(used)

    def pod_removed(self, row: int, pod: Pod) -> None:
        for name in claim_names(pod):
            key = f"{pod.namespace}/{name}"
            self.claims[key] -= 1
            if not self.claims[key]:
                del self.claims[key]
        for used in disks(pod):
            rows = self.disks[used.identity]
            rows[row].remove(used)
            if not rows[row]:
                del rows[row]
            if not rows:
                del self.disks[used.identity]

    def grow(self, capacity: int) -> None:
        """Do nothing: this index has no columns."""


class VolumeRestrictionsState:
    """The state of VolumeRestrictions in one cycle. ``disks`` are the disks of the incoming pod,
    ``disk_conflicts`` (int64[width]) the number of their conflicts with disks in use.

    ``claims`` are the names of the incoming pod's ReadWriteOncePod claims. ``claim_conflicts`` is the number
    of these claims that are in use (conflictingPVCRefCount). A claim that several pods use counts once here,
    but each removal of such a pod subtracts one, so the number can become negative, as upstream."""

    def __init__(self, cluster: Cluster, pod: Pod, claims: frozenset[str], claim_conflicts: int) -> None:
        self.claims = claims
        self.claim_conflicts = claim_conflicts
        self.disks = disks(pod)
        self.disk_conflicts = count_disk_conflicts(cluster, self.disks)
        self.claim_changes = CountChanges(cluster.width)
        self.disk_changes = CountChanges(cluster.width)

    def clone(self) -> "VolumeRestrictionsState":
        clone = copy(self)
        clone.claim_changes = self.claim_changes.clone()
        clone.disk_changes = self.disk_changes.clone()
        return clone

    def update_with_pod(self, changed: Pod, rows: Rows, by: int) -> None:
        """Add pods like ``changed`` on these rows (``by`` 1), or remove them (-1) (updateWithPod). As
        upstream, only the names of claims are compared and not the namespaces."""
        claims = sum(name in self.claims for name in claim_names(changed))
        if claims:
            self.claim_changes.add(rows, by * claims)
        conflicts = sum(own.conflicts(other) for own in self.disks for other in disks(changed))
        if conflicts:
            self.disk_changes.add(rows, by * conflicts)

    def verdicts(self, nodes: NodeBatch) -> Verdicts:
        claimed = self.claim_conflicts + self.claim_changes.for_nodes(nodes) > 0
        taken = nodes.take(self.disk_conflicts) + self.disk_changes.for_nodes(nodes) > 0
        codes = np.where(taken, 1, np.where(claimed, 2, 0))
        return Verdicts(codes, (REASON_DISK, REASON_READ_WRITE_ONCE_POD))


def count_disk_conflicts(cluster: Cluster, requested: Sequence[Disk]) -> Ints:
    """Return int64[width]: the number of conflicts between the requested disks and the disks in use."""
    conflicts = np.zeros(cluster.width, dtype=np.int64)
    if requested:
        used = cluster.index(VolumesInUse).disks
        for request in requested:
            for row, users in used.get(request.identity, {}).items():
                conflicts[row] += sum(map(request.conflicts, users))
    return conflicts


class VolumeRestrictions(EnqueueExtensions, SignPlugin, ColumnExtensions, FilterPlugin):
    """Rejects nodes on which a disk of the pod conflicts with a disk in use, and rejects all nodes if a
    ReadWriteOncePod claim of the pod is in use."""

    name = "VolumeRestrictions"

    def sign_pod(self, pod: Pod) -> Fragments:
        return sign_volumes(pod)

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [
            register(POD, ActionType.DELETE, pod_deleted),
            register(NODE, ActionType.ADD),
            register(PERSISTENT_VOLUME_CLAIM, ActionType.ADD, claim_added),
        ]

    def skips(self, pod: Pod) -> bool:
        return not pod_volumes(pod)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        read_write_once_pod = set()
        for name in claim_names(pod):
            claim = find_claim(state.cluster, pod, name)
            if claim is None:
                return unresolvable(not_found_message("persistentvolumeclaim", name))
            if "ReadWriteOncePod" in (claim["spec"].get("accessModes") or ()):
                read_write_once_pod.add(name)
        used = state.cluster.index(VolumesInUse).claims if read_write_once_pod else {}
        conflicts = sum(f"{pod.namespace}/{name}" in used for name in read_write_once_pod)
        if not conflicts and not disks(pod):
            return SKIP
        claims = frozenset(read_write_once_pod)
        state.write(STATE, VolumeRestrictionsState(state.cluster, pod, claims, conflicts))
        return None

    def add_pods(self, state: CycleState, pod: Pod, added: Pod, rows: Rows) -> None:
        self._state(state).update_with_pod(added, rows, 1)

    def remove_pods(self, state: CycleState, pod: Pod, removed: Pod, rows: Rows) -> None:
        self._state(state).update_with_pod(removed, rows, -1)

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        if state.find(STATE) is not None:
            return self._state(state).verdicts(nodes)
        # PreFilter is disabled. Upstream compares the disks before it reads the state, which is then missing.
        requested = disks(pod)
        taken = nodes.take(count_disk_conflicts(state.cluster, requested)) > 0
        for i in nodes.changed:
            used = [found for other in nodes.pods(i) for found in disks(other)]
            taken[i] = any(request.conflicts(found) for request in requested for found in used)
        return Verdicts(np.where(taken, 1, 2), (REASON_DISK, error(NO_STATE)))

    def _state(self, state: CycleState) -> VolumeRestrictionsState:
        found: VolumeRestrictionsState | None = state.find(STATE)
        if found is None:
            raise PluginError(NO_STATE)
        return found


# Queueing hints


def pod_deleted(pod: Pod, old: Pod, new: None) -> bool:
    """Queue if the deleted pod has a disk that conflicts with a disk of the rejected pod, or uses one of its
    claims. As upstream, the access mode of the claim is not checked."""
    if old.namespace != pod.namespace:
        return False
    if any(own.conflicts(other) for own in disks(pod) for other in disks(old)):
        return True
    return not set(claim_names(pod)).isdisjoint(claim_names(old))


def claim_added(pod: Pod, old: None, new: Manifest) -> bool:
    """Queue if the pod uses the claim."""
    return same_namespace(pod, new) and new["metadata"]["name"] in claim_names(pod)
