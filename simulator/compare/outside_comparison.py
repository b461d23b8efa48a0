"""Sets what an outside scheduler did, as a recording has it, beside the model on the same inputs.

Side A is the recording: its writes, at their times. Side B is a simulation that begins with the same objects
and is given the writes of the clients: pods and nodes that were created, changed and deleted. What an outside
scheduler wrote, and what the sandbox's own components wrote, is left out: the model and its controllers do
that themselves.
"""

from collections.abc import Iterator
from itertools import groupby

from msgspec.structs import replace

from simulator.api import Change, Manifest, Micros, WatchEvent
from simulator.apiserver.resources import PODS
from simulator.compare.answer import Comparison, PodDifference, PodsCompared
from simulator.compare.comparison_run import STEPS_PER_REPORT, Side
from simulator.compare.model_run import ModelRun
from simulator.compare.observer import Observer
from simulator.compare.placements import Placements
from simulator.compare.recorded_history import RecordedHistory, RecordedWrite
from simulator.compare.workload import ComparedWorkload, largest_pod
from simulator.framework.extender import Transport
from simulator.objects.conditions import condition
from simulator.objects.metadata import is_terminating
from simulator.scheduler.evict import REASON as PREEMPTION
from simulator.trace import OutsidePreempted


class OutsideComparison:
    """A comparison of a recording with the model. :meth:`run` may be stopped at any time; :meth:`result`
    returns the result so far."""

    def __init__(
        self,
        history: RecordedHistory,
        model: Side,
        duration: Micros | None = None,
        transport: Transport | None = None,
    ) -> None:
        """``duration``: the simulated time to compare at most; None = to the end of the recording. Raises
        ConfigError for an invalid configuration."""
        start = history.workload.start
        self._start = start
        self._end = history.end if duration is None else min(history.end, start + duration)
        self._since = history.since
        self._writes = [write for write in history.writes if write.time <= self._end]
        self._reference = largest_pod(_with_created(history))
        self._recorded = Observer(start, self._reference)
        self._placements = Placements()
        first = [
            WatchEvent("ADDED", change.resource, change.key, change.object or {}, number)
            for number, change in enumerate(history.workload.objects, start=1)
        ]
        self._recorded.observe(start, first, [])
        self._old: dict[tuple[str, str], Manifest] = {}
        """The objects of the recording, as of the writes that were read."""
        for event in first:
            self._placements.observe(event, start)
            self._old[event.resource, event.key] = event.object
        self._bound_before = {*self._placements.nodes}
        for write in self._writes:
            self._placements.observe(write.event, write.time)
        expected = self._placements.nodes
        self._model = ModelRun(history, model, self._reference, expected, transport)
        self._now = start
        self._complete = False

    def run(self) -> Iterator[float]:
        """Run in parts, and yield after each the share of the simulated time that is done, from 0 to 1."""
        steps = 0
        for time, writes in groupby(self._writes, key=lambda write: write.time):
            for _ in self._model.advance(time):
                steps += 1
                if steps % STEPS_PER_REPORT == 0:
                    yield self._share(time)
            for write in writes:
                self._read(write)
            self._model.take_in()
            yield self._share(time)
        for _ in self._model.advance(self._end):
            steps += 1
            if steps % STEPS_PER_REPORT == 0:
                yield self._share(self._end)
        self._now, self._complete = self._end, True
        yield 1.0

    def result(self) -> Comparison:
        """Return the result up to now."""
        return Comparison(
            start=self._start,
            end=self._now - self._start,
            complete=self._complete,
            reference=self._reference,
            a=self._recorded.outcome(self._now),
            b=self._model.observer.outcome(self._now),
            difference=None,
            pods=self._compare_pods(),
        )

    def _share(self, time: Micros) -> float:
        self._now = max(self._now, time)
        return min(0.999, (self._now - self._start) / (self._end - self._start or 1))

    def _read(self, write: RecordedWrite) -> None:
        """Show a write to side A, and give it to the model if a client wrote it."""
        event, place = write.event, (write.event.resource, write.event.key)
        old = self._old.get(place)
        preempted = event.resource == PODS.id and _is_preemption(old, event)
        if event.type == "DELETED":
            self._old.pop(place, None)
        else:
            self._old[place] = event.object
        trace = [_preemption_event(event, write.time)] if preempted else []
        self._recorded.observe(write.time, [event], trace)
        if not (write.own or preempted):
            self._model.write(old, event)

    def _compare_pods(self) -> PodsCompared:
        """Compare the nodes of the pods that a scheduler bound on either side."""
        theirs, ours = (
            {
                pod: at
                for pod, at in placements.nodes.items()
                if pod not in self._bound_before and at[1] <= self._now
            }
            for placements in (self._placements, self._model.placements)
        )
        same, first = 0, None
        both = sorted(
            {*theirs, *ours}, key=lambda pod: (pod not in theirs, (theirs.get(pod) or ours[pod])[1], pod)
        )
        for pod in both:
            (a, a_time), (b, b_time) = theirs.get(pod, ("", None)), ours.get(pod, ("", None))
            if a == b:
                same += 1
            elif first is None:
                first = PodDifference(
                    pod=self._placements.names.get(pod) or self._model.placements.names[pod],
                    a=a,
                    b=b,
                    a_time=a_time,
                    b_time=b_time,
                    decision=self._model.decisions.get(pod),
                )
        return PodsCompared(same, len(both) - same, first, self._since)


def _is_preemption(old: Manifest | None, event: WatchEvent) -> bool:
    """Whether the write begins the deletion of a victim of preemption."""
    ends = event.type == "DELETED" or is_terminating(event.object)
    if not ends or old is None or is_terminating(old):
        return False
    marked = condition(event.object, "DisruptionTarget") or {}
    return marked.get("status") == "True" and marked.get("reason") == PREEMPTION


def _preemption_event(event: WatchEvent, now: Micros) -> OutsidePreempted:
    node = event.object["spec"].get("nodeName", "")
    return OutsidePreempted(t=now, pod=event.key, node=node, scheduler="", preemptor="", grace_seconds=0)


def _with_created(history: RecordedHistory) -> ComparedWorkload:
    """Return the workload with all objects that were created later."""
    created = [
        Change(write.event.resource, write.event.key, write.event.object, 0)
        for write in history.writes
        if write.event.type == "ADDED"
    ]
    return replace(history.workload, objects=[*history.workload.objects, *created])
