"""What one side's figures are made of: the watch and the trace, as they come."""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from simulator.api import Micros, WatchEvent
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints
from simulator.compare.answer import Outcome, Unit, Waits
from simulator.compare.track import Track
from simulator.objects.node import Node
from simulator.objects.node_conditions import condition_status
from simulator.objects.pod import Pod
from simulator.objects.pod_requests import is_extended_resource
from simulator.trace import CycleStarted, Event, VictimDeleted

MAX_EXTENDED: Final = 4
"""Extended resources that get a curve of their own: a page of plots, not a book."""

MAX_PRIORITIES: Final = 20
"""The highest, each of which has waits of its own; a workload of random priorities makes no endless table."""

SHARED: Final = ("cpu", "memory")
"""The first two lines of the cluster's columns: what every node has and every pod may ask for."""


class Observer:
    """Takes in everything, and measures at the end of each moment:

    * ``pending``: pods without a node that are not gated
    * ``requested:<resource>``: requests of the pods on ready nodes, in percent of what these have allocatable
    * ``fragmentation``: of the cpu and the memory that is free on ready nodes, the share on nodes that would
      not take one more pod like the reference; the mean of the two, in percent
    * ``load-deviation``: the standard deviation over ready nodes of a node's load, which is the larger of its
      requested shares of cpu and memory; in percentage points
    * ``zone-deviation``: the same over zones, a zone's load being its nodes' mean; where there are zones
    * ``preempted``: victims of preemption so far

    A node is ready unless its condition Ready says otherwise.
    """

    def __init__(self, start: Micros, reference: dict[str, int]) -> None:
        self._start = start
        self._reference = reference
        self._cluster = Cluster()
        self._tracks: dict[str, Track] = {}
        self._now = start
        self._changed = True
        self._columns: tuple[Bools, Ints] | None = None
        self._waiting: dict[str, tuple[Micros, int]] = {}
        self._waits: dict[int, list[Micros]] = {}
        self._cycles = 0
        self._preempted = 0

    def see(self, now: Micros, events: Iterable[WatchEvent], trace: Sequence[Event]) -> None:
        """What one step brought."""
        if now > self._now:
            self._measure()
            self._now = now
        for event in events:
            if event.resource == "pods":
                self._pod_changed(event)
            elif event.resource == "nodes":
                self._node_changed(event)
        for said in trace:
            if isinstance(said, CycleStarted):
                self._cycles += 1
            elif isinstance(said, VictimDeleted):
                self._preempted += 1
                self._changed = True

    def outcome(self, end: Micros) -> Outcome:
        """All that is known, at ``end`` or at the last step, whichever is later."""
        self._measure()
        end = max(end, self._now)
        waits = self._all_waits(end)
        return Outcome(
            cycles=self._cycles,
            bound=sum(len(each) for each in self._waits.values()),
            preempted=self._preempted,
            curves=[track.curve(end - self._start) for track in self._tracks.values()],
            waits=waits,
        )

    # The watch

    def _pod_changed(self, event: WatchEvent) -> None:
        pod = Pod.parse(event.object)
        gone = event.type == "DELETED" or pod.finished
        if pod.key in self._cluster.pods:
            self._cluster.remove_pod(pod)
        if pod.node_name and not gone:
            self._cluster.add_pod(pod)
        waited = self._waiting.get(pod.key)
        if waited and (gone or pod.node_name):
            del self._waiting[pod.key]
            if not gone:
                self._waits.setdefault(waited[1], []).append(self._now - waited[0])
        elif not waited and not (gone or pod.node_name or pod.scheduling_gates):
            self._waiting[pod.key] = (self._now, pod.priority)
        self._changed = True

    def _node_changed(self, event: WatchEvent) -> None:
        if event.type == "DELETED":
            self._cluster.remove_node(event.key)
        else:
            self._cluster.add_node(Node.parse(event.object))
        self._columns = None
        self._changed = True

    def _ready(self) -> tuple[Bools, Ints]:
        """Which rows are ready nodes, and in which zone each is (-1: in none)."""
        if self._columns is None:
            nodes = self._cluster.nodes
            numbers: dict[str, int] = {}
            self._columns = (
                np.array(
                    [
                        node is not None and condition_status(node.manifest, "Ready") in ("", "True")
                        for node in nodes
                    ],
                    dtype=np.bool_,
                ),
                np.array(
                    [
                        numbers.setdefault(node.zone, len(numbers)) if node and node.zone else -1
                        for node in nodes
                    ],
                    dtype=np.int64,
                ),
            )
        return self._columns

    # The figures

    def _measure(self) -> None:
        if not self._changed:
            return
        self._changed = False
        self._set("pending", "pods", len(self._waiting))
        ready, zones = self._ready()
        cluster = self._cluster
        allocatable = cluster.allocatable[:, : cluster.width][:, ready].astype(np.float64)
        requested = cluster.requested[:, : cluster.width][:, ready].astype(np.float64)
        for name, line in self._resources():
            there = float(allocatable[line].sum())
            if there or f"requested:{name}" in self._tracks:
                self._set(f"requested:{name}", "percent", 100 * _share(float(requested[line].sum()), there))
        free = np.maximum(allocatable - requested, 0)
        slots = (cluster.allowed_pods - cluster.pod_count)[: cluster.width][ready]
        fits = slots > 0
        for name, amount in self._reference.items():
            fits &= free[cluster.resource(name)] >= amount if name in cluster.resources else amount <= 0
        cut_off = [_share(float(free[line, ~fits].sum()), float(free[line].sum())) for line in (0, 1)]
        self._set("fragmentation", "percent", 50 * sum(cut_off) if self._reference else 0.0)
        some = np.where(allocatable[:2] > 0, allocatable[:2], np.inf)
        loads = 100 * (requested[:2] / some).max(axis=0)
        self._set("load-deviation", "points", float(loads.std()) if len(loads) else 0.0)
        self._measure_zones(loads, zones[ready])
        self._set("preempted", "pods", self._preempted)

    def _measure_zones(self, loads: NDArray[np.float64], zones: Ints) -> None:
        known = zones >= 0
        if known.any():
            sums = np.bincount(zones[known], weights=loads[known])
            nodes = np.bincount(zones[known])
            means = sums[nodes > 0] / nodes[nodes > 0]
            self._set("zone-deviation", "points", float(means.std()))

    def _resources(self) -> list[tuple[str, int]]:
        lines = self._cluster.resources
        extended = [name for name in lines if is_extended_resource(name)][:MAX_EXTENDED]
        return [(name, lines[name]) for name in (*SHARED, *extended)]

    def _set(self, name: str, unit: Unit, value: float) -> None:
        track = self._tracks.get(name)
        if track is None:
            track = self._tracks[name] = Track(name, unit)
        track.add(self._now - self._start, value)

    def _all_waits(self, end: Micros) -> list[Waits]:
        waiting: dict[int, list[Micros]] = {}
        for since, priority in self._waiting.values():
            waiting.setdefault(priority, []).append(end - since)
        priorities = sorted(waiting.keys() | self._waits.keys(), reverse=True)[:MAX_PRIORITIES]
        return [_waits(each, self._waits.get(each, []), waiting.get(each, [])) for each in priorities]


def _waits(priority: int, bound: list[Micros], pending: list[Micros]) -> Waits:
    ordered = sorted(bound)
    return Waits(
        priority=priority,
        bound=len(ordered),
        median=_rank(ordered, 0.5),
        p90=_rank(ordered, 0.9),
        pending=len(pending),
        longest_pending=max(pending, default=0),
    )


def _rank(ordered: list[Micros], share: float) -> Micros | None:
    """The smallest value that this share of all do not exceed: one that really occurred."""
    return ordered[ceil(share * len(ordered)) - 1] if ordered else None


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
