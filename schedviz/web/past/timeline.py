"""The timeline: a mark for each scheduling attempt in the trace."""

from collections import Counter
from collections.abc import Iterable
from itertools import chain, takewhile
from typing import Final, Literal

import msgspec
from django.utils.translation import gettext

from schedviz.web.picture.picture import Picture
from schedviz.web.text import format as fmt
from simulator import trace
from simulator.trace import Event

MARKS_AT_MOST: Final = 140
MEMBERS_KEPT: Final = 2_000
"""Maximum number of attempts of members that are known as such: one for each event of the trace that is
read."""
MARKS_AHEAD: Final = 40
"""Number of marks after a past moment."""

MarkKind = Literal["bound", "unschedulable", "preempting", "error"]
KINDS: Final[tuple[MarkKind, ...]] = ("bound", "unschedulable", "preempting", "error")


class MarkView(msgspec.Struct, frozen=True):
    seq: int
    cycle: int
    kind: MarkKind
    title: str
    ahead: bool
    """Whether the mark is after the past moment that the page shows."""
    group: bool = False
    """Whether it is the cycle of a pod group."""
    pod: str = ""
    """The key of the pod of an outside scheduler's act, which has no cycle."""

    @property
    def place(self) -> str:
        """The id of the mark, which no other mark has."""
        return f"s{self.seq}" if self.pod else str(self.cycle)


class Timeline:
    """The marks of one picture, oldest first. Each event of the trace is read once. An attempt that nominates
    a node has one mark, although it is also unschedulable. A past moment also has marks of later attempts.
    The cycle of a pod group has one mark, and the attempts of its members in it have none."""

    def __init__(self) -> None:
        self._seq = -1
        """The number of the newest event that was read."""
        self._marks: dict[int, MarkView] = {}
        """Cycle -> its mark. The key of an act of an outside scheduler is minus its number in the trace."""
        self._shown: list[MarkView] = []
        self._attempts_of_groups: dict[int, None] = {}
        """The numbers of the attempts in the last cycles of pod groups."""

    def marks(self, picture: Picture) -> list[MarkView]:
        """Return the marks of the newest attempts. The same list object is returned until a mark changes."""
        if picture.seq > self._seq:
            new = [*takewhile(lambda each: each[0] > self._seq, reversed(picture.trace))]
            read = [self._read(seq, event, picture.seq) for seq, event in chain(reversed(new), picture.ahead)]
            self._seq = picture.seq
            if any(read):
                self._cut()
                self._shown = [*self._marks.values()]
        return self._shown

    def _read(self, seq: int, event: Event, now: int) -> bool:
        """Read an event; return whether it changed a mark."""
        match event:
            case trace.PodGroupCycleStarted():
                self._attempts_of_groups |= dict.fromkeys(
                    range(event.cycle + 1, event.cycle + 1 + event.size)
                )
                while len(self._attempts_of_groups) > MEMBERS_KEPT:
                    del self._attempts_of_groups[next(iter(self._attempts_of_groups))]
                return False
            case trace.PodGroupCycleEnded():
                self._mark_group(seq, event, now)
            case _ if getattr(event, "cycle", 0) in self._attempts_of_groups and not isinstance(
                event, trace.BindFailed
            ):
                return False
            case trace.Bound():
                self._mark(seq, event, "bound", gettext("bound to %(node)s") % {"node": event.node}, now)
            case trace.Nominated():
                text = gettext("preempts on %(node)s") % {"node": event.node}
                self._mark(seq, event, "preempting", text, now)
            case trace.Unschedulable() if event.cycle not in self._marks:
                self._mark(seq, event, "unschedulable", gettext("unschedulable"), now)
            case trace.SchedulerError() | trace.BindFailed():
                self._mark(seq, event, "error", gettext("failed"), now)
            case trace.OutsideBound():
                text = gettext("bound to %(node)s") % {"node": event.node}
                self._mark_outside(seq, event, "bound", text, now)
            case trace.OutsideNominated():
                text = gettext("nominated to %(node)s") % {"node": event.node}
                self._mark_outside(seq, event, "preempting", text, now)
            case trace.OutsideFailed():
                self._mark_outside(seq, event, "unschedulable", gettext("unschedulable"), now)
            case _:
                return False
        return True

    def _mark_outside(
        self,
        seq: int,
        event: trace.OutsideBound | trace.OutsideNominated | trace.OutsideFailed,
        kind: MarkKind,
        text: str,
        now: int,
    ) -> None:
        title = gettext("Outside scheduler %(scheduler)s, %(time)s: %(pod)s %(text)s") % {
            "scheduler": event.scheduler,
            "time": fmt.clock(event.t),
            "pod": fmt.pod_name(event.pod),
            "text": text,
        }
        self._marks[-seq] = MarkView(seq, 0, kind, title, seq > now, pod=event.pod)

    def _mark_group(self, seq: int, event: trace.PodGroupCycleEnded, now: int) -> None:
        said: dict[trace.GroupVerdict, tuple[MarkKind, str]] = {
            "scheduled": ("bound", gettext("can be scheduled")),
            "unschedulable": ("unschedulable", gettext("unschedulable")),
            "waiting": ("preempting", gettext("waits for evictions")),
            "error": ("error", gettext("failed")),
        }
        kind, text = said[event.verdict]
        title = gettext("Cycle %(cycle)s, %(time)s: the group %(group)s %(text)s") % {
            "cycle": event.cycle,
            "time": fmt.clock(event.t),
            "group": fmt.pod_name(event.group),
            "text": text,
        }
        self._marks[event.cycle] = MarkView(seq, event.cycle, kind, title, seq > now, group=True)

    def _mark(
        self,
        seq: int,
        event: trace.Bound | trace.Nominated | trace.Unschedulable | trace.SchedulerError | trace.BindFailed,
        kind: MarkKind,
        text: str,
        now: int,
    ) -> None:
        title = gettext("Cycle %(cycle)s, %(time)s: %(pod)s %(text)s") % {
            "cycle": event.cycle,
            "time": fmt.clock(event.t),
            "pod": fmt.pod_name(event.pod),
            "text": text,
        }
        self._marks[event.cycle] = MarkView(seq, event.cycle, kind, title, seq > now)

    def _cut(self) -> None:
        ahead = [cycle for cycle, mark in self._marks.items() if mark.ahead]
        for cycle in ahead[MARKS_AHEAD:]:
            del self._marks[cycle]
        while len(self._marks) > MARKS_AT_MOST:
            del self._marks[next(iter(self._marks))]


class MarkCount(msgspec.Struct, frozen=True):
    kind: MarkKind
    marks: int


def counts(marks: Iterable[MarkView]) -> list[MarkCount]:
    """Return the number of marks of each kind, without those after a past moment. "error" only if there are
    any."""
    kinds = Counter(mark.kind for mark in marks if not mark.ahead)
    return [MarkCount(kind, kinds[kind]) for kind in KINDS if kinds[kind] or kind != "error"]
