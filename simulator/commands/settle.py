"""Run histories of a cluster, and print what each of their steps settles to.

Reads JSON Lines from standard input, ``{"name", "config", "steps": [{"apply": [manifest], "delete":
["Kind/namespace/name"]}]}``, and writes each as ``{"name", "steps": [{"settled": {...}}]}``. The scheduler is
the only one that acts: there are no kubelets and no controllers, evicted pods are gone at once. The clock
stands almost still within a step, so that no backoff ends there; between two steps every backoff ends."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from simulator import trace
from simulator.api import SECOND, Change, Manifest, Micros
from simulator.apiserver.resources import plural_of
from simulator.apiserver.timestamps import timestamp
from simulator.json_lines import answer_lines
from simulator.memory import MemoryApi
from simulator.objects.pod_status import condition
from simulator.simulation import Options, Simulation

START: Micros = 1_748_736_000 * SECOND
TICK: Micros = 10
"""What every write and every attempt takes, so that no two timestamps in the queue are equal."""
BETWEEN_STEPS: Micros = 30 * SECOND
"""Longer than any backoff, much shorter than the wait for the flush of unschedulable pods."""

Settled = dict[str, Any]


def add_arguments(parser: ArgumentParser) -> None:
    """There are none."""


def run(options: Namespace) -> int:
    return answer_lines(sys.stdin.buffer, sys.stdout.buffer, answer)


def answer(asked: Manifest) -> Manifest:
    history = History(asked.get("config"))
    steps = [history.step(step.get("apply") or (), step.get("delete") or ()) for step in asked["steps"]]
    return {"name": asked["name"], "steps": steps}


class StillApi(MemoryApi):
    """A pod runs as soon as it is bound; each one that the scheduler binds starts a second after the one
    before."""

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


class History:
    """One cluster, step after step."""

    def __init__(self, config: Manifest | None) -> None:
        self._api = StillApi()
        options = Options(pace=TICK, config=looking_at_all_nodes(config), controllers=False)
        self._simulation = Simulation(self._api, options)
        self._now = self._begin = START
        self._gone: set[str] = set()

    def step(self, apply: Sequence[Manifest], delete: Sequence[str]) -> Settled:
        """``{"settled"}`` after these writes, of which the scheduler has seen all before its first
        attempt."""
        self._now = self._begin
        for manifest in apply:
            self._write(self._applied(manifest))
        for target in delete:
            kind, namespace, name = target.split("/")
            self._write(Change(resource_of(kind), f"{namespace}/{name}" if namespace else name, None))
        events = self._settle()
        self._begin += BETWEEN_STEPS
        return {"settled": self._state(events)}

    def _applied(self, manifest: Manifest) -> Change:
        """Create, or replace what the user states; what the server keeps stays."""
        metadata = manifest["metadata"]
        resource = resource_of(manifest["kind"])
        key = "/".join(part for part in (metadata.get("namespace"), metadata["name"]) if part)
        old = self._api.get(resource, key)
        if old is None:
            return Change(resource, key, manifest, expected=0)
        kept = {f: old["metadata"][f] for f in ("uid", "creationTimestamp") if f in old["metadata"]}
        new = {**manifest, "metadata": {**metadata, **kept}}
        if resource == "pods":
            new["spec"] = {**manifest["spec"], "nodeName": old["spec"].get("nodeName") or ""}
            new["status"] = old.get("status") or {}
        return Change(resource, key, new)

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
        nominated = [event for event in events if isinstance(event, trace.Nominated)]
        self._gone.update(event.pod for event in events if isinstance(event, trace.VictimDeleted))
        pods = self._api.objects.get("pods", {})
        bound = {key: pod["spec"]["nodeName"] for key, pod in pods.items() if pod["spec"].get("nodeName")}
        return {
            "bound": bound,
            "pending": {key: pending(pod) for key, pod in pods.items() if key not in bound},
            "gone": sorted(self._gone),
            "preemptions": [
                {"preemptor": event.pod, "node": event.node, "victims": sorted(event.victims)}
                for event in nominated
            ],
            "bindOrder": [event.pod for event in events if isinstance(event, trace.Bound)],
            "attempts": [event.pod for event in events if isinstance(event, trace.CycleStarted)],
        }


def pending(pod: Manifest) -> Manifest:
    scheduled = condition(pod, "PodScheduled") or {}
    return {
        "message": scheduled.get("message", ""),
        "nominatedNodeName": (pod.get("status") or {}).get("nominatedNodeName", ""),
    }


def resource_of(kind: str) -> str:
    groups = {"PodDisruptionBudget": ".policy"}
    return plural_of(kind) + groups.get(kind, "")


def looking_at_all_nodes(config: Manifest | None) -> Manifest | None:
    """The configuration with percentageOfNodesToScore 100 in all profiles."""
    if config is None:
        return None
    profiles = [{**p, "percentageOfNodesToScore": 100} for p in config.get("profiles") or ()]
    return {**config, "percentageOfNodesToScore": 100, **({"profiles": profiles} if profiles else {})}
