"""Plays a workload in memory, under one scheduler or two."""

from collections.abc import Iterator, Sequence

import msgspec

from simulator.api import Manifest, Micros
from simulator.arrivals.read import ReadArrivals
from simulator.arrivals.workload import PlayedWorkload, make_workload, played_scenario
from simulator.compare.answer import Comparison, RunOutcome
from simulator.compare.comparison_run import STEPS_PER_REPORT, ComparisonRun, Side, SideRun
from simulator.compare.workload import ComparedWorkload, largest_pod
from simulator.framework.extender import Transport
from simulator.memory_sandbox import START
from simulator.plugins.registry import load


def workload_of(
    read: ReadArrivals, nodes: Sequence[Manifest], name: str, pace: Micros, side: Side
) -> PlayedWorkload:
    """Return the checked workload of files that were read, as a scheduler plays it. Raises ArrivalError,
    ConfigError."""
    load(side.config, features=side.features)
    made = played_scenario(name, pace, side.seed)
    made = msgspec.structs.replace(made, config=side.config, features=side.features)
    return make_workload(read.arrivals, nodes, made)


class PlayedFigures(msgspec.Struct, frozen=True):
    """The figures of a workload that was played, for programs."""

    pods: int
    """Number of pods that the workload has."""
    end: Micros
    """The simulated time that was played."""
    reference: dict[str, int]
    """The requests of the reference pod for fragmentation; empty if there is none."""
    a: RunOutcome
    b: RunOutcome | None = None
    """The outcome of the second scheduler; null if there was one."""
    first_difference: int | None = None
    """The number of the first cycle in which the two schedulers differ."""


class Played(msgspec.Struct, frozen=True):
    pods: int
    """Number of pods that the workload has."""
    end: Micros
    """The simulated time that was played."""
    reference: dict[str, int]
    """The requests of the reference pod for fragmentation; empty if there is none."""
    a: RunOutcome
    comparison: Comparison | None = None
    """The comparison with the second scheduler; None if there was one."""

    def figures(self) -> PlayedFigures:
        found = self.comparison
        if found is None:
            return PlayedFigures(self.pods, self.end, self.reference, self.a)
        cycle = found.difference.cycle if found.difference else None
        return PlayedFigures(self.pods, self.end, self.reference, found.a, found.b, cycle)


class PlayRun:
    """A workload that is played. :meth:`run` may be stopped at any time."""

    def __init__(
        self,
        workload: PlayedWorkload,
        sides: Sequence[Side],
        duration: Micros,
        transport: Transport | None = None,
    ) -> None:
        """``sides``: one or two. Raises ConfigError."""
        self._pods = workload.pods
        compared = ComparedWorkload(workload.cluster(START), START, workload.scenario.pace)
        self._end = START + duration
        self._comparison: ComparisonRun | None = None
        self._reference = largest_pod(compared)
        if len(sides) == 2:
            self._comparison = ComparisonRun(compared, sides[0], sides[1], duration, transport)
        else:
            self._run = SideRun(compared, sides[0], self._end, self._reference, transport)
            self._run.simulation.make_no_decisions()

    def run(self) -> Iterator[float]:
        """Play in parts, and yield after each the share of the simulated time that was played, from 0 to
        1."""
        if self._comparison is not None:
            yield from self._comparison.run()
            return
        steps = 0
        while not self._run.over:
            self._run.step()
            steps += 1
            if steps % STEPS_PER_REPORT == 0:
                yield (self._run.now - START) / (self._end - START or 1)
        yield 1.0

    def result(self) -> Played:
        """Return the result up to now."""
        if self._comparison is not None:
            found = self._comparison.result()
            return Played(self._pods, found.end, found.reference, found.a, found)
        end = self._run.now
        return Played(self._pods, end - START, self._reference, self._run.observer.outcome(end))
