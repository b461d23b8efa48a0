"""The Decisions of the scheduling cycles, until they are taken."""

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from simulator.client.world import World
from simulator.decision import Decision
from simulator.kernel.containment import message_of
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import record, trace_of
from simulator.trace import Event

log = logging.getLogger(__name__)

T = TypeVar("T")


class SearchRecord(NamedTuple):
    """The record of a search. ``decision`` is None if none is wanted, or it cannot be made."""

    decision: Decision | None
    events: Sequence[Event]


class DecisionLog:
    """The Decisions and the trace events of searches. They are for display: where making one raises, that is
    logged, there is no such Decision, and the cycle goes on.

    A Decision is made when the search has ended and before the pod is assumed, and not only when it is taken.
    It is made from the cluster, too: the inputs of scores, the filters with and without nominated pods, the
    pods that preemption could spare. Assuming the pod changes these, and the write that follows is stored
    together with the Decision. The columns of the attempt are shared, not copied, and nothing is encoded
    here."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._decisions: list[Decision] = []
        self._last: Decision | None = None
        """The last one that was made, for the columns that the next one shares."""
        self.wanted = True
        """Whether the Decisions are taken. If not, none is made."""
        self.before_search: Callable[[Attempt], None] | None = None
        """Is called with each attempt before it is run."""

    def search_begins(self, attempt: Attempt) -> None:
        listener = self.before_search
        if listener is not None:
            _contained(attempt, lambda: listener(attempt))

    def search_ended(self, attempt: Attempt, attempts: int) -> None:
        """Note the end of a search. ``attempts``: the number of times that the pod was tried, this time
        included."""
        self.keep(self.record(attempt, attempts))

    def record(self, attempt: Attempt, attempts: int) -> SearchRecord:
        """Return the record of a search that ended, which is kept only if :meth:`keep` is called with it."""
        now = self._world.now
        last, decision = self._last, None
        if self.wanted:
            decision = _contained(attempt, lambda: record(attempt, now=now, attempt=attempts, before=last))
            self._last = decision
        return SearchRecord(decision, _contained(attempt, lambda: [*trace_of(attempt, now)]) or [])

    def keep(self, search: SearchRecord) -> None:
        if search.decision is not None:
            self._decisions.append(search.decision)
        for event in search.events:
            self._world.emit(event)

    def so_far(self, attempt: Attempt, attempts: int) -> Decision | None:
        """Return the Decision of a search that stands between two extension points."""
        now = self._world.now
        return _contained(attempt, lambda: record(attempt, now=now, attempt=attempts, under_way=True))

    def take(self) -> list[Decision]:
        decisions, self._decisions = self._decisions, []
        return decisions


def _contained(attempt: Attempt, make: Callable[[], T]) -> T | None:
    try:
        return make()
    except Exception as fault:  # whatever it is: the pod's cycle goes on
        cycle, pod = attempt.state.cycle, attempt.pod.key
        log.warning(
            "what cycle %d decided about %s cannot be shown: %s",
            cycle,
            pod,
            message_of(fault),
            exc_info=fault,
        )
        return None
