"""The scheduling attempts of a pod and its moves through the scheduling queue, read from the trace."""

from collections.abc import Sequence
from typing import Final

import msgspec
from django.utils.translation import gettext
from msgspec.structs import replace

from schedviz.web.queue import lanes as queue
from schedviz.web.reasons import messages as reasons
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name
from schedviz.web.text.tone import Tone
from simulator import trace

LINES_AT_MOST: Final = 200
"""Maximum number of attempts, and of moves, that a panel lists."""

ENDS_WITHOUT_OUTCOME: Final = (trace.CycleStarted, trace.CycleCutOff, trace.PodRemoved)
"""Events after which an attempt without an outcome has ended: the leader failed, or the pod was removed."""


class PodAttempt(msgspec.Struct, frozen=True):
    """One scheduling attempt and its outcome, as far as the trace has it."""

    cycle: int
    number: int
    time: str
    tone: Tone
    outcome: str


class QueueMove(msgspec.Struct, frozen=True):
    """One move between lanes of the scheduling queue."""

    time: str
    source: str
    target: str
    event: str
    plugin: str


class PodHistory(msgspec.Struct, frozen=True):
    """The attempts and moves of a pod, both newest first."""

    attempts: list[PodAttempt]
    moves: list[QueueMove]

    @property
    def untold(self) -> bool:
        """Whether the pod has more attempts than the trace has: older ones, and those of a group that was
        tried again while nothing changed."""
        return bool(self.attempts) and self.attempts[0].number > len(self.attempts)


def pod_history(pod: str, events: Sequence[trace.Event]) -> PodHistory:
    own = [event for event in events if getattr(event, "pod", "") == pod]
    return PodHistory(attempts(own), moves(own))


def attempts(events: Sequence[trace.Event]) -> list[PodAttempt]:
    found: dict[int, PodAttempt] = {}
    for event in events:
        cycle = getattr(event, "cycle", 0)
        last = next(reversed(found), 0)
        if isinstance(event, ENDS_WITHOUT_OUTCOME) and last and found[last].tone == "quiet":
            removed = isinstance(event, trace.PodRemoved)
            text = gettext("the pod was removed") if removed else gettext("interrupted")
            found[last] = replace(found[last], outcome=text)
        if isinstance(event, trace.CycleStarted):
            time = fmt.clock(event.t)
            found[cycle] = PodAttempt(cycle, event.attempt, time, "quiet", gettext("in progress"))
        elif isinstance(event, trace.QueueMoved) and event.target == "waiting" and found:
            cycle = next(reversed(found))
            found[cycle] = replace(found[cycle], outcome=gettext("waits on Permit"))
        elif cycle in found and found[cycle].tone != "warn":  # an attempt that preempts also fails
            tone, outcome = attempt_outcome(event) or (found[cycle].tone, found[cycle].outcome)
            found[cycle] = replace(found[cycle], tone=tone, outcome=outcome)
    return [*reversed(found.values())][:LINES_AT_MOST]


def attempt_outcome(event: trace.Event) -> tuple[Tone, str] | None:
    """Return the tone and the words for the outcome of an attempt; None for an event that ends none."""
    match event:
        case trace.Bound():
            return "good", gettext("bound to %(node)s") % {"node": node_name(event.node)}
        case trace.Nominated():
            return "warn", gettext("preempts on %(node)s") % {"node": node_name(event.node)}
        case trace.Unschedulable():
            return "bad", reasons.short(event.message)
        case trace.BindFailed() | trace.SchedulerError():
            return "bad", event.message
        case _:
            return None


def moves(events: Sequence[trace.Event]) -> list[QueueMove]:
    return [
        QueueMove(
            fmt.clock(event.t),
            queue.title(event.source),
            queue.title(event.target),
            event.event,
            event.plugin,
        )
        for event in reversed(events)
        if isinstance(event, trace.QueueMoved)
    ][:LINES_AT_MOST]
