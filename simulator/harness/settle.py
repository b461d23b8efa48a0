"""Run histories of a cluster, and print the stable state after each step.

Reads histories as JSON Lines from standard input, ``{"name", "kubernetes", "featureGates", "config",
"steps": [{"apply": [manifest], "delete": ["Kind/namespace/name"]}]}``, and writes for each
``{"name", "steps": [{"settled": {...}}]}``. Only the scheduler runs, without kubelets and controllers;
evicted pods are deleted immediately. Within a step hardly any time passes, so that no backoff ends; between
two steps every backoff ends."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from simulator import trace
from simulator.api import SECOND, Change, Manifest, Micros
from simulator.apiserver.resources import BUILT_IN, GATED
from simulator.apiserver.server import ApiServer
from simulator.client.event_recorder import PREEMPTED, Note
from simulator.command_line.json_lines import answer_lines
from simulator.memory import MemoryStorage
from simulator.objects.conditions import condition
from simulator.objects.metadata import key_of, object_key
from simulator.objects.pod_group import POD_GROUPS
from simulator.objects.timestamps import timestamp
from simulator.queueing.scheduling_queue import SchedulingQueue
from simulator.simulation import Options, Simulation
from simulator.versions.feature_gates import GENERIC_WORKLOAD
from simulator.versions.features import UNSTATED_FEATURES, Features, read_features

START: Micros = 1_748_736_000 * SECOND
TICK: Micros = 10
"""The duration of every write and every attempt, so that no two timestamps in the queue are equal."""
BETWEEN_STEPS: Micros = 30 * SECOND
"""The simulated time between two steps. It is longer than any backoff, and much shorter than the wait for the
flush of unschedulable pods."""

_ID_OF_KIND: Final = {resource.kind: resource.id for resource in (*BUILT_IN, *GATED)}

Settled = dict[str, Any]


def add_arguments(parser: ArgumentParser) -> None:
    """Add no arguments."""


def run(options: Namespace) -> int:
    return answer_lines(sys.stdin.buffer, sys.stdout.buffer, run_history)


def run_history(given: Manifest) -> Manifest:
    kubernetes, gates = (
        given.get("kubernetes", UNSTATED_FEATURES.version.patch),
        given.get("featureGates") or {},
    )
    history = SettledHistory(given.get("config"), read_features(kubernetes, gates))
    steps = [history.step(step.get("apply") or (), step.get("delete") or ()) for step in given["steps"]]
    return {"name": given["name"], "steps": steps}


class RunningPodsApi(MemoryStorage):
    """An API server without kubelets: a pod is Running as soon as it is bound. Each bound pod has a startTime
    one second after the previous one's."""

    def __init__(self) -> None:
        super().__init__()
        self._bound = 0

    def commit(self, changes: Sequence[Change]) -> list[int]:
        return super().commit([self._running(change) for change in changes])

    def _running(self, change: Change) -> Change:
        old = self.get(change.resource, change.key)
        pod = change.object
        if change.resource != "pods" or old is None or pod is None:
            return change
        if old["spec"].get("nodeName") or not pod["spec"].get("nodeName"):
            return change
        status = {**pod["status"], "phase": "Running", "startTime": timestamp(START + self._bound * SECOND)}
        self._bound += 1
        return Change(change.resource, change.key, {**pod, "status": status}, change.expected)


class SettledHistory:
    """The cluster of one history."""

    def __init__(
        self,
        config: Manifest | None,
        features: Features = UNSTATED_FEATURES,
    ) -> None:
        self._api = RunningPodsApi()
        options = Options(
            pace=TICK,
            config=with_all_nodes_filtered(config),
            kubernetes=features.version.patch,
            feature_gates=features.gates,
            controllers=False,
        )
        self._simulation = Simulation(self._api, ApiServer, options)
        self._simulation.make_no_decisions()
        self._notes: list[Note] = []
        self._simulation.before_events(self._notes.append)
        self._now = self._begin = START
        self._with_pod_groups = features.enabled(GENERIC_WORKLOAD)
        self._gone: set[str] = set()

    def step(self, apply: Sequence[Manifest], delete: Sequence[str]) -> Settled:
        """Write the changes, run the scheduler until nothing more is due, and return ``{"settled"}``. The
        scheduler receives all changes before its first attempt."""
        self._now = self._begin
        if self._with_pod_groups:
            self._simulation.complete_backoffs(self._now)
        for manifest in apply:
            self._write(self._applied(manifest))
        for target in delete:
            kind, namespace, name = target.split("/")
            resource, key = resource_id_of_kind(kind), object_key(namespace, name)
            if self._api.get(resource, key) is not None:  # it may have been evicted
                self._write(ApiServer.remove_at_any_version(resource, key))
        events = self._settle()
        self._begin += BETWEEN_STEPS
        return {"settled": self._state(events)}

    def _applied(self, manifest: Manifest) -> Change:
        """Return the change that creates or replaces an object. Fields that the API server or the scheduler
        sets are kept."""
        metadata = manifest["metadata"]
        resource = resource_id_of_kind(manifest["kind"])
        old = self._api.get(resource, key_of(manifest))
        if old is None:
            return ApiServer.create_by_component(resource, manifest)
        kept = {f: old["metadata"][f] for f in ("uid", "creationTimestamp") if f in old["metadata"]}
        new = {**manifest, "metadata": {**metadata, **kept}}
        if resource == "pods":
            new["spec"] = {**manifest["spec"], "nodeName": old["spec"].get("nodeName") or ""}
        if resource in ("pods", POD_GROUPS):
            new["status"] = old.get("status") or {}
        return ApiServer.patch_by_component(resource, new)

    def _write(self, change: Change) -> None:
        self._now += TICK
        self._api.commit([change])
        self._simulation.observe(self._api.take_events())
        self._simulation.step(self._now)

    def _settle(self) -> list[trace.Event]:
        self._now += TICK
        simulation = self._simulation
        while True:
            while simulation.step(self._now):
                simulation.observe(self._api.take_events())
            due = simulation.next_due()
            if due is None or due >= self._begin + SECOND:
                return simulation.take_trace()
            self._now = due

    def _state(self, events: list[trace.Event]) -> Settled:
        self._gone.update(event.pod for event in events if isinstance(event, trace.VictimDeleted))
        pods = self._api.objects.get("pods", {})
        bound = {key: pod["spec"]["nodeName"] for key, pod in pods.items() if pod["spec"].get("nodeName")}
        return {
            "bound": bound,
            "pending": {key: pending_state(pod) for key, pod in pods.items() if key not in bound},
            "gone": sorted(self._gone),
            "preemptions": [*_preemptions(events)],
            "bindOrder": [event.pod for event in events if isinstance(event, trace.Bound)],
            "attempts": [*_attempts(events)],
            **(self._state_of_groups(events) if self._with_pod_groups else {}),
        }

    def _state_of_groups(self, events: list[trace.Event]) -> Settled:
        groups, notes = self._api.objects.get(POD_GROUPS, {}), [*self._notes]
        self._notes.clear()
        found = {
            "podGroups": {key: [*_conditions(group)] for key, group in groups.items()},
            "groupAttempts": [*group_attempts(events)],
            "events": [*_events(notes)],
        }
        return {name: value for name, value in found.items() if value} | {
            "queue": _queue(self._simulation.queue)
        }


