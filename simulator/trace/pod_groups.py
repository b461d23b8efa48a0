"""Trace events of pod groups: of a group's cycle, of the placements that are compared, and of the preemption
for a group. The attempt of each member has its own cycle number, CycleStarted and Decision."""

from typing import Final, Literal

import msgspec

from simulator.trace.event import Event

PODS_AT_MOST: Final = 128
"""Maximum number of pods in a list of one of these events; what counts them all is beside it."""
PLACEMENTS_AT_MOST: Final = 32
"""Maximum number of placements of which a cycle has a PodGroupTried, and which a PlacementsScored has."""
UNITS_AT_MOST: Final = 64
"""Maximum number of units that a PodGroupPreempted has."""

MemberOutcome = Literal["fits", "preempts", "infeasible", "error"]
GroupVerdict = Literal["scheduled", "unschedulable", "waiting", "error"]


class PodGroupCycleStarted(Event, frozen=True, tag=True):
    """The cycle of a group begins, with all its pods that were in the queue."""

    cycle: int
    group: str
    """``namespace/name`` of the PodGroup."""
    popped: str
    """The pod that stood first in the queue. The others were taken out of it for its sake."""
    pods: list[str]
    """The pods of the cycle, in the order in which they are tried."""
    size: int
    """Number of pods of the cycle."""
    min_count: int | None
    """None for the policy ``basic``."""

    def has(self, cycle: int) -> bool:
        """Whether the number is that of the attempt of one of its pods."""
        return 0 < cycle - self.cycle <= self.size


class MemberTried(msgspec.Struct, frozen=True):
    pod: str
    cycle: int
    """The number of its attempt, by which its Decision is found. Where several placements are tried, that of
    the chosen one has the Decision, or else that of the first."""
    outcome: MemberOutcome
    node: str
    """The node on which the next ones see it, also where it preempts others there. Of a member that Reserve
    or Permit refuses, the node that was found for it; "" = none."""
    message: str
    """Why it is infeasible, or the error; "" = it has a place."""


class PodGroupTried(Event, frozen=True, tag=True):
    """One pass over the members: each was tried, and assumed where it fits, so that the next one saw it.
    What was assumed is taken back."""

    cycle: int
    group: str
    placement: str
    """The value of the label that the nodes of the placement share; "" = all nodes."""
    nodes: int
    """Number of nodes of the placement."""
    members: list[MemberTried]
    verdict: GroupVerdict
    message: str


class PlacementScore(msgspec.Struct, frozen=True):
    placement: str
    scores: dict[str, int]
    """The score of each PlacementScore plugin, 0 to 100, without its weight."""
    total: int
    pods: int
    """Number of pods that get a node there."""


class PlacementsScored(Event, frozen=True, tag=True):
    """The placements in which the group can be scheduled were compared."""

    cycle: int
    group: str
    scores: list[PlacementScore]
    """The best first."""
    chosen: str
    tied: int
    """Number of placements with the highest total."""


class UnitTried(msgspec.Struct, frozen=True):
    """Pods that are evicted together or not at all."""

    pods: list[str]
    size: int
    """Number of its pods."""
    group: str
    """The PodGroup whose pods are one unit; "" for a single pod."""
    priority: int
    violates: bool
    """Whether its eviction violates a PodDisruptionBudget."""
    reprieved: bool
    """Whether it was put back, because the group can be scheduled with it."""


class PodGroupPreempted(Event, frozen=True, tag=True):
    """Preemption for a group was tried: all units of lower priority were taken off the nodes, and put back
    one by one where the group can still be scheduled. Those that are not reprieved are evicted."""

    cycle: int
    group: str
    priority: int
    units: list[UnitTried]
    """In the order in which they were put back; empty if no eviction helps."""
    victims: list[str]
    victim_count: int
    message: str
    """Why no eviction helps; "" = one does."""


class PodGroupCycleEnded(Event, frozen=True, tag=True):
    """The verdict on the group, and what becomes of its pods."""

    cycle: int
    group: str
    verdict: GroupVerdict
    message: str
    placement: str
    """The placement whose pass counts; "" = all nodes."""
    bound: dict[str, str]
    """The pods that go on to their binding cycles, with their nodes."""
    bound_count: int
    taken_back: list[str]
    """The pods that had a place, and go back to the queue."""
    taken_back_count: int
    passes: int
    """How often the group was tried in this cycle, with those of the preemption."""


class PodGroupRetried(Event, frozen=True, tag=True):
    """A failed group was tried again without pause while nothing changed: these tries, which all end as the
    one before, are this one entry."""

    group: str
    since: int
    count: int
