"""The bound of the runs and steps at one moment of simulated time. An actor that causes its own runs without
end is postponed, so that time moves on for everything else."""

from collections.abc import Callable
from typing import Final

from simulator.kernel.clock import SECOND, Micros
from simulator.kernel.containment import Actor, Run, backoff

RUNS_BY_ITSELF: Final = 16
"""The maximum number of runs of an actor at one moment that are caused by its own runs at that moment. A
rollout takes a controller 5 at most, and a ReplicaSet, which creates 500 pods at a time, reaches 8,000. A
controller whose pods are deleted as soon as they are created makes 8 of each."""
RUNS_AT_ONE_MOMENT: Final = 10_000
"""The maximum number of runs of an actor at one moment, for all causes together: a controller that is called
for each pod has some thousand when as many pods are created together."""
FIRST_POSTPONEMENT: Final[Micros] = 5 * SECOND
LONGEST_POSTPONEMENT: Final[Micros] = 60 * SECOND
"""The longest wait of a postponed actor. The time doubles with each postponement, up to a minute, so that the
actor goes on soon after a user has removed the cause."""
STEPS_AT_ONE_MOMENT: Final = 2_000_000
"""Steps of all actors at one moment, after which the simulation is given up. A full sandbox of 60,000 objects
needs some ten for each."""


class EndlessMoment(Exception):
    """The error of a simulation whose time does not move on: there were too many steps at one moment."""


class MomentLimit:
    """Counts the runs of each actor at the present moment. ``postponed`` is called with an actor that is
    postponed, the number of its runs, and the end of its wait."""

    def __init__(self, clock: Callable[[], Micros], postponed: Callable[[Actor, int, Micros], None]) -> None:
        self._clock = clock
        self._postponed = postponed
        self._moment: Micros = -1
        self._runs: dict[Actor, int] = {}
        self._steps = 0
        self._waiting: dict[Actor, tuple[int, Micros]] = {}
        """Postponed actors: how many times in a row, and until when."""

    def count_step(self) -> None:
        """Count one step at the present moment. Raises EndlessMoment."""
        if self._clock() != self._moment:
            self._begin(self._clock())
        self._steps += 1
        if self._steps > STEPS_AT_ONE_MOMENT:
            most = max(self._runs, key=lambda actor: self._runs[actor], default=Actor("Scheduler", "", ""))
            raise EndlessMoment(
                f"{self._steps:,} steps at one moment of simulated time, most of them by {most} "
                f"({self._runs.get(most, 0):,})"
            )

    def postponed_until(self, run: Run) -> Micros | None:
        """Count a run. None: it may be done now. Otherwise the time until which its actor waits."""
        now, actor = self._clock(), run.actor
        if now != self._moment:
            self._begin(now)
        times, until = self._waiting.get(actor, (0, 0))
        if now < until:
            return until
        runs = self._runs[actor] = self._runs.get(actor, 0) + 1
        if runs <= RUNS_AT_ONE_MOMENT and run.by_itself() < RUNS_BY_ITSELF:
            return None
        until = now + backoff(times, FIRST_POSTPONEMENT, LONGEST_POSTPONEMENT)
        self._waiting[actor] = times + 1, until
        self._postponed(actor, runs - 1, until)
        return until

    def _begin(self, now: Micros) -> None:
        """Begin a new moment. An actor that ran at the last one without being postponed again starts
        afresh."""
        for actor in [*self._waiting] if self._waiting else ():
            if actor in self._runs and self._waiting[actor][1] <= self._moment:
                del self._waiting[actor]
        self._moment, self._runs, self._steps = now, {}, 0
