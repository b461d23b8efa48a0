"""Counts what a sandbox's scheduler does, from what its leader stores: trace events, decisions, queue
places."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from schedviz.metrics.registry import OTHER
from schedviz.metrics.scheduler import (
    INCOMING_PODS,
    PENDING_PODS,
    POD_ATTEMPTS,
    PREEMPTION_ATTEMPTS,
    PREEMPTION_VICTIMS,
    SCHEDULE_ATTEMPTS,
    SLI_SECONDS,
    UNSCHEDULABLE_PODS,
    profile_label,
)
from simulator.api import SECOND
from simulator.decision import Decision
from simulator.framework.observer import AttemptResult
from simulator.trace import (
    BindFailed,
    Bound,
    CycleStarted,
    Event,
    Nominated,
    PodRemoved,
    QueueMoved,
    QueuePlace,
    SchedulerError,
    Unschedulable,
)

QUEUES: Final = {
    "activeQ": "active",
    "backoffQ": "backoff",
    "unschedulable": "unschedulable",
    "gated": "gated",
}
"""Lane -> the label ``queue``. Pods in flight and on Permit are in no queue, as upstream."""

CYCLES_AT_MOST: Final = 10_000
"""Maximum number of cycles that are kept without a result. More of them are those of pods that were
deleted on Permit."""

ATTEMPTS_SHOWN: Final = 15
"""Upstream's getAttemptsLabel: more attempts have one label."""


class Cycle(NamedTuple):
    attempt: int
    profile: str = OTHER


class PendingPlace(NamedTuple):
    """The place of a pending pod."""

    queue: str
    plugins: tuple[str, ...]
    profile: str


class SchedulerMeter:
    """The meter of one leader. Each leader has a new one, as a restarted kube-scheduler: the waiting time of
    pods counts from the leader's start."""

    def __init__(self) -> None:
        self._entered: dict[str, int] = {}
        """Pod -> the time at which it entered the queue, without the time for which it was gated."""
        self._cycles: dict[int, Cycle] = {}
        self._profiles: dict[str, str] = {}
        """Pod -> profile of its last cycle."""
        self.places: dict[str, PendingPlace] = {}

    def count(
        self,
        trace: Sequence[Event],
        decisions: Sequence[Decision],
        queue_places: Mapping[str, QueuePlace | None],
    ) -> None:
        """Count what one commit has stored."""
        profiles = {decision.cycle: profile_label(decision.profile) for decision in decisions}
        for decision in decisions:
            self._profiles[decision.pod] = profiles[decision.cycle]
            if decision.preemption is not None:
                PREEMPTION_ATTEMPTS.inc()
            if decision.cycle in self._cycles:
                self._cycles[decision.cycle] = self._cycles[decision.cycle]._replace(
                    profile=profiles[decision.cycle]
                )
        for event in trace:
            self._event(event, profiles)
        for pod, entry in queue_places.items():
            self._place(pod, entry)

    def _event(self, event: Event, profiles: Mapping[int, str]) -> None:
        match event:
            case QueueMoved():
                self._moved(event)
            case CycleStarted():
                self._cycles[event.cycle] = Cycle(event.attempt, profiles.get(event.cycle, OTHER))
                if len(self._cycles) > CYCLES_AT_MOST:
                    del self._cycles[next(iter(self._cycles))]
            case Bound():
                cycle = self._ended(event.cycle, "scheduled")
                since = self._entered.pop(event.pod, None)
                if cycle is not None:
                    POD_ATTEMPTS.observe(cycle.attempt)
                if cycle is not None and since is not None:
                    label = str(cycle.attempt) if cycle.attempt < ATTEMPTS_SHOWN else f"{ATTEMPTS_SHOWN}+"
                    SLI_SECONDS.labels(label).observe((event.t - since) / SECOND)
            case Nominated():
                PREEMPTION_VICTIMS.observe(len(event.victims))
                self._ended(event.cycle, "unschedulable")
            case Unschedulable():
                self._ended(event.cycle, "unschedulable")
            case SchedulerError() | BindFailed():
                self._ended(event.cycle, "error")
            case PodRemoved():
                self._entered.pop(event.pod, None)
                self._profiles.pop(event.pod, None)

    def _moved(self, event: QueueMoved) -> None:
        queue = QUEUES.get(event.target)
        if queue is None:
            return
        # Upstream counts gated pods with the unschedulable ones here.
        INCOMING_PODS.labels("unschedulable" if queue == "gated" else queue, event.event).inc()
        if queue != "gated":
            self._entered.setdefault(event.pod, event.t)

    def _ended(self, number: int, result: AttemptResult) -> Cycle | None:
        """Count the end of a cycle; None if it was counted before."""
        cycle = self._cycles.pop(number, None)
        if cycle is not None:
            SCHEDULE_ATTEMPTS.labels(result, cycle.profile).inc()
        return cycle

    def _place(self, pod: str, entry: QueuePlace | None) -> None:
        queue = QUEUES.get(entry.lane) if entry else None
        if entry is None or queue is None:
            self.places.pop(pod, None)
            if entry is None:
                self._profiles.pop(pod, None)
        else:
            plugins = tuple(entry.plugins) if queue == "unschedulable" else ()
            self.places[pod] = PendingPlace(queue, plugins, self._profiles.get(pod, OTHER))


def measure_pending(meters: Iterable[SchedulerMeter]) -> None:
    """Set the gauges of pending pods to the sums of these leaders."""
    queues = Counter(dict.fromkeys(QUEUES.values(), 0))
    plugins: Counter[tuple[str, str]] = Counter()
    for meter in meters:
        for place in [*meter.places.values()]:
            queues[place.queue] += 1
            plugins.update((plugin, place.profile) for plugin in place.plugins)
    for queue, count in queues.items():
        PENDING_PODS.labels(queue).set(count)
    UNSCHEDULABLE_PODS.clear()
    for (plugin, profile), count in plugins.items():
        UNSCHEDULABLE_PODS.labels(plugin, profile).set(count)