def _attempts(events: Iterable[trace.Event]) -> Iterator[str]:
    """Yield the pod that was popped of each cycle."""
    members: set[int] = set()
    for event in events:
        if isinstance(event, trace.PodGroupCycleStarted):
            members.update(range(event.cycle + 1, event.cycle + 1 + event.size))
            yield event.popped
        elif isinstance(event, trace.CycleStarted) and event.cycle not in members:
            yield event.pod


def _preemptions(events: Iterable[trace.Event]) -> Iterator[Manifest]:
    for event in events:
        if isinstance(event, trace.Nominated):
            yield {"preemptor": event.pod, "node": event.node, "victims": sorted(event.victims)}
        elif isinstance(event, trace.PodGroupPreempted) and event.victims:
            preemptor = f"PodGroup/{event.group}"
            yield {"preemptor": preemptor, "node": "cluster", "victims": sorted(event.victims)}


def _events(notes: Iterable[Note]) -> Iterator[str]:
    """Yield ``Reason namespace/name: message`` of each Event, the runs of Preempted sorted."""
    for preempted, run in groupby(notes, key=lambda note: note.occasion is PREEMPTED):
        texts = [f"{note.occasion.reason} {note.regarding.key}: {note.text}" for note in run]
        yield from sorted(texts) if preempted else texts


def group_attempts(events: Iterable[trace.Event]) -> Iterator[Manifest]:
    """Yield an entry for each cycle of a pod group: its pods, where each was placed in the first pass or in
    each placement, and what was bound."""
    found: Manifest = {}
    passes: list[trace.PodGroupTried] = []
    for event in events:
        match event:
            case trace.PodGroupCycleStarted():
                others = sorted(pod for pod in event.pods if pod != event.popped)
                found, passes = {"podGroup": event.group, "pods": [event.popped, *others]}, []
            case trace.PodGroupTried():
                passes.append(event)
            case trace.PodGroupCycleEnded():
                if any(each.placement for each in passes):
                    found["placements"] = {each.placement: _results(each) for each in passes}
                elif passes:
                    found["results"] = _results(passes[0])
                if event.bound and event.placement:
                    found["placement"] = event.placement
                yield {**found, "passes": event.passes, "bound": event.bound}


def _results(tried: trace.PodGroupTried) -> list[Manifest]:
    return [
        {"pod": member.pod, "node": "" if member.outcome == "preempts" else member.node}
        for member in tried.members
    ]


def _conditions(group: Manifest) -> Iterator[Manifest]:
    for found in (group.get("status") or {}).get("conditions") or ():
        yield {field: found.get(field, "") for field in ("type", "status", "reason", "message")}


def _queue(queue: SchedulingQueue) -> Manifest:
    """Return the places of all waiting pods."""
    waiting = queue.unschedulable_pods.values()
    return {
        "active": sorted(info.pod.key for info in queue.active_q),
        "backoff": sorted(info.pod.key for info in queue.backoff_q.rejected),
        "errorBackoff": sorted(info.pod.key for info in queue.backoff_q.errors),
        "unschedulable": sorted(info.pod.key for info in waiting if not info.gated),
        "gated": sorted(info.pod.key for info in waiting if info.gated),
    }


def pending_state(pod: Manifest) -> Manifest:
    scheduled = condition(pod, "PodScheduled") or {}
    return {
        "message": scheduled.get("message", ""),
        "nominatedNodeName": (pod.get("status") or {}).get("nominatedNodeName", ""),
    }


def resource_id_of_kind(kind: str) -> str:
    """Return the id of the built-in resource of a kind. Raises ValueError for an unknown kind."""
    if kind not in _ID_OF_KIND:
        raise ValueError(f"{kind}: unknown kind")
    return _ID_OF_KIND[kind]


def with_all_nodes_filtered(config: Manifest | None) -> Manifest | None:
    """Return the configuration with percentageOfNodesToScore 100 in all profiles."""
    if config is None:
        return None
    profiles = [{**p, "percentageOfNodesToScore": 100} for p in config.get("profiles") or ()]
    return {**config, "percentageOfNodesToScore": 100, **({"profiles": profiles} if profiles else {})}
