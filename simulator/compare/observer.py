"""Computes the metrics of one side from its watch events and trace."""

from collections.abc import Iterable, Sequence
from itertools import islice
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from simulator.api import Micros, WatchEvent
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints
from simulator.compare.answer import RunOutcome, Unit, WaitTimes
from simulator.compare.time_series import TimeSeries
from simulator.objects.conditions import condition_status
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.objects.pod_requests import CPU, MEMORY, is_extended_resource
from simulator.trace import CycleStarted, Event, OutsidePreempted, VictimDeleted

Floats = NDArray[np.float64]

MAX_EXTENDED: Final = 4
"""Maximum number of extended resources with a curve of their own."""

MAX_PRIORITIES: Final = 20
"""Maximum number of priorities with wait times of their own, the highest first."""

COMMON_RESOURCES: Final = (CPU, MEMORY)


class Observer:
    """Receives all watch events and trace events, and computes these metrics at the end of each point in
    time:

    * ``pending``: pods without a node that are not gated
    * ``requested:<resource>``: requests of the pods on ready nodes, in percent of what these have allocatable
    * ``fragmentation``: the share of the free resources of ready nodes that is on nodes without room for one
      more reference pod; the mean of cpu and memory, in percent
    * ``load-deviation``: the standard deviation over ready nodes of a node's load, which is the larger of its
      requested shares of cpu and memory; in percentage points
    * ``zone-deviation``: the same over zones, if there are any; a zone's load is the mean of its nodes' loads
    * ``preempted``: victims of preemption so far

    A node is ready if its condition Ready is True or missing.
    """

    def __init__(self, start: Micros, reference: dict[str, int]) -> None:
        self._start = start
        self._reference = reference
        self._cluster = Cluster()
        self._series: dict[str, TimeSeries] = {}
        self._now = start
        self._changed = True
        self._columns: tuple[Bools, Ints] | None = None
        self._extended: list[str] = []  # the extended resources with a curve
        self._waiting: dict[str, tuple[Micros, int]] = {}
        self._waits: dict[int, list[Micros]] = {}
        self._cycles = 0
        self._preempted = 0

    def observe(self, now: Micros, events: Iterable[WatchEvent], trace: Sequence[Event]) -> None:
        """Process the events of one step."""
        if now > self._now:
            self._measure()
            self._now = now
        for event in events:
            if event.resource == "pods":
                self._pod_changed(event)
            elif event.resource == "nodes":
                self._node_changed(event)
        for traced in trace:
            if isinstance(traced, CycleStarted):
                self._cycles += 1
            elif isinstance(traced, VictimDeleted | OutsidePreempted):
                self._preempted += 1
                self._changed = True

    def outcome(self, end: Micros) -> RunOutcome:
        """Return the result at ``end``, or at the last step if that is later."""
        self._measure()
        end = max(end, self._now)
        waits = self._all_waits(end)
        return RunOutcome(
            cycles=self._cycles,
            bound=sum(len(each) for each in self._waits.values()),
            preempted=self._preempted,
            curves=[series.curve(end - self._start) for series in self._series.values()],
            waits=waits,
        )

    # Watch events

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
            node = Node.parse(event.object)
            self._cluster.add_node(node)
            further = (name for name, n in node.allocatable.items() if n and name not in self._extended)
            more = islice(filter(is_extended_resource, further), MAX_EXTENDED - len(self._extended))
            self._extended += more
        self._columns = None
        self._changed = True

    def _ready(self) -> tuple[Bools, Ints]:
        """Return which rows are ready nodes, and the number of each row's zone (-1 = no zone)."""
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

    # Metrics

    def _measure(self) -> None:
        if not self._changed:
            return
        self._changed = False
        self._record("pending", "pods", len(self._waiting))
        ready, zones = self._ready()
        cluster = self._cluster

        def amounts(name: str) -> tuple[Floats, Floats]:
            """Return the allocatable and the requested amounts of the ready nodes."""
            both = (each.column(name)[: cluster.width] for each in (cluster.allocatable, cluster.requested))
            allocatable, requested = (column[ready].astype(np.float64) for column in both)
            return allocatable, requested

        def free(name: str) -> Floats:
            allocatable, requested = amounts(name)
            return np.maximum(allocatable - requested, 0)

        for name in (*COMMON_RESOURCES, *self._extended):
            allocatable, requested = amounts(name)
            there = float(allocatable.sum())
            if there or f"requested:{name}" in self._series:
                self._record(f"requested:{name}", "percent", 100 * _ratio(float(requested.sum()), there))
        slots = (cluster.allowed_pods - cluster.pod_count)[: cluster.width][ready]
        fits = slots > 0
        for name, amount in self._reference.items():
            fits &= free(name) >= amount
        both = map(free, COMMON_RESOURCES)
        cut_off = [_ratio(float(amount[~fits].sum()), float(amount.sum())) for amount in both]
        self._record("fragmentation", "percent", 50 * sum(cut_off) if self._reference else 0.0)
        loads = 100 * np.max([_shares(*amounts(name)) for name in COMMON_RESOURCES], axis=0)
        self._record("load-deviation", "points", float(loads.std()) if len(loads) else 0.0)
        self._measure_zones(loads, zones[ready])
        self._record("preempted", "pods", self._preempted)

    def _measure_zones(self, loads: Floats, zones: Ints) -> None:
        known = zones >= 0
        if known.any():
            sums = np.bincount(zones[known], weights=loads[known])
            nodes = np.bincount(zones[known])
            means = sums[nodes > 0] / nodes[nodes > 0]
            self._record("zone-deviation", "points", float(means.std()))

    def _record(self, name: str, unit: Unit, value: float) -> None:
        series = self._series.get(name)
        if series is None:
            series = self._series[name] = TimeSeries(name, unit)
        series.add(self._now - self._start, value)

    def _all_waits(self, end: Micros) -> list[WaitTimes]:
        waiting: dict[int, list[Micros]] = {}
        for since, priority in self._waiting.values():
            waiting.setdefault(priority, []).append(end - since)
        priorities = sorted(waiting.keys() | self._waits.keys(), reverse=True)[:MAX_PRIORITIES]
        return [_wait_times(each, self._waits.get(each, []), waiting.get(each, [])) for each in priorities]


def _wait_times(priority: int, bound: list[Micros], pending: list[Micros]) -> WaitTimes:
    ordered = sorted(bound)
    return WaitTimes(
        priority=priority,
        bound=len(ordered),
        median=_percentile(ordered, 0.5),
        p90=_percentile(ordered, 0.9),
        pending=len(pending),
        longest_pending=max(pending, default=0),
    )


def _percentile(ordered: list[Micros], share: float) -> Micros | None:
    """Return the smallest value that at least this share of all values do not exceed (nearest rank)."""
    return ordered[ceil(share * len(ordered)) - 1] if ordered else None


def _shares(allocatable: Floats, requested: Floats) -> Floats:
    """Return the requested share of each node; 0 for a node that has nothing."""
    return requested / np.where(allocatable > 0, allocatable, np.inf)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
