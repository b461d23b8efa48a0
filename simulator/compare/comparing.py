"""Two simulations of the same workload, run side by side."""

from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

from simulator.api import Manifest, Micros
from simulator.compare.answer import Comparison, Difference
from simulator.compare.observer import Observer
from simulator.compare.workload import Workload, largest_pod
from simulator.decision import Decision
from simulator.memory import MemoryApi
from simulator.queueing.versions import TODAY, QueueVersion
from simulator.scheduler.extender import Transport
from simulator.simulation import Options, Simulation

STEPS_AT_ONCE: Final = 20
"""Between two words about how far it is: at 5,000 nodes some 100 ms of work."""


class Side(NamedTuple):
    """What one of the two schedulers is like."""

    config: Manifest | None = None
    """A KubeSchedulerConfiguration; None = the default one."""
    queue: QueueVersion = TODAY
    seed: int = 0


class Comparing:
    """Run it by :meth:`run`, for as long as you like: :meth:`result` is what is known by then."""

    def __init__(
        self, workload: Workload, a: Side, b: Side, duration: Micros, transport: Transport | None = None
    ) -> None:
        """``duration``: simulated time that is compared. Raises ConfigError for a configuration that a
        scheduler would not start with."""
        self._start = workload.start
        self._end = workload.start + duration
        self._reference = largest_pod(workload)
        self._a, self._b = (_Run(workload, side, self._end, self._reference, transport) for side in (a, b))
        self._difference: Difference | None = None

    def run(self) -> Iterator[float]:
        """Do it bit by bit; says after each how much of the simulated time is behind both, from 0 to 1.

        The one that lags behind goes on first, so that the two can be compared whenever it is stopped. Ends
        when the time is over or nothing more is due on either side. Exceptions are faults of a simulation."""
        steps = 0
        while not (self._a.over and self._b.over):
            behind = self._b if self._a.over or (not self._b.over and self._b.due < self._a.due) else self._a
            behind.step(keep_decisions=self._difference is None)
            self._difference = self._difference or self._find()
            steps += 1
            if steps % STEPS_AT_ONCE == 0:
                yield (self._reached() - self._start) / (self._end - self._start or 1)
        self._difference = self._difference or self._find()
        yield 1.0

    def result(self) -> Comparison:
        complete = self._a.over and self._b.over
        end = max(self._a.now, self._b.now)
        return Comparison(
            start=self._start,
            end=end - self._start,
            complete=complete,
            reference=self._reference,
            a=self._a.observer.outcome(end),
            b=self._b.observer.outcome(end),
            difference=self._difference,
        )

    def _reached(self) -> Micros:
        return min(self._end if run.over else run.now for run in (self._a, self._b))

    def _find(self) -> Difference | None:
        """The first difference, if it has come; decisions that are the same are forgotten."""
        a, b = self._a.decisions, self._b.decisions
        while a and b:
            found = difference(a.popleft(), b.popleft())
            if found:
                return found
        if self._a.over and self._b.over and (a or b):
            left = (a or b)[0]
            return Difference(left.cycle, "none", left if a else None, left if b else None)
        return None


def difference(a: Decision, b: Decision) -> Difference | None:
    """Of two decisions, what differs first; None where they come to the same."""
    if a.pod != b.pod:
        return Difference(a.cycle, "pod", a, b)
    if a.outcome != b.outcome:
        return Difference(a.cycle, "outcome", a, b)
    if chosen(a) != chosen(b):
        return Difference(a.cycle, "node", a, b)
    if victims(a) != victims(b):
        return Difference(a.cycle, "victims", a, b)
    return None


def chosen(decision: Decision) -> str:
    """The node that the pod goes to, or is nominated to; "" without any."""
    return decision.selected or (decision.preemption.chosen if decision.preemption else "")


def victims(decision: Decision) -> list[str]:
    """Who has to go for it."""
    preemption = decision.preemption
    candidates = preemption.candidates if preemption else []
    return [
        victim.pod
        for candidate in candidates
        if preemption and candidate.node == preemption.chosen
        for victim in candidate.victims
    ]


class _Run:
    """One side."""

    def __init__(
        self,
        workload: Workload,
        side: Side,
        end: Micros,
        reference: dict[str, int],
        transport: Transport | None,
    ) -> None:
        self._end = end
        self._api = MemoryApi()
        self._api.commit(workload.objects)
        options = Options(
            seed=side.seed,
            pace=workload.pace,
            config=side.config,
            first_cycle=workload.first_cycle,
            queue=side.queue,
        )
        self._simulation = Simulation(self._api, options, transport=transport)
        self.observer = Observer(workload.start, reference)
        self.now = workload.start
        self.due = workload.start
        """When the next step is due, unless it is over."""
        self.over = False
        self.decisions: deque[Decision] = deque()
        """Those that the other side has not come to yet."""
        self._pass_on()

    def step(self, *, keep_decisions: bool) -> None:
        self._simulation.step(self.due)
        self.now = max(self.now, self._simulation.now)
        self._pass_on()
        decisions = self._simulation.take_decisions()
        if keep_decisions:
            self.decisions.extend(decisions)

    def _pass_on(self) -> None:
        events = self._api.take_events()
        self._simulation.observe(events)
        self.observer.see(self.now, events, self._simulation.take_trace())
        self._simulation.take_lanes()
        due = self._simulation.next_due()
        self.over = due is None or due > self._end
        if due is not None:
            self.due = max(self.due, due)
