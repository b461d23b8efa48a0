"""The environment of all that happens in simulated time: the clock, the agenda, and the processes.

**The order.** :meth:`Environment.step` does the first entry of the agenda: by time, then by turn, then by the
order in which they were planned. Changes from outside (watch events of what users and other programs wrote)
are taken in between two steps, before all due work, and the clock moves on to the time at which they are
seen. Entries that were due before that time then run late: in the order of their own times, before all that
is planned from then on. Such an entry sees that it is late, because the clock shows more than the time for
which it was planned. While a cycle stands at a point, neither changes nor entries come in between."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import IntEnum
from functools import partial
from typing import NamedTuple, Optional

from simulator.kernel.agenda import Agenda
from simulator.kernel.clock import Micros
from simulator.kernel.containment import Actor, Containment, Run
from simulator.kernel.moment_limit import MomentLimit
from simulator.kernel.requests import Due, Outcome, Point, Request, Signal, Steps, Wait, Write


class Turn(IntEnum):
    """The order of entries with the same time: the cluster before the scheduler, then the scheduler's
    bindings and evictions, then the flushes of its queue, and the next scheduling cycle last."""

    TIMETABLE = 0
    KUBELET = 1
    CONTROLLER = 2
    BINDING = 3
    EVICTION = 4
    BACKOFF_FLUSH = 5
    LEFTOVER_FLUSH = 6
    CYCLE = 7
    NEXT_POD = 8


Action = Callable[[], Optional["Process"]]
"""The function of an entry. It returns a process that stands at a point, for the caller to resume."""


class Entry(NamedTuple):
    """An entry of the agenda. ``run`` None: the entry is a timer's, and not limited in how often it is
    done."""

    run: Run | None
    action: Action


class Environment(ABC):
    """The clock and the agenda that all components share. ``now`` is the simulated time."""

    def __init__(self) -> None:
        self.now: Micros = 0
        self.agenda: Agenda[Entry] = Agenda()
        self.containment = Containment(self.clock, self.report)
        self.limit = MomentLimit(self.clock, self.report_postponed)
        self.current: Run | None = None
        """The run that is being done, or that led to the change that is being taken in."""

    def clock(self) -> Micros:
        return self.now

    @abstractmethod
    def report(self, actor: Actor, fault: Exception) -> None:
        """Report that a run raised."""

    @abstractmethod
    def report_postponed(self, actor: Actor, runs: int, until: Micros) -> None:
        """Report that an actor had too many runs at one moment."""

    @abstractmethod
    def write(self, write: Write, finish: Callable[[Outcome], object]) -> Outcome | None:
        """Return the outcome, or None if it comes later: then ``finish`` is called with it."""

    def plan(self, time: Micros, turn: Turn, actor: Actor, action: Action) -> int:
        """Have an action done at a time, at once if that is past. Return its number in the agenda."""
        run = Run(actor, self.current if time <= self.now else None)
        return self.agenda.add(max(time, self.now), turn, Entry(run, action))

    def process(self, turn: Turn, actor: Actor, steps: Steps[None]) -> "Process":
        return Process(self, turn, actor, steps)

    def step(self) -> Optional["Process"]:
        """Do the first entry of the agenda, unless its actor has to wait. Return the process that stands at a
        point. Raises EndlessMoment, and KeyError if there is no entry."""
        place = self.agenda.first()
        if place is None:
            raise KeyError("the agenda is empty")
        self.now = max(self.now, place.time)
        self.limit.count_step()
        entry = self.agenda.entry(place)
        if entry.run is None:
            return self.agenda.take().action()
        until = self.limit.postponed_until(entry.run)
        if until is not None:
            self.agenda.postpone(until, entry._replace(run=Run(entry.run.actor)))
            return None
        self.current = entry.run
        return self.containment.run(entry.run.actor, self.agenda.take().action)


class Process:
    """Runs a generator. What it raises ends it and is reported; other processes go on."""

    def __init__(self, environment: Environment, turn: Turn, actor: Actor, steps: Steps[None]) -> None:
        self._environment = environment
        self._turn = turn
        self._actor = actor
        self._steps = steps
        self._run = environment.current
        self.point: Point | None = None
        """The point at which it is stopped."""

    def start(self) -> None:
        """Run to the first wait, within the step that is being done; there must be no point before it."""
        standing = self._go_on(None)
        assert standing is None, "a process that is started within a step waits before its first point"

    def resume(self) -> Optional["Process"]:
        """Go on from a point (or begin) to the next; None: the process waits, or has ended."""
        self._environment.current = self._run
        return self._go_on(None)

    def _go_on(self, value: object) -> Optional["Process"]:
        environment = self._environment
        self.point = None
        while True:
            request = environment.containment.run(self._actor, partial(self._next, value))
            if isinstance(request, Write):
                try:
                    value = environment.write(request, self._plan)
                except Exception as fault:  # for the generator to handle
                    value = fault
                if value is None:
                    return None
            elif isinstance(request, Point):
                self.point = request
                return self
            else:
                if request is not None:
                    self._wait(request)
                return None

    def _next(self, value: object) -> Request | None:
        """Return the generator's next request; None at its end."""
        try:
            return self._steps.throw(value) if isinstance(value, Exception) else self._steps.send(value)
        except StopIteration:
            return None

    def _wait(self, wait: Wait) -> None:
        until, signal = wait
        if signal is not None and signal.fired:
            self._plan(signal.value)
            return
        number = None if until is None else self._plan(Due(until), until, signal)
        if signal is not None:
            signal.wake = partial(self._wake, number)

    def _wake(self, number: int | None, value: object) -> None:
        """Wake the process whose signal was fired before the time of its wait, whose entry has this
        number."""
        if number is not None:
            self._environment.agenda.cancel(number)
        self._plan(value)

    def _plan(self, value: object, time: Micros = 0, signal: Signal | None = None) -> int:
        """Go on with this value in an entry at ``time`` (at once if that is past), which ends the wait for
        the signal."""

        def action() -> Optional["Process"]:
            if signal is not None:
                signal.wake = None
            self._run = self._environment.current
            return self._go_on(value)

        return self._environment.plan(time, self._turn, self._actor, action)


class Timer:
    """An entry of the agenda that can be set again. Its action is done at the time that was set last."""

    def __init__(self, environment: Environment, turn: Turn, actor: Actor, action: Action) -> None:
        self._environment = environment
        self._turn = turn
        self._actor = actor
        self._action = action
        self._number = 0
        self.time: Micros | None = None
        """The time at which it is due; None = never."""

    def set(self, time: Micros | None) -> None:
        """Set the time at which the timer is due; None stops the timer."""
        if time == self.time:
            return
        if self.time is not None:
            self._environment.agenda.cancel(self._number)
        self.time = time
        if time is not None:
            self._number = self._environment.agenda.add(time, self._turn, Entry(None, self._fire))

    def _fire(self) -> Optional["Process"]:
        self.time = None
        return self._environment.containment.run(self._actor, self._action)
