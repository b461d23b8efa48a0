"""pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go, v1.34."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools
from simulator.framework.interface import (
    SKIP,
    CycleState,
    FilterPlugin,
    PluginError,
    PreFilterExtensions,
    PreFilterResult,
    Status,
    Verdicts,
    error,
    unresolvable,
    unschedulable,
)
from simulator.framework.node_batch import NodeBatch
from simulator.objects.pod import Pod
from simulator.objects.volumes import claim_names, find_claim, not_found, pod_volumes

STATE = "PreFilterVolumeRestrictions"
REASON_DISK = unschedulable("node(s) had no available disk")
REASON_READ_WRITE_ONCE_POD = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
    "another pod"
)
NO_STATE = f'cannot read "{STATE}" from cycleState'


class Disk(NamedTuple):
    """A disk that is no claim. Two of the same identity can be on one node only if both are read-only."""

    identity: tuple[str, ...]
    read_only: bool
    monitors: frozenset[str] = frozenset()
    """Of Ceph: images of one name are the same only if they share a monitor."""

    def conflicts(self, other: "Disk") -> bool:
        return (
            self.identity == other.identity
            and not (self.read_only and other.read_only)
            and not (self.monitors and self.monitors.isdisjoint(other.monitors))
        )


def disk(volume: Mapping[str, Any]) -> Disk | None:
    """None for a volume of another kind."""
    if (gce := volume.get("gcePersistentDisk")) is not None:
        return Disk(("gce", gce.get("pdName") or ""), bool(gce.get("readOnly")))
    if (aws := volume.get("awsElasticBlockStore")) is not None:
        return Disk(
            ("aws", aws.get("volumeID") or ""), read_only=False
        )  # Nobody shares one, whatever it says.
    if (iscsi := volume.get("iscsi")) is not None:
        return Disk(("iscsi", iscsi.get("iqn") or ""), bool(iscsi.get("readOnly")))
    if (rbd := volume.get("rbd")) is not None:
        identity = ("rbd", rbd.get("pool") or "", rbd.get("image") or "")
        return Disk(identity, bool(rbd.get("readOnly")), frozenset(rbd.get("monitors") or ()))
    return None


def disks(pod: Pod) -> list[Disk]:
    return [found for found in map(disk, pod_volumes(pod)) if found is not None]


class VolumesInUse:
    """The claims and the disks of the pods on nodes (a PodIndex)."""

    def __init__(self, cluster: Cluster) -> None:
        self.claims: Counter[str] = Counter()
        """By ``namespace/name``, how many volumes of pods it is."""
        self.disks: dict[tuple[str, ...], dict[int, list[Disk]]] = {}
        """By identity and row."""

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
        """Nothing here is as long as the columns."""


class _State:
    """``conflicts``: how often pods on nodes use the claims that only one pod may use. To begin with each
    claim in use counts once, however many use it, so that the number can fall below 0."""

    def __init__(self, read_write_once_pod: frozenset[str], conflicts: int) -> None:
        self.read_write_once_pod = read_write_once_pod
        self.conflicts = conflicts

    def clone(self) -> "_State":
        return _State(self.read_write_once_pod, self.conflicts)

    def count(self, pod: Pod, sign: int) -> None:
        """Upstream compares the names of claims only, whatever the namespace."""
        self.conflicts += sign * sum(name in self.read_write_once_pod for name in claim_names(pod))


class VolumeRestrictions(PreFilterExtensions, FilterPlugin):
    """Disks that only one pod of a node can mount, and claims that only one pod of the cluster can use."""

    name = "VolumeRestrictions"

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        if not pod_volumes(pod):
            return SKIP
        once = set()
        for name in claim_names(pod):
            claim = find_claim(state.cluster, pod, name)
            if claim is None:
                return unresolvable(not_found("persistentvolumeclaim", name))
            if "ReadWriteOncePod" in (claim["spec"].get("accessModes") or ()):
                once.add(name)
        used = state.cluster.index(VolumesInUse).claims if once else {}
        conflicts = sum(f"{pod.namespace}/{name}" in used for name in once)
        if not conflicts and not disks(pod):
            return SKIP
        state.write(STATE, _State(frozenset(once), conflicts))
        return None

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int) -> Status | None:
        return self._count(state, added, 1)

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int) -> Status | None:
        return self._count(state, removed, -1)

    def _count(self, state: CycleState, pod: Pod, sign: int) -> Status | None:
        counts: _State | None = state.find(STATE)
        if counts is None:
            return error(NO_STATE)
        counts.count(pod, sign)
        return None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        taken = _taken(nodes, disks(pod))
        counts: _State | None = state.find(STATE)
        if counts is None:
            if taken is None:
                raise PluginError(NO_STATE)
            return Verdicts(np.where(taken, 1, 2), (REASON_DISK, error(NO_STATE)))
        if counts.conflicts <= 0:
            return None if taken is None else Verdicts(taken, (REASON_DISK,))
        codes = np.full(len(nodes), 2) if taken is None else np.where(taken, 1, 2)
        return Verdicts(codes, (REASON_DISK, REASON_READ_WRITE_ONCE_POD))


def _taken(nodes: NodeBatch, wanted: Iterable[Disk]) -> Bools | None:
    """The nodes where one of the disks is in use; None where none is wanted."""
    wanted = list(wanted)
    if not wanted:
        return None
    used = nodes.cluster.index(VolumesInUse).disks
    column = np.zeros(nodes.cluster.width, dtype=np.bool_)
    for want in wanted:
        for row, users in used.get(want.identity, {}).items():
            column[row] |= any(map(want.conflicts, users))
    taken = nodes.take(column)
    for i in nodes.changed:
        there = [found for other in nodes.pods(i) for found in disks(other)]
        taken[i] = any(want.conflicts(found) for want in wanted for found in there)
    return taken
