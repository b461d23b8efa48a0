"""Computes the metrics of one side from its watch events and trace."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.api import Micros, WatchEvent
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints
from simulator.compare.answer import RunOutcome, Unit
from simulator.compare.time_series import TimeSeries
from simulator.compare.waiting_pods import WaitingPods
from simulator.objects.conditions import condition_status
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.objects.pod_requests import CPU, MEMORY, is_extended_resource
from simulator.trace import CycleStarted, Event, OutsidePreempted, PodEvicted, VictimDeleted

Floats = NDArray[np.float64]

MAX_EXTENDED: Final = 4
"""Maximum number of extended resources with a curve of their own."""

COMMON_RESOURCES: Final = (CPU, MEMORY)

SAMPLES: Final = 1_000
"""Maximum number of measurements of ``unusable`` in a run: three for each point of a curve. With thousands of
pods that wait, one takes some milliseconds."""

ORDER: Final = (
    *("pending", "requested", "fragmentation", "unusable"),
    *("load-deviation", "zone-deviation", "preempted", "evicted"),
)
"""The order of the curves, by the part of the name before the colon."""

LATER: Final = ("pending:", "evicted")
"""The beginnings of the names of curves that are 0 until there is something to count."""


class Observer:
    """Receives all watch events and trace events, and computes these metrics at the end of each point in
    time:

    * ``pending``: pods without a node that are not gated
    * ``pending:<cause>``: those of them with this cause, once there is one
      (:class:`simulator.compare.waiting_pods.WaitingPods`)
    * ``requested:<resource>``: requests of the pods on ready nodes, in percent of what these have allocatable
    * ``fragmentation``: the share of the free resources of ready nodes that is on nodes without room for one
      more reference pod; the mean of cpu and memory, in percent
    * ``unusable``: the share of the free resources of ready nodes that is on nodes where no waiting pod fits;
      the mean of cpu and memory, in percent; 0 while none waits. Measured at most SAMPLES times
    * ``load-deviation``: the standard deviation over ready nodes of a node's load, which is the larger of its
      requested shares of cpu and memory; in percentage points
    * ``zone-deviation``: the same over zones, if there are any; a zone's load is the mean of its nodes' loads
    * ``preempted``: victims of preemption so far
    * ``evicted``: pods so far that kubelets and controllers of nodes evicted, once there is one

    A node is ready if its condition Ready is True or missing.
    """

    def __init__(self, start: Micros, reference: dict[str, int], duration: Micros = 0) -> None:
        """``duration``: that of the run; 0 = unknown."""
        self._start = start
        self._reference = reference
        self._cluster = Cluster()
        self._series: dict[str, TimeSeries] = {}
        self._now = start
        self._changed = True
        self._columns: tuple[Bools, Ints] | None = None
        self._allocatable: dict[str, Floats] = {}
        """The amounts of the ready nodes by resource, until a node changes."""
        self._extended: list[str] = []  # the extended resources with a curve
        self._waiting = WaitingPods()
        self._cycles = 0
        self._preempted = 0
        self._evicted = 0
        self._interval = duration // SAMPLES
        self._sampled: Micros | None = None
        """The time of the last sample of ``unusable``."""

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
            elif isinstance(traced, PodEvicted):
                self._evicted += 1
                self._changed = True
            elif self._waiting.attempted(traced):
                self._changed = True

    def outcome(self, end: Micros) -> RunOutcome:
        """Return the result at ``end``, or at the last step if that is later."""
        self._sampled, self._changed = None, True
        self._measure()
        end = max(end, self._now)
        curves = [series.curve(end - self._start) for series in self._series.values()]
        return RunOutcome(
            cycles=self._cycles,
            bound=self._waiting.bound,
            preempted=self._preempted,
            curves=sorted(curves, key=lambda curve: _place(curve.name)),
            waits=self._waiting.times(end),
            distribution=self._waiting.distribution(),
        )

    # Watch events

    def _pod_changed(self, event: WatchEvent) -> None:
        pod = Pod.parse(event.object)
        gone = event.type == "DELETED" or pod.finished
        if pod.key in self._cluster.pods:
            self._cluster.remove_pod(pod)
        if pod.node_name and not gone:
            self._cluster.add_pod(pod)
        self._waiting.changed(pod, self._now, gone=gone)
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
        self._allocatable.clear()
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
        for cause, count in self._waiting.causes().items():
            self._record(f"pending:{cause}", "pods", count)
        ready, zones = self._ready()
        cluster = self._cluster
        amounts = {name: self._amounts(name, ready) for name in (*COMMON_RESOURCES, *self._extended)}
        for name, found in amounts.items():
            there = float(found.allocatable.sum())
            if there or f"requested:{name}" in self._series:
                requested = 100 * _ratio(float(found.requested.sum()), there)
                self._record(f"requested:{name}", "percent", requested)
        slots = (cluster.allowed_pods - cluster.pod_count)[: cluster.width][ready]
        fits = slots > 0
        for name, amount in self._reference.items():
            free = amounts[name].free if name in amounts else self._amounts(name, ready).free
            fits &= free >= amount
        cut_off = _share_of_free(amounts, ~fits) if self._reference else 0.0
        self._record("fragmentation", "percent", cut_off)
        if self._sampled is None or self._now - self._sampled >= self._interval:
            self._sampled = self._now
            self._record("unusable", "percent", self._unusable(amounts, ready, slots > 0))
        loads = 100 * np.max([_shares(*amounts[name][:2]) for name in COMMON_RESOURCES], axis=0)
        self._record("load-deviation", "points", float(loads.std()) if len(loads) else 0.0)
        self._measure_zones(loads, zones[ready])
        self._record("preempted", "pods", self._preempted)
        if self._evicted:
            self._record("evicted", "pods", self._evicted)

    def _amounts(self, name: str, ready: Bools) -> "_Amounts":
        cluster = self._cluster
        allocatable = self._allocatable.get(name)
        if allocatable is None:
            column = cluster.allocatable.column(name)[: cluster.width]
            allocatable = self._allocatable[name] = column[ready].astype(np.float64)
        requested = cluster.requested.column(name)[: cluster.width][ready].astype(np.float64)
        return _Amounts(allocatable, requested, np.maximum(allocatable - requested, 0))

    def _unusable(self, amounts: "dict[str, _Amounts]", ready: Bools, has_slot: Bools) -> float:
        """Return the share of the free resources that is on nodes where no waiting pod has enough of all
        resources."""
        wanted = self._waiting.smallest_requests()
        if not wanted:
            return 0.0
        usable = np.zeros(len(has_slot), dtype=np.bool_)
        further: dict[str, _Amounts] = {}
        for requests in wanted:
            fits = has_slot & ~usable
            for name, amount in requests.items():
                known = amounts.get(name) or further.get(name)
                if known is None:
                    known = further[name] = self._amounts(name, ready)
                fits &= known.free >= amount
            usable |= fits
        return _share_of_free(amounts, ~usable)

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
            if name.startswith(LATER) and self._now > self._start:
                series.add(0, 0.0)
        series.add(self._now - self._start, value)


def curve_names(outcomes: Iterable[RunOutcome]) -> list[str]:
    """Return the names of the curves that any of the sides has, in their order."""
    names = dict.fromkeys(curve.name for outcome in outcomes for curve in outcome.curves)
    return sorted(names, key=_place)


def _place(name: str) -> int:
    return ORDER.index(name.partition(":")[0])


class _Amounts(NamedTuple):
    """The amounts of a resource on the ready nodes."""

    allocatable: Floats
    requested: Floats
    free: Floats


def _share_of_free(amounts: dict[str, _Amounts], rows: Bools) -> float:
    """Return the share of the free cpu and memory that is on these nodes, the mean of both, in percent."""
    free = [amounts[name].free for name in COMMON_RESOURCES]
    return 50 * sum(_ratio(float(amount[rows].sum()), float(amount.sum())) for amount in free)


def _shares(allocatable: Floats, requested: Floats) -> Floats:
    """Return the requested share of each node; 0 for a node that has nothing."""
    return requested / np.where(allocatable > 0, allocatable, np.inf)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
