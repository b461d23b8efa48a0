"""Pods as columns: what preemption needs to know of the pods on nodes, so that it can lift thousands at
once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows, grown
from simulator.objects.pod import Pod

INITIAL_SLOTS = 256
INITIAL_PLACES = 8


class PodColumns:
    """An index of the cluster (see PodIndex): every pod on a node has a slot in the columns ``priority``,
    ``start``, ``lot``, ``requests`` ([resource, slot]), ``non_zero`` ([2, slot]) and ``pods``; ``places[row,
    :count[row]]`` are the slots of a node's pods."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.priority: Ints = np.zeros(INITIAL_SLOTS, dtype=np.int64)
        self.start = np.zeros(INITIAL_SLOTS)
        self.lot: Ints = np.zeros(INITIAL_SLOTS, dtype=np.int64)
        self.requests: Ints = np.zeros((len(cluster.resources), INITIAL_SLOTS), dtype=np.int64)
        self.non_zero: Ints = np.zeros((2, INITIAL_SLOTS), dtype=np.int64)
        self.pods: NDArray[Any] = np.empty(INITIAL_SLOTS, dtype=object)
        self.count: Ints = np.zeros(cluster.capacity, dtype=np.int64)
        self.places: Ints = np.zeros((cluster.capacity, INITIAL_PLACES), dtype=np.int64)
        self._slots: dict[str, int] = {}
        self._free: list[int] = list(range(INITIAL_SLOTS))[::-1]

    def pod_added(self, row: int, pod: Pod) -> None:
        if not self._free:
            self._more_slots()
        slot = self._free.pop()
        self._slots[pod.key] = slot
        self.priority[slot] = pod.priority
        self.start[slot] = pod.start_seconds
        self.lot[slot] = pod.lot
        self.pods[slot] = pod
        self.requests[:, slot] = 0
        for name, amount in pod.requests.items():
            line = self.cluster.resource(name)
            if line >= len(self.requests):
                more = np.zeros((line + 1 - len(self.requests), self.requests.shape[1]), dtype=np.int64)
                self.requests = np.concatenate([self.requests, more])
            self.requests[line, slot] = amount
        self.non_zero[:, slot] = pod.non_zero
        place = int(self.count[row])
        if place == self.places.shape[1]:
            self.places = grown(self.places, 2 * place)
        self.places[row, place] = slot
        self.count[row] = place + 1

    def pod_removed(self, row: int, pod: Pod) -> None:
        slot = self._slots.pop(pod.key)
        last = int(self.count[row]) - 1
        own = self.places[row]
        own[np.flatnonzero(own[: last + 1] == slot)[0]] = own[last]
        self.count[row] = last
        self.pods[slot] = None
        self._free.append(slot)

    def grow(self, capacity: int) -> None:
        self.count = grown(self.count, capacity)
        more = np.zeros((capacity - len(self.places), self.places.shape[1]), dtype=np.int64)
        self.places = np.concatenate([self.places, more])

    def on(self, rows: Rows) -> tuple[Ints, NDArray[np.bool_]]:
        """int64[n, k], bool[n, k]: the slots of these nodes' pods, and which of the entries there are any."""
        counts = self.count[rows]
        widest = int(counts.max(initial=0))
        return self.places[rows, :widest], np.arange(widest) < counts[:, np.newaxis]

    def _more_slots(self) -> None:
        old = len(self.priority)
        for name in ("priority", "start", "lot", "requests", "non_zero"):
            setattr(self, name, grown(getattr(self, name), 2 * old))
        pods = np.empty(2 * old, dtype=object)
        pods[:old] = self.pods
        self.pods = pods
        self._free.extend(range(2 * old - 1, old - 1, -1))
