"""A pod's course through the scheduler, read from the trace: attempts, and moves through the queue."""

from collections.abc import Sequence
from typing import Final

import msgspec
from django.utils.translation import gettext
from msgspec.structs import replace

from simulator import trace

from . import format as fmt
from . import queue, reasons
from .log import Tone

LINES_AT_MOST: Final = 200
"""Of each; a pod that is tried as often has told its story."""


class PodAttempt(msgspec.Struct, frozen=True):
    """One scheduling attempt, and how it ended as far as the trace tells."""

    cycle: int
    number: int
    time: str
    tone: Tone
    outcome: str


class QueueMove(msgspec.Struct, frozen=True):
    """One move through the scheduling queue."""

    time: str
    source: str
    target: str
    event: str
    plugin: str


class PodHistory(msgspec.Struct, frozen=True):
    """Both newest first."""

    attempts: list[PodAttempt]
    moves: list[QueueMove]


def pod_history(pod: str, events: Sequence[trace.Event]) -> PodHistory:
    told = [event for event in events if getattr(event, "pod", "") == pod]
    return PodHistory(attempts(told), moves(told))


def attempts(told: Sequence[trace.Event]) -> list[PodAttempt]:
    found: dict[int, PodAttempt] = {}
    for event in told:
        cycle = getattr(event, "cycle", 0)
        if isinstance(event, trace.CycleStarted):
            time = fmt.clock(event.t)
            found[cycle] = PodAttempt(cycle, event.attempt, time, "quiet", gettext("under way"))
        elif isinstance(event, trace.QueueMoved) and event.target == "waiting" and found:
            cycle = next(reversed(found))
            found[cycle] = replace(found[cycle], outcome=gettext("waits on Permit"))
        elif cycle in found and found[cycle].tone != "warn":  # that it preempts says more than that it failed
            tone, outcome = attempt_outcome(event) or (found[cycle].tone, found[cycle].outcome)
            found[cycle] = replace(found[cycle], tone=tone, outcome=outcome)
    return [*reversed(found.values())][:LINES_AT_MOST]


def attempt_outcome(event: trace.Event) -> tuple[Tone, str] | None:
    match event:
        case trace.Bound():
            return "good", gettext("bound to %(node)s") % {"node": event.node}
        case trace.Nominated():
            return "warn", gettext("preempts on %(node)s") % {"node": event.node}
        case trace.Unschedulable():
            return "bad", reasons.short(event.message)
        case trace.BindFailed() | trace.SchedulerError():
            return "bad", event.message
        case _:
            return None


def moves(told: Sequence[trace.Event]) -> list[QueueMove]:
    return [
        QueueMove(
            fmt.clock(event.t),
            queue.title(event.source),
            queue.title(event.target),
            event.event,
            event.plugin,
        )
        for event in reversed(told)
        if isinstance(event, trace.QueueMoved)
    ][:LINES_AT_MOST]
