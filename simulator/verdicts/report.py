"""What a scheduler did in some time, and what the model says of it, from the trace."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from typing import Final, get_args

import msgspec

from simulator.api import SECOND, Micros
from simulator.objects.timestamps import timestamp
from simulator.trace import (
    BindingJudged,
    Event,
    FailureJudged,
    OutsideBound,
    OutsideFailed,
    PreemptionJudged,
    QueuePlace,
    VictimReplaced,
)
from simulator.trace.verdicts import Verdict
from simulator.verdict_words import JUDGED_AS, AnyVerdict, in_english, summary_text

PENDING_AT_MOST: Final = 20
EVICTIONS_AT_MOST: Final = 200
OTHERS_AT_MOST: Final = 200
"""Maximum numbers that a report lists; all are counted. Of evictions and other decisions the last ones."""
MESSAGES_AT_MOST: Final = 50_000
"""Maximum number of pods whose last message is known."""
GOOD: Final = ("agrees", "tie", "sampled", "not this scheduler")


class PendingTime(msgspec.Struct, frozen=True):
    """How long a pod was, or is, pending."""

    pod: str
    seconds: float
    node: str
    """"" = it is still pending."""
    message: str
    """What the scheduler said of it last; "" = nothing."""


class Evicted(msgspec.Struct):
    time: str
    pod: str
    node: str
    preemptor: str
    """"" = unknown."""
    owner: str
    """The kind and name of the preemptor's controller."""
    verdict: Verdict
    why: str
    replaced_by: str = ""
    """The pod that came in its place; "" = none, so far."""
    replaced_on: str = ""


class OtherDecision(msgspec.Struct, frozen=True):
    """A decision that the model would have made otherwise."""

    time: str
    pod: str
    what: str
    verdict: Verdict
    why: str


class Report(msgspec.Struct):
    since: str
    until: str
    bindings: dict[str, int]
    """The number of each verdict."""
    messages: dict[str, int]
    evictions: dict[str, int]
    preemptors: dict[str, int]
    """The number of evictions for the pods of each controller, the most first; "" = unknown."""
    pending_longest: list[PendingTime]
    evicted: list[Evicted]
    otherwise: list[OtherDecision]
    judged_as: str
    """The version by which was judged, if the scheduler has another one."""


class ReportMaker:
    """Takes the trace, and makes the report of it."""

    def __init__(self, since: Micros) -> None:
        self._since = since
        self.counts: dict[type[Event], Counter[str]] = {
            kind: Counter() for kind in (BindingJudged, FailureJudged, PreemptionJudged)
        }
        self._preemptors: Counter[str] = Counter()
        self._waited: list[PendingTime] = []
        self._messages: dict[str, str] = {}
        self._evicted: deque[Evicted] = deque(maxlen=EVICTIONS_AT_MOST)
        self._otherwise: deque[OtherDecision] = deque(maxlen=OTHERS_AT_MOST)
        self._judged_as = ""

    def add(self, events: Iterable[Event]) -> None:
        for event in events:
            match event:
                case OutsideFailed():
                    self._messages[event.pod] = event.message
                    if len(self._messages) > MESSAGES_AT_MOST:
                        del self._messages[next(iter(self._messages))]
                case OutsideBound():
                    message = self._messages.pop(event.pod, "")
                    self._waited.append(PendingTime(event.pod, event.waited / SECOND, event.node, message))
                    if len(self._waited) > 100 * PENDING_AT_MOST:
                        self._waited = _longest(self._waited)
                case VictimReplaced():
                    for each in reversed(self._evicted):
                        if each.pod == event.pod and not each.replaced_by:
                            each.replaced_by, each.replaced_on = event.by, event.to
                            break
                case BindingJudged() | FailureJudged() | PreemptionJudged():
                    self._judged(event)

    def _judged(self, event: AnyVerdict) -> None:
        self.counts[type(event)][event.verdict] += 1
        self._judged_as = event.judged_as or self._judged_as
        time, why = timestamp(event.t), in_english(event)
        if isinstance(event, PreemptionJudged):
            self._preemptors[event.owner or event.preemptor] += 1
            found = Evicted(time, event.pod, event.node, event.preemptor, event.owner, event.verdict, why)
            self._evicted.append(found)
        if event.verdict not in (*GOOD, "unknown"):
            self._otherwise.append(OtherDecision(time, event.pod, decision_text(event), event.verdict, why))

    def report(self, now: Micros, places: Mapping[str, QueuePlace] | None = None) -> Report:
        """``places``: those of the pods that wait."""
        waiting = [
            PendingTime(key, (now - each.since) / SECOND, "", each.message or self._messages.get(key, ""))
            for key, each in (places or {}).items()
        ]
        return Report(
            since=timestamp(self._since),
            until=timestamp(now),
            bindings=_ordered(self.counts[BindingJudged]),
            messages=_ordered(self.counts[FailureJudged]),
            evictions=_ordered(self.counts[PreemptionJudged]),
            preemptors=dict(self._preemptors.most_common()),
            pending_longest=_longest([*self._waited, *waiting]),
            evicted=[*self._evicted],
            otherwise=[*self._otherwise],
            judged_as=self._judged_as,
        )


def decision_text(event: AnyVerdict) -> str:
    match event:
        case BindingJudged():
            return f"bound to {event.node}"
        case PreemptionJudged():
            return f"evicted from {event.node} for {event.preemptor or 'an unknown pod'}"
        case _:
            return "not scheduled"


def _longest(found: Sequence[PendingTime]) -> list[PendingTime]:
    return nlargest(PENDING_AT_MOST, found, key=lambda each: each.seconds)


def _ordered(counts: Counter[str]) -> dict[str, int]:
    return {verdict: counts[verdict] for verdict in get_args(Verdict) if counts[verdict]}


# As text


def count_lines(report: Report) -> Iterable[str]:
    """Yield how many verdicts of each kind there are."""
    for name, counts in (
        ("Bindings", report.bindings),
        ("Messages", report.messages),
        ("Evictions", report.evictions),
    ):
        yield f"{name}: {summary_text(counts) or 'none'}"


def markdown_lines(report: Report, title: str = "The scheduler's decisions") -> Iterable[str]:
    yield f"# {title}"
    yield ""
    yield f"From {report.since} to {report.until}."
    if report.judged_as:
        yield JUDGED_AS % {"version": report.judged_as}
    yield ""
    yield from (f"- {line}" for line in count_lines(report))
    yield from _section(
        "Pending longest",
        ("pod", "time", "node", "last message of the scheduler"),
        [
            (each.pod, f"{each.seconds:,.0f} s", each.node or "still pending", each.message)
            for each in report.pending_longest
        ],
    )
    yield from _section(
        "Who evicted whom",
        ("time", "victim", "node", "preemptor", "came back", "verdict", "why"),
        [
            (
                each.time,
                each.pod,
                each.node,
                " of ".join(filter(None, (each.preemptor or "unknown", each.owner))),
                f"{each.replaced_by} on {each.replaced_on}" if each.replaced_by else "no",
                each.verdict,
                each.why,
            )
            for each in report.evicted
        ],
    )
    yield from _section(
        "What the model would have done otherwise",
        ("time", "pod", "decision", "verdict", "why"),
        [(each.time, each.pod, each.what, each.verdict, each.why) for each in report.otherwise],
    )


def _section(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
    yield ""
    yield f"## {title}"
    yield ""
    if not rows:
        yield "None."
        return
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
