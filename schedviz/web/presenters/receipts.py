"""Which receipt stands behind what is shown: each bind, rejection, nomination and eviction has one."""

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
)


class Receipts(msgspec.Struct, frozen=True):
    """Of one pod, each the number of a cycle; 0 for none."""

    bound: int
    nominated: int
    evicted: int
    preemptor: str
    """By whom it was evicted, as a key."""


def cycle_of(event: trace.Event) -> int:
    """The cycle that decided this; 0 of what no cycle decides."""
    return event.cycle if isinstance(event, DECIDED) else 0


def pod_receipts(told: Iterable[trace.Event]) -> Receipts:
    """From the trace events of the pod, oldest first."""
    bound = nominated = evicted = 0
    preemptor = ""
    for event in told:
        match event:
            case trace.Bound():
                bound = event.cycle
            case trace.Nominated():
                nominated = event.cycle
            case trace.VictimDeleted():
                evicted, preemptor = event.cycle, event.preemptor
            case _:
                pass
    return Receipts(bound, nominated, evicted, preemptor)


def receipt_of_event(event: Manifest, told: Sequence[trace.Event]) -> int:
    """Of a Kubernetes event about the pod, which does not say its cycle itself."""
    for happened in reversed(told):
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
