"""The lines of the log about single pods in the cycle of their group, which those of the group stand for."""

from collections.abc import Iterable

from simulator import trace

Numbered = tuple[int, trace.Event]


class GroupMembers:
    """Leaves out what happens to single pods between the beginning and the end of a group's cycle: their
    turns and their moves. What they preempt and their errors stay."""

    def __init__(self) -> None:
        self._cycle: trace.PodGroupCycleStarted | None = None
        """The cycle that has begun and not ended."""

    def leave_out(self, events: Iterable[Numbered]) -> list[Numbered]:
        """Return the other events. ``events``: those since the last call, the oldest first."""
        kept: list[Numbered] = []
        for seq, event in events:
            if isinstance(event, trace.PodGroupCycleStarted):
                self._cycle = event
                while kept and _is_popped(kept[-1][1], event.pods):
                    kept.pop()
            elif isinstance(event, trace.PodGroupCycleEnded):
                self._cycle = None
            elif self._cycle is not None and _is_of_member(event, self._cycle):
                continue
            kept.append((seq, event))
        return kept


def _is_popped(event: trace.Event, pods: list[str]) -> bool:
    return isinstance(event, trace.QueueMoved) and event.target == "inFlight" and event.pod in pods


def _is_of_member(event: trace.Event, cycle: trace.PodGroupCycleStarted) -> bool:
    if isinstance(event, trace.QueueMoved):
        return event.source == "inFlight" and event.target != ""
    return isinstance(
        event, trace.CycleStarted | trace.Filtered | trace.Scored | trace.Unschedulable
    ) and cycle.has(event.cycle)
