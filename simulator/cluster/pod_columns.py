"""PodColumns: the pods on nodes as columns, so that preemption can process thousands of them at once."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import InternedColumn, Ints, Rows, grow_column
from simulator.cluster.resource_amounts import ResourceAmounts
from simulator.objects.pod import Pod
from simulator.objects.volumes import pod_volumes

INITIAL_SLOTS = 256
INITIAL_PODS_PER_NODE = 8

NEVER_CONFLICTING_VOLUMES = {"configMap", "downwardAPI", "emptyDir", "projected", "secret"}
"""Volume sources that no filter plugin reads. PodKind ignores them, because their volumes often have a
different name in each pod."""


class PodKind:
    """A set of pods that have the same effect on every filter plugin.

    They have the same namespace, labels, affinity and anti-affinity, host ports, and volumes (except
    NEVER_CONFLICTING_VOLUMES). Instances for pods of the same kind are equal. ``pod`` is one pod of the kind;
    it is possible that this pod is no longer on a node."""

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self._key = (
            pod.namespace,
            frozenset(pod.labels.items()),
            pod.affinity,
            pod.host_ports,
            tuple(
                json.dumps(volume, sort_keys=True)
                for volume in pod_volumes(pod)
                if NEVER_CONFLICTING_VOLUMES.isdisjoint(volume)
            ),
        )
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PodKind) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash


class PodColumns:
    """An index of the cluster (see PodIndex) with one column per property of pods.

    A slot is the index of a pod in the columns: ``priority``, ``start``, ``lot``, ``pods`` and ``kinds``
    ([slot]), ``requests`` (of each resource, [slot]) and ``non_zero`` ([2, slot]).
    ``slots[row, :count[row]]`` are the slots of the pods on a node."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.priority: Ints = np.zeros(INITIAL_SLOTS, dtype=np.int64)
        self.start = np.zeros(INITIAL_SLOTS)
        self.lot: Ints = np.zeros(INITIAL_SLOTS, dtype=np.int64)
        self.requests = ResourceAmounts(INITIAL_SLOTS)
        self.non_zero: Ints = np.zeros((2, INITIAL_SLOTS), dtype=np.int64)
        self.pods: NDArray[Any] = np.empty(INITIAL_SLOTS, dtype=object)
        self.kinds: InternedColumn[PodKind] = InternedColumn(INITIAL_SLOTS)
        self.count: Ints = np.zeros(cluster.capacity, dtype=np.int64)
        self.slots: Ints = np.zeros((cluster.capacity, INITIAL_PODS_PER_NODE), dtype=np.int64)
        self._slot_by_key: dict[str, int] = {}
        self._free: list[int] = list(range(INITIAL_SLOTS))[::-1]

    def pod_added(self, row: int, pod: Pod) -> None:
        if not self._free:
            self._add_free_slots()
        slot = self._free.pop()
        self._slot_by_key[pod.key] = slot
        self.priority[slot] = pod.priority
        self.start[slot] = pod.start_seconds
        self.lot[slot] = pod.lot
        self.pods[slot] = pod
        self.kinds.set(slot, PodKind(pod))
        self.requests.add(slot, pod.requests)
        self.non_zero[:, slot] = pod.non_zero
        count = int(self.count[row])
        if count == self.slots.shape[1]:
            self.slots = grow_column(self.slots, 2 * count)
        self.slots[row, count] = slot
        self.count[row] = count + 1

    def pod_removed(self, row: int, pod: Pod) -> None:
        slot = self._slot_by_key.pop(pod.key)
        last = int(self.count[row]) - 1
        own = self.slots[row]
        own[np.flatnonzero(own[: last + 1] == slot)[0]] = own[last]
        self.count[row] = last
        self.requests.add(slot, self.pods[slot].requests, -1)
        self.pods[slot] = None
        self.kinds.set(slot, None)
        self._free.append(slot)

    def grow(self, capacity: int) -> None:
        self.count = grow_column(self.count, capacity)
        more = np.zeros((capacity - len(self.slots), self.slots.shape[1]), dtype=np.int64)
        self.slots = np.concatenate([self.slots, more])

    def on(self, rows: Rows) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the slots of the pods on these nodes, int64[n, k], and which entries of this array are
        valid, bool[n, k]; k is the highest number of pods on one of the nodes."""
        counts = self.count[rows]
        widest = int(counts.max(initial=0))
        return self.slots[rows, :widest], np.arange(widest) < counts[:, np.newaxis]

    def slot(self, pod: Pod) -> int:
        """Return the slot of a pod that is on a node. Raises KeyError for other pods."""
        return self._slot_by_key[pod.key]

    def by_kind(self, slots: Ints) -> Iterator[tuple[Pod, Rows]]:
        """Group the pods in ``slots`` (int64[n]) by kind. Yield for each kind one pod of the kind, and the
        indices in ``slots`` of the pods of this kind."""
        if not len(slots):
            return
        numbers = self.kinds.ids[slots]
        order = np.argsort(numbers, kind="stable")
        starts = np.flatnonzero(np.diff(numbers[order])) + 1
        for indices in np.split(order, starts):
            kind = self.kinds.values[numbers[indices[0]]]
            assert kind is not None, "a slot in use has a kind"
            yield kind.pod, indices

    def _add_free_slots(self) -> None:
        old = len(self.priority)
        for name in ("priority", "start", "lot", "non_zero"):
            setattr(self, name, grow_column(getattr(self, name), 2 * old))
        self.requests.grow(2 * old)
        self.kinds.grow(2 * old)
        pods = np.empty(2 * old, dtype=object)
        pods[:old] = self.pods
        self.pods = pods
        self._free.extend(range(2 * old - 1, old - 1, -1))
