"""Runs two simulations of the same workload side by side."""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from simulator.api import Manifest, Micros
from simulator.apiserver.resources import PODS
from simulator.apiserver.server import ApiServer
from simulator.compare.answer import Comparison, Difference, PlacedPod, PlacedPods
from simulator.compare.changed_decisions import SchedulerSettings
from simulator.compare.observer import Observer
from simulator.compare.place_again import is_placed_again
from simulator.compare.second_scheduler import SecondScheduler
from simulator.compare.workload import ComparedWorkload, largest_pod
from simulator.decision import Decision
from simulator.framework.extender import Transport
from simulator.memory import MemoryStorage
from simulator.queueing.queue_version import QueueVersion
from simulator.simulation import Options, Simulation
from simulator.versions.features import DEFAULT_FEATURES, Features

MAX_MOVES: Final = 200
"""Maximum number of pods that are listed by name, of those that were placed again."""
STEPS_PER_REPORT: Final = 20
"""Number of steps between two reports of progress: about 100 ms of work with 5,000 nodes."""

WORK_PER_REPORT: Final = 3_000_000
"""The work of deciding by two schedulers after which progress is reported, about 100 ms."""


class Side(NamedTuple):
    """The settings of one of the two schedulers."""

    config: Manifest | None = None
    """A KubeSchedulerConfiguration; None = the default one."""
    queue: QueueVersion = QueueVersion.KUBERNETES
    seed: int = 0
    features: Features = DEFAULT_FEATURES
    """The version of Kubernetes, with its feature gates."""

    @property
    def settings(self) -> SchedulerSettings:
        return SchedulerSettings(self.config, self.features)


class ComparisonRun:
    """A comparison. :meth:`run` may be stopped at any time; :meth:`result` returns the result so far."""

    def __init__(
        self,
        workload: ComparedWorkload,
        a: Side,
        b: Side,
        duration: Micros,
        transport: Transport | None = None,
    ) -> None:
        """``duration`` is the simulated time to compare. Raises ConfigError for an invalid configuration."""
        self._start = workload.start
        self._end = workload.start + duration
        self._reference = largest_pod(workload)
        self._a, self._b = (SideRun(workload, side, self._end, self._reference, transport) for side in (a, b))
        self._second: SecondScheduler | None = None
        if a.settings != b.settings:
            self._second = SecondScheduler(b.settings, transport)
            self._second.begin(self._a.simulation, a.settings)
        self._nodes_before = workload.nodes_before
        self._kept = sum(
            is_placed_again(change.object)
            for change in workload.objects
            if change.resource == PODS.id and change.object is not None
        )
        self._difference: Difference | None = None

    def run(self) -> Iterator[float]:
        """Run the comparison in parts, and yield after each the share of the simulated time that both sides
        have completed, from 0 to 1.

        The side whose next step is due earlier runs next, so that the sides can be compared whenever the run
        is stopped. The run ends when the duration is over or nothing more is due on both sides. Exceptions
        are faults of a simulation."""
        steps, work_left = 0, self._work_left()
        while not (self._a.over and self._b.over):
            behind = self._b if self._a.over or (not self._b.over and self._b.due < self._a.due) else self._a
            behind.step()
            if self._difference is None:
                self._difference = self._find()
            steps += 1
            if steps % STEPS_PER_REPORT == 0 or work_left - self._work_left() > WORK_PER_REPORT:
                work_left = self._work_left()
                yield (self._reached() - self._start) / (self._end - self._start or 1)
        self._difference = self._difference or self._find()
        yield 1.0

    def result(self) -> Comparison:
        """Return the result up to now."""
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
            placed=self._placed() if self._nodes_before else None,
            kept=self._kept,
            decided_again=self._second.result() if self._second else None,
        )

    def _work_left(self) -> int:
        return self._second.work_left if self._second else 0

    def _placed(self) -> PlacedPods:
        placed = [
            PlacedPod(key, before, self._a.node_of(key), self._b.node_of(key))
            for key, before in self._nodes_before.items()
        ]
        moves = [pod for pod in placed if not pod.a == pod.b == pod.before]
        moves.sort(key=lambda pod: pod.a == pod.b)
        return PlacedPods(
            total=len(placed),
            moved_a=sum(bool(pod.a) and pod.a != pod.before for pod in placed),
            moved_b=sum(bool(pod.b) and pod.b != pod.before for pod in placed),
            without_node_a=sum(pod.a == "" for pod in placed),
            without_node_b=sum(pod.b == "" for pod in placed),
            different=sum(pod.a != pod.b for pod in placed),
            changed=len(moves),
            moves=moves[:MAX_MOVES],
        )

    def _reached(self) -> Micros:
        return min(self._end if run.over else run.now for run in (self._a, self._b))

    def _find(self) -> Difference | None:
        """Return the first difference, if it has occurred. Equal decisions are removed."""
        a, b = self._a.decisions, self._b.decisions
        while a and b:
            found = find_difference(a.popleft(), b.popleft())
            if found:
                self._a.forget_decisions()
                self._b.forget_decisions()
                return found
        if self._a.over and self._b.over and (a or b):
            left = (a or b)[0]
            return Difference(left.cycle, "none", left if a else None, left if b else None)
        return None


