"""The cycles of pod groups, read from the trace."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from simulator import trace


class Turn(msgspec.Struct):
    """The turn of a member in a pass that has not ended, as far as the trace has it. ``outcome`` None: it is
    being tried."""

    pod: str
    cycle: int
    outcome: trace.MemberOutcome | None = None
    node: str = ""


class GroupCycle(msgspec.Struct):
    """One cycle of a group. ``ended`` None: it is under way, or was interrupted."""

    started: trace.PodGroupCycleStarted
    passes: list[trace.PodGroupTried] = []
    turns: dict[int, Turn] = {}
    """The turns since the last of the passes, by the number of the attempt."""
    nominated: dict[int, trace.Nominated] = {}
    """The members that preempt by themselves, by the number of the attempt."""
    compared: trace.PlacementsScored | None = None
    preempted: trace.PodGroupPreempted | None = None
    ended: trace.PodGroupCycleEnded | None = None

    @property
    def number(self) -> int:
        return self.started.cycle

    @property
    def counting(self) -> trace.PodGroupTried | None:
        """The pass that counts: in the placement that was chosen, or else the first one."""
        placement = self.ended.placement if self.ended else ""
        return next((each for each in self.passes if each.placement == placement), None) or next(
            iter(self.passes), None
        )

    def has(self, cycle: int) -> bool:
        """Whether the number is that of the attempt of a member."""
        return self.started.has(cycle)

    def turn(self, cycle: int, pod: str) -> Turn:
        """Return the turn of an attempt in the present pass. It begins there, if it has not."""
        return self.turns.setdefault(cycle, Turn(pod, cycle))


def group_cycles(events: Iterable[trace.Event]) -> Iterator[GroupCycle]:
    """Yield the cycles of all groups, oldest first."""
    found: GroupCycle | None = None
    for event in events:
        if isinstance(event, trace.PodGroupCycleStarted):
            if found is not None:
                yield found
            found = GroupCycle(event)
        elif found is not None:
            _read(found, event)
            if found.ended is not None:
                yield found
                found = None
    if found is not None:
        yield found


def _read(cycle: GroupCycle, event: trace.Event) -> None:
    match event:
        case trace.PodGroupTried():
            cycle.passes.append(event)
            cycle.turns = {}
        case trace.PlacementsScored():
            cycle.compared = event
        case trace.PodGroupPreempted():
            cycle.preempted = event
        case trace.PodGroupCycleEnded():
            cycle.ended = event
            cycle.turns = {}
        case trace.CycleStarted(cycle=number) if cycle.has(number) and not cycle.passes:
            cycle.turn(number, event.pod)
        case trace.Scored(cycle=number) if cycle.has(number):
            found = cycle.turn(number, event.pod)
            found.outcome, found.node = "fits", event.node
        case trace.Filtered(cycle=number) if cycle.has(number):
            cycle.turn(number, event.pod).outcome = None if event.feasible else "infeasible"
        case trace.Nominated(cycle=number) if cycle.has(number):
            cycle.nominated[number] = event
            if turn := cycle.turns.get(number):
                turn.outcome, turn.node = "preempts", event.node
        case trace.SchedulerError() if turn := cycle.turns.get(event.cycle):
            turn.outcome = "error"


def cycle_of_member(numbered: Sequence[tuple[int, trace.Event]], attempt: int) -> GroupCycle | None:
    """Return the cycle of a group in which an attempt was made, from the newest events of the trace, oldest
    first; None if it was made alone."""
    newer: list[trace.Event] = []
    for _, event in reversed(numbered):
        newer.append(event)
        if isinstance(event, trace.PodGroupCycleStarted):
            found = next(group_cycles(reversed(newer)))
            return found if found.has(attempt) else None
        if isinstance(event, trace.CycleStarted) and event.cycle < attempt - trace.PODS_AT_MOST:
            return None
    return None
