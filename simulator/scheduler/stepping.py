"""The steps of a user, and the conditions to run until. The caller of the simulation asks :class:`Stride` and
:class:`Until` between two steps."""

from collections.abc import Iterable
from typing import Literal, Protocol

from simulator.api import SECOND, Micros
from simulator.decision import Decision, UnderWay
from simulator.trace import Event, OutsidePreempted, PodGroupPreempted

Unit = Literal["event", "point", "cycle", "decision"]

Idle = Literal["nothing-due", "no-pod"]
"""The reason for which a step did nothing: nothing is due, or no cycle begins within :data:`FAR`."""

BEFORE_A_DECISION = ("PreScore", "PostFilter", "Reserve")
"""The points that follow a decision: which nodes pass, or which one is chosen."""

FAR: Micros = 3600 * SECOND
"""The simulated time ahead in which a step looks for a cycle: there may never be one."""


class Seen(Protocol):
    """The part of :class:`simulator.simulation.Simulation` that is used here."""

    @property
    def now(self) -> Micros: ...
    @property
    def cycles(self) -> int: ...
    @property
    def in_cycle(self) -> bool: ...
    @property
    def waits_for_pace(self) -> bool: ...
    @property
    def under_way(self) -> UnderWay | None: ...
    @property
    def rests(self) -> bool: ...
    @property
    def nothing_pending(self) -> bool: ...
    @property
    def all_tried(self) -> bool: ...
    def is_bound(self, pod: str) -> bool: ...
    def next_due(self) -> Micros | None: ...


class Stride:
    """One step of a user: the next event, an extension point, a whole cycle, or until the next decision.

    The next event is all that is due at the next time at which anything is due, such as the start of a
    container; a pod is popped by a step of its own. A cycle that stands at a point is finished by it.

    The other units look for a cycle. The simulation does what is due, and time moves on to it, until a cycle
    begins; then it runs the cycle's next point, or all of them, and then whatever else is due at that time,
    up to the next cycle. If the unit is a point, the beginning of a cycle is a step of its own, which shows
    the pod before its first point. If it is a cycle, the binding that follows at once belongs to it. A
    decision is one of: which pod is next, which nodes pass, which node is chosen, which pods are evicted;
    when the node is chosen, the rest of the cycle is one step."""

    def __init__(self, simulation: Seen, unit: Unit, now: Micros) -> None:
        self._simulation = simulation
        self.by_point = unit not in ("event", "cycle")
        self._unit = unit
        self._until = now + FAR
        self._cycles = simulation.cycles
        self._ran = False
        self.idle: Idle | None = None
        """The reason for which the step did nothing, when it is complete."""

    def next(self) -> Micros | None:
        """Return the time for the next call of ``simulation.step``, with this object's ``by_point``; None =
        the step is complete."""
        simulation = self._simulation
        if not self._ran and simulation.cycles == self._cycles:
            if simulation.in_cycle:
                self._ran = True
                return simulation.now
            due = simulation.next_due()
            if due is None or (due > self._until and self._unit != "event"):
                self.idle = "nothing-due" if due is None else "no-pod"
                return None
            self._ran = self._unit == "event"
            return due
        began, self._ran = not self._ran, True
        if self._unit == "event":
            return None if simulation.rests else simulation.now
        if simulation.in_cycle:
            return None if began or self._stands() else simulation.now
        return None if simulation.rests else simulation.now

    def _stands(self) -> bool:
        """Whether the step ends at the point where the cycle stands now."""
        under_way = self._simulation.under_way
        return self._unit != "decision" or (under_way is not None and under_way.point in BEFORE_A_DECISION)


class Until:
    """A condition to run until: ``nothing-pending``, ``preemption`` (the next one), ``tried`` (each pod of
    the queue once: the run begins with :meth:`simulator.simulation.Simulation.try_each`), or ``bound
    <namespace>/<name>``. With ``before <time>`` after it, in microseconds, it also holds when nothing is due
    up to that time; ``before <time>`` may stand alone. ``time <time>``: as ``before <time>``, and time then
    stops at that time, not at what happened last. Raises ValueError for any other."""

    def __init__(self, condition: str) -> None:
        self.condition = condition
        self.stop_time: Micros | None = None
        """The time at which time stops when the condition holds; None = the time of the last event."""
        self._preempted = False
        head, _, tail = condition.partition(" ")
        if head == "time" and tail.isdecimal():
            self.stop_time = int(tail)
            condition = f"before {tail}"
        rest, before, time = condition.rpartition("before ")
        self.end = int(time) if before and time.isdecimal() else None
        """The time after which the run does nothing; None = it has no end."""
        kind, _, self._pod = (condition if self.end is None else rest.rstrip()).partition(" ")
        known = ["nothing-pending", "preemption", "tried", "bound"]
        if kind not in known and (kind or self.end is None):
            raise ValueError(f"{condition!r}: nothing-pending, preemption, tried or bound is wanted")
        if (kind == "bound") != (self._pod.count("/") == 1):
            raise ValueError(f"{condition!r}: bound, and no other, is followed by <namespace>/<name>")
        self._kind = kind
        self.tries_each = kind == "tried"
        """Whether the run begins with an attempt for each pod. It takes no longer than these need: time moves
        on to the end of each cycle."""

    def saw(self, decisions: Iterable[Decision], trace: Iterable[Event] = ()) -> None:
        """Note new Decisions and trace events. The latter have the preemptions of outside schedulers, and
        those for pod groups."""
        self._preempted = (
            self._preempted
            or any(each.outcome == "preempting" for each in decisions)
            or any(isinstance(each, OutsidePreempted) for each in trace)
            or any(isinstance(each, PodGroupPreempted) and each.victims for each in trace)
        )

    def holds(self, simulation: Seen) -> bool:
        if self.end is not None:
            due = simulation.next_due()
            if due is None or due > self.end:
                return True
        if self._kind == "bound":
            return simulation.is_bound(self._pod)
        if self.tries_each:
            return simulation.all_tried and simulation.rests
        if self._kind == "":
            return False
        return self._preempted or (self._kind == "nothing-pending" and simulation.nothing_pending)


def run_condition(until: str, end: Micros, pod: str = "") -> str:
    """Return the condition, for :class:`Until`, of a run that ends at a time at the latest. until: ``time``
    (exactly then), ``idle``, or a kind of conditions; ``pod`` is that of ``bound``."""
    match until:
        case "time":
            return f"time {end}"
        case "idle":
            return f"before {end}"
    return f"{until} {pod} before {end}" if pod else f"{until} before {end}"