def find_difference(a: Decision, b: Decision) -> Difference | None:
    """Return the difference of two decisions; None if they are equal."""
    if a.pod != b.pod:
        return Difference(a.cycle, "pod", a, b)
    if a.outcome != b.outcome:
        return Difference(a.cycle, "outcome", a, b)
    if a.chosen_node != b.chosen_node:
        return Difference(a.cycle, "node", a, b)
    if [each.pod for each in a.victims] != [each.pod for each in b.victims]:
        return Difference(a.cycle, "victims", a, b)
    return None


class SideRun:
    """The run of a workload under one scheduler."""

    def __init__(
        self,
        workload: ComparedWorkload,
        side: Side,
        end: Micros,
        reference: dict[str, int],
        transport: Transport | None = None,
    ) -> None:
        self._end = end
        self._api = MemoryStorage()
        self._api.commit(workload.objects)
        options = Options(
            seed=side.seed,
            pace=workload.pace,
            config=side.config,
            first_cycle=workload.first_cycle,
            queue=side.queue,
            kubernetes=side.features.version.patch,
            feature_gates=side.features.gates,
        )
        self.simulation = Simulation(self._api, ApiServer, options, transport=transport)
        self.observer = Observer(workload.start, reference, end - workload.start)
        self.now = workload.start
        self.due = workload.start
        """The time at which the next step is due, if the run is not over."""
        self.over = False
        self.decisions: deque[Decision] = deque()
        """The decisions that the other side has not reached yet."""
        self._transfer_events()

    def step(self) -> None:
        self.simulation.step(self.due)
        self.now = max(self.now, self.simulation.now)
        self._transfer_events()
        self.decisions.extend(self.simulation.take_decisions())

    def objects(self) -> Mapping[str, Mapping[str, Manifest]]:
        """Return all objects as they are now, by resource and key."""
        return self._api.objects

    def node_of(self, pod: str) -> str | None:
        """Return the node of a pod; "" if it has none, None if the pod is gone."""
        manifest = self._api.objects.get(PODS.id, {}).get(pod)
        return None if manifest is None else manifest["spec"].get("nodeName", "")

    def forget_decisions(self) -> None:
        """Stop making Decisions, and remove the existing ones."""
        self.simulation.make_no_decisions()
        self.decisions.clear()

    def _transfer_events(self) -> None:
        events = self._api.take_events()
        self.simulation.observe(events)
        self.observer.observe(self.now, events, self.simulation.take_trace())
        self.simulation.take_queue_places()
        due = self.simulation.next_due()
        self.over = due is None or due > self._end
        if due is not None:
            self.due = max(self.due, due)
