"""Sets what an outside scheduler did, as a recording has it, beside the model on the same inputs.

Side A is the recording: its writes, at their times. Side B is a simulation that begins with the same objects
and is given the writes of the clients: pods and nodes that were created, changed and deleted. What an outside
scheduler wrote, and what the sandbox's own components wrote, is left out: the model and its controllers do
that themselves.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from simulator.api import ApiError, Change, Manifest, Micros, WatchEvent, bare
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.resources import PODS
from simulator.compare.answer import Comparison, PodDifference, PodsCompared
from simulator.compare.comparison_run import STEPS_PER_REPORT, Side
from simulator.compare.observer import Observer
from simulator.compare.placements import Placements
from simulator.compare.recorded_history import RecordedHistory, RecordedWrite
from simulator.compare.workload import largest_pod, pod_specs
from simulator.config.configuration import DEFAULT_SCHEDULER_NAME, MAX_PROFILES
from simulator.decision import Decision
from simulator.framework.extender import Transport
from simulator.memory import MemoryApi
from simulator.objects.conditions import condition
from simulator.objects.events import EVENTS
from simulator.objects.metadata import is_terminating
from simulator.scheduler.evict import REASON as PREEMPTION
from simulator.simulation import Options, Simulation
from simulator.trace import OutsidePreempted

LEFT_OUT: Final = (EVENTS, "leases.coordination.k8s.io")
"""Resources that are no part of the workload."""

DECISIONS_AT_MOST: Final = 100
"""Decisions that are kept for pods that the model has not bound yet."""


class OutsideComparison:
    """A comparison of a recording with the model. :meth:`run` may be stopped at any time; :meth:`result`
    returns the result so far."""

    def __init__(
        self, history: RecordedHistory, model: Side, duration: Micros, transport: Transport | None = None
    ) -> None:
        """``duration``: the simulated time to compare at most. Raises ConfigError for an invalid
        configuration."""
        start = history.workload.start
        self._start, self._end = start, min(history.end, start + duration)
        self._writes = [write for write in history.writes if write.time <= self._end]
        self._reference = largest_pod(history.workload)
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
        self._model = _ModelRun(history, model, self._reference, expected, transport)
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
        if not (write.own or preempted or event.resource in LEFT_OUT):
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
        both = sorted({*theirs, *ours}, key=lambda pod: (theirs.get(pod) or ours[pod])[1])
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
        return PodsCompared(same, len(both) - same, first)


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


def scheduler_names(history: RecordedHistory) -> list[str]:
    """The schedulerNames of the pods of a recording, and of those that its controllers create."""
    manifests = [change.object for change in history.workload.objects]
    manifests += [write.event.object for write in history.writes if write.event.type != "DELETED"]
    names = {
        spec.get("schedulerName") or DEFAULT_SCHEDULER_NAME
        for manifest in manifests
        if manifest is not None
        for spec in pod_specs(manifest)
    }
    return sorted(names)


def with_profiles(config: Manifest | None, names: Sequence[str]) -> Manifest:
    """The configuration with a copy of its first profile for each name that none of its profiles has. What
    does not fit into MAX_PROFILES is left out: nobody schedules these pods."""
    profiles = (config or {}).get("profiles") or [{}]
    known = {profile.get("schedulerName") or DEFAULT_SCHEDULER_NAME for profile in profiles}
    more = [{**profiles[0], "schedulerName": name} for name in names if name not in known]
    return {**(config or {}), "profiles": [*profiles, *more][:MAX_PROFILES]}


class _ModelRun:
    """Side B."""

    def __init__(
        self,
        history: RecordedHistory,
        side: Side,
        reference: dict[str, int],
        expected: Mapping[str, tuple[str, Micros]],
        transport: Transport | None,
    ) -> None:
        """``expected``: the placements of the recording."""
        workload = history.workload
        self._expected = expected
        self._api = MemoryApi()
        self._api.commit(workload.objects)
        options = Options(
            seed=side.seed,
            pace=workload.pace,
            config=with_profiles(side.config, scheduler_names(history)),
            first_cycle=workload.first_cycle,
            queue=side.queue,
        )
        self._simulation = Simulation(self._api, options, transport=transport)
        self.observer = Observer(workload.start, reference)
        self.placements = Placements()
        self.decisions: dict[str, Decision] = {}
        """The last decision for each pod that the model does not bind where the recording has it; the first
        DECISIONS_AT_MOST."""
        self._now = workload.start
        self.take_in()

    def advance(self, end: Micros) -> Iterator[None]:
        """Do what is due up to ``end``, and yield after each step."""
        while True:
            due = self._simulation.next_due()
            if due is None or due > end:
                break
            self._now = max(self._now, due)
            self._simulation.step(self._now)
            self.take_in()
            yield
        self._now = max(self._now, end)

    def write(self, old: Manifest | None, event: WatchEvent) -> None:
        """Make a client's write. What cannot be made on this side, such as a change of a pod that the model
        has evicted, is left out."""
        change = self._pod_change(old, event) if event.resource == PODS.id else self._change(event)
        if change is not None:
            try:
                self._api.commit([change])
            except ApiError:
                return

    def take_in(self) -> None:
        events = self._api.take_events()
        self._simulation.observe(events)
        self.observer.observe(self._now, events, self._simulation.take_trace())
        self._simulation.take_lanes()
        for event in events:
            self.placements.observe(event, self._now)
        for decision in self._simulation.take_decisions():
            manifest = self._api.get(PODS.id, decision.pod)
            if manifest is None:
                continue
            pod = self.placements.identity(decision.pod, manifest)
            if decision.selected and decision.selected == self._expected.get(pod, ("",))[0]:
                self.decisions.pop(pod, None)
            elif pod in self.decisions or len(self.decisions) < DECISIONS_AT_MOST:
                self.decisions[pod] = decision

    def _change(self, event: WatchEvent) -> Change | None:
        known = self._api.get(event.resource, event.key)
        if event.type == "DELETED":
            return Change(event.resource, event.key, None) if known is not None else None
        manifest = bare(event.object)
        if known is None:
            return Change(event.resource, event.key, manifest, 0)
        if event.resource != "nodes" and "status" in known:
            manifest = {**manifest, "status": known["status"]}  # the model's controllers write it
        return Change(event.resource, event.key, manifest)

    def _pod_change(self, old: Manifest | None, event: WatchEvent) -> Change | None:
        known = self._api.get(PODS.id, event.key)
        manifest = event.object
        if event.type == "ADDED":
            return Change(PODS.id, event.key, bare(manifest), 0) if known is None else None
        if known is None:
            return None
        if event.type == "DELETED" or (is_terminating(manifest) and (old is None or not is_terminating(old))):
            return None if is_terminating(known) else admit_delete(PODS, known, self._now)
        changed = {
            field: value
            for field, value in manifest["spec"].items()
            if field not in ("nodeName", "schedulerName")
        }
        kept = {
            field: known["spec"][field] for field in ("nodeName", "schedulerName") if field in known["spec"]
        }
        marks = {
            field: manifest["metadata"][field]
            for field in ("labels", "annotations")
            if field in manifest["metadata"]
        }
        new = {**known, "spec": changed | kept, "metadata": {**known["metadata"], **marks}}
        return Change(PODS.id, event.key, bare(new)) if new != known else None
