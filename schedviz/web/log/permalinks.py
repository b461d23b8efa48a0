"""Finds the permalink of a binding, a rejection, a nomination or an eviction."""

from collections.abc import Iterable, Sequence

import msgspec

from simulator import trace
from simulator.api import SECOND, Manifest
from simulator.objects.events import event_last_seen

DECIDED = (
    trace.Bound
    | trace.BindFailed
    | trace.Unschedulable
    | trace.SchedulerError
    | trace.Nominated
    | trace.VictimDeleted
    | trace.PodGroupPreempted
    | trace.PodGroupCycleEnded
)


class Permalinks(msgspec.Struct, frozen=True):
    """The permalinks of one pod: numbers of cycles; 0 = none."""

    bound: int
    nominated: int
    evicted: int
    preemptor: str
    """The key of the pod that preempted it."""


def cycle_of(event: trace.Event) -> int:
    """Return the cycle that caused the event; 0 for an event without a cycle."""
    return event.cycle if isinstance(event, DECIDED) else 0


def pod_permalinks(about: Iterable[trace.Event]) -> Permalinks:
    """Return the permalinks of a pod from its trace events, oldest first."""
    bound = nominated = evicted = 0
    preemptor = ""
    for event in about:
        match event:
            case trace.Bound():
                bound = event.cycle
            case trace.Nominated():
                nominated = event.cycle
            case trace.VictimDeleted():
                evicted, preemptor = event.cycle, event.preemptor
            case _:
                pass
    return Permalinks(bound, nominated, evicted, preemptor)


def permalink_of_event(event: Manifest, about: Sequence[trace.Event]) -> int:
    """Return the cycle of an Event of a pod, found by the trace, as an Event does not contain it; 0 =
    none."""
    for happened in reversed(about):
        match event.get("reason"), happened:
            case "Scheduled", trace.Bound():
                return happened.cycle
            case "Preempted", trace.VictimDeleted():
                return happened.cycle
            case "FailedScheduling", trace.Unschedulable() | trace.SchedulerError() if (
                happened.t // SECOND <= event_last_seen(event) // SECOND
                and happened.message.strip() == event.get("message", "").strip()
            ):
                return happened.cycle
            case _:
                pass
    return 0
