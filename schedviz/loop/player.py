"""Steps a Simulation as the clock of its sandbox allows: with the time, up to a condition, or by single steps
while time is paused."""

from collections.abc import Callable

from schedviz.store import Clock
from simulator.api import Micros
from simulator.decision import Decision
from simulator.scheduler.stepping import Idle, Seen, Stride, Until
from simulator.trace import Event

LATE_SECONDS = 1.0
"""Wall time for which something may have been due at the end of a slice. Beyond it the clock is ``late``
until nothing is due."""


class Player:
    """Keeps a user's step that is not finished between two slices."""

    def __init__(
        self,
        simulation: Seen,
        step: Callable[..., bool],
        try_each: Callable[[Micros], object],
        clock: Clock,
        now: Micros,
    ) -> None:
        """step, try_each: call these methods of the Simulation, and return their result."""
        self._simulation = simulation
        self._step = step
        self._try_each = try_each
        self._clock = clock
        self.now = now
        """Simulated time. It goes back only when a run stops at its condition, to the time at which that came
        true."""
        self._stride: Stride | None = None
        self._until: Until | None = None
        self._began = True
        """Whether each pod of the queue was moved to activeQ, in a run that tries each."""
        self._taken = 0
        self._idle: Idle | None = None
        """The reason for which the last step that was taken did nothing."""
        self._stopped = False

    def begin(self, clock: Clock, wall: float) -> None:
        """Begin a slice, with the clock as it was read at the time ``wall``."""
        self._clock = clock
        self.now = max(self.now, clock.now(wall))
        if self._stopped:
            self._until = None  # the same condition again is another run
        self._taken, self._stopped = 0, False
        if not clock.steps:
            self._stride = None
        if not clock.until:
            self._until = None
        elif self._until is None or self._until.condition != clock.until:
            self._until = Until(clock.until)
            self._began = not self._until.tries_each

    def decided(self, decisions: list[Decision], trace: list[Event]) -> None:
        """Compare new decisions and trace events with the condition of the run."""
        if self._until:
            self._until.saw(decisions, trace)

    def run(self, *, unread: bool) -> bool:
        """Make one step of the Simulation if time runs; False = nothing is due, or the condition holds.

        unread: whether others have written what the Simulation has not observed yet. Then the condition may
        become false: time stops only when it is also true afterwards."""
        if self._clock.paused or self._stopped:
            return False
        if not self._began:
            if not self._simulation.rests:
                return self._step(self.now)
            if unread:
                return False  # a pod that was created before the run is tried, too
            self._began = True
            self._try_each(self.now)
        if self._until and self._until.holds(self._simulation):
            if unread and not self._simulation.in_cycle:
                return False
            self._stopped = True
            self.now = max(self._simulation.now, self._clock.sim, self._until.stop_time or 0)
            return False
        return self._step(self.now)

    def skip_pace(self) -> bool:
        """Move time to what is due next, at the speed at which nothing waits and in a run that tries each pod
        once: while a cycle waits for its end, and in a run up to a time. Return whether it moved."""
        hurries = self._clock.unpaced or (self._until is not None and self._until.tries_each)
        if self._clock.paused or self._stopped or not hurries:
            return False
        has_end = self._until is not None and self._until.end is not None
        due = self._simulation.next_due() if has_end or self._simulation.waits_for_pace else None
        if due is None or due <= self.now:
            return False
        self.now = due
        return True

    def step(self) -> bool:
        """Make one step of the Simulation for the user's steps; False = all of them are taken."""
        steps = self._clock.steps
        if not steps or self._taken >= steps.left:
            return False
        if self._stride is None:
            self._stride = Stride(self._simulation, steps.unit, self.now)
        at = self._stride.next()
        if at is None:
            self._idle, self._stride = self._stride.idle, None
            self._taken += 1
        else:
            self.now = max(self.now, at)
            self._step(self.now, by_point=self._stride.by_point)
        return True

    def clock(self, current: Clock, wall: float) -> Clock:
        """Return the clock after this slice. ``current``: the stored clock, which a user may have set
        meanwhile."""
        if self._stopped and self._until and current.until == self._until.condition:
            return current.stopped(self.now, wall)
        if self._taken or current.now(wall) < self.now:
            idle = self._idle if self._taken else current.idle or None
            current = current.advanced(self.now, wall, self._taken, idle)
        return current.judged(late=self._is_late(current, wall))

    def _is_late(self, clock: Clock, wall: float) -> bool:
        due = self._simulation.next_due()
        at = None if due is None else clock.wall_at(due)
        return at is not None and wall - at > (0 if clock.late else LATE_SECONDS)
