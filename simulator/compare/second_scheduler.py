"""What a second scheduler decides on the attempts of a run, each in the cluster as it was then."""

from collections import Counter
from typing import Final

import msgspec
from msgspec.structs import replace

from simulator.compare.changed_decisions import (
    CausedDecisions,
    ChangedDecision,
    SchedulerAnswer,
    SchedulerSettings,
    TwoSchedulers,
    by_count,
)
from simulator.framework.extender import Transport
from simulator.scheduler.attempt import Attempt
from simulator.simulation import Simulation
from simulator.versions.changes import SchedulerChange

LISTED_AT_MOST: Final = 200
"""Maximum number of decisions of a run that are listed; all are counted."""

NODES_AT_MOST: Final = 20
"""Maximum number of nodes with equal scores that are listed for a decision of a run."""

WORK_AT_MOST: Final = 250_000_000
"""Maximum work for one run, some ten seconds: each search of an attempt counts its nodes and
WORK_OF_SEARCH."""


class RunDecisions(msgspec.Struct, frozen=True):
    """The decisions of a run that another scheduler would have made otherwise, each in the cluster as it was
    then."""

    decided: int
    """The number of attempts that were decided again."""
    complete: bool
    """Whether these are all attempts; False: the work would have been too much."""
    changed: int
    """The number of decisions that change."""
    causes: list[CausedDecisions]
    """By cause, the most first."""
    decisions: list[ChangedDecision]
    """The first LISTED_AT_MOST decisions that change."""
    changes: list[SchedulerChange]
    """All changes from the one scheduler to the other."""


class SecondScheduler:
    """Decides each attempt of a run by a second scheduler, before the first one runs it."""

    def __init__(
        self,
        settings: SchedulerSettings,
        transport: Transport | None = None,
        work_at_most: int = WORK_AT_MOST,
    ) -> None:
        self._settings = settings
        self._transport = transport
        self._first = settings
        self._both: TwoSchedulers | None = None
        self._work_left = work_at_most
        self._decided = 0
        self._complete = True
        self._causes: Counter[str] = Counter()
        self._decisions: list[ChangedDecision] = []
        self._changed = 0
        self._changes: dict[str, SchedulerChange] = {}

    def begin(self, simulation: Simulation, first: SchedulerSettings) -> None:
        """Decide the attempts of a simulation from now on: the run, or the next term of its leader. first:
        the settings of its scheduler."""
        self._first, self._both = first, None
        if first != self._settings:
            simulation.before_searches(self._decide)

    def _decide(self, attempt: Attempt) -> None:
        if self._work_left <= 0:
            self._complete = False
            return
        if self._both is None:
            self._both = TwoSchedulers(self._first, self._settings, attempt.cluster, self._transport)
            self._changes |= {change.name: change for change in self._both.changes}
        self._decided += 1
        worked = self._both.work
        found = self._both.compare(attempt.pod, attempt.state.nominated, attempt)
        self._work_left -= self._both.work - worked
        if found is None:
            return
        self._changed += 1
        self._causes.update(found.causes or [""])
        if len(self._decisions) < LISTED_AT_MOST:
            shorter = replace(found, before=_shortened(found.before), after=_shortened(found.after))
            self._decisions.append(shorter)

    def result(self) -> RunDecisions:
        return RunDecisions(
            self._decided,
            self._complete,
            self._changed,
            by_count(self._causes),
            [*self._decisions],
            [*self._changes.values()],
        )

    @property
    def work_left(self) -> int:
        return self._work_left


def _shortened(decision: SchedulerAnswer) -> SchedulerAnswer:
    nodes = decision.nodes
    return replace(decision, nodes=nodes[:NODES_AT_MOST], more=max(0, len(nodes) - NODES_AT_MOST))
