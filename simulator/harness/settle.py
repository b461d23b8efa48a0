"""Run histories of a cluster, and print the stable state after each step.

Reads histories as JSON Lines from standard input, ``{"name", "kubernetes", "featureGates", "config",
"steps": [{"apply": [manifest], "delete": ["Kind/namespace/name"]}]}``, and writes for each
``{"name", "steps": [{"settled": {...}}]}``. Only the scheduler runs, without kubelets and controllers;
evicted pods are deleted immediately. Within a step hardly any time passes, so that no backoff ends; between
two steps every backoff ends."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from simulator import trace
from simulator.api import SECOND, Change, Manifest, Micros
from simulator.apiserver.resource import plural_of
from simulator.apiserver.server import ApiServer
from simulator.command_line.json_lines import answer_lines
from simulator.memory import MemoryStorage
from simulator.objects.conditions import condition
from simulator.objects.metadata import key_of, object_key
from simulator.objects.timestamps import timestamp
from simulator.simulation import Options, Simulation
from simulator.versions.features import UNSTATED_FEATURES, Features, read_features

START: Micros = 1_748_736_000 * SECOND
TICK: Micros = 10
"""The duration of every write and every attempt, so that no two timestamps in the queue are equal."""
BETWEEN_STEPS: Micros = 30 * SECOND
"""The simulated time between two steps. It is longer than any backoff, and much shorter than the wait for the
flush of unschedulable pods."""

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
        self._now = self._begin = START
        self._gone: set[str] = set()

    def step(self, apply: Sequence[Manifest], delete: Sequence[str]) -> Settled:
        """Write the changes, run the scheduler until nothing more is due, and return ``{"settled"}``. The
        scheduler receives all changes before its first attempt."""
        self._now = self._begin
        for manifest in apply:
            self._write(self._applied(manifest))
        for target in delete:
            kind, namespace, name = target.split("/")
            key = object_key(namespace, name)
            self._write(ApiServer.remove_at_any_version(resource_id_of_kind(kind), key))
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
        nominated = [event for event in events if isinstance(event, trace.Nominated)]
        self._gone.update(event.pod for event in events if isinstance(event, trace.VictimDeleted))
        pods = self._api.objects.get("pods", {})
        bound = {key: pod["spec"]["nodeName"] for key, pod in pods.items() if pod["spec"].get("nodeName")}
        return {
            "bound": bound,
            "pending": {key: pending_state(pod) for key, pod in pods.items() if key not in bound},
            "gone": sorted(self._gone),
            "preemptions": [
                {"preemptor": event.pod, "node": event.node, "victims": sorted(event.victims)}
                for event in nominated
            ],
            "bindOrder": [event.pod for event in events if isinstance(event, trace.Bound)],
            "attempts": [event.pod for event in events if isinstance(event, trace.CycleStarted)],
        }


def pending_state(pod: Manifest) -> Manifest:
    scheduled = condition(pod, "PodScheduled") or {}
    return {
        "message": scheduled.get("message", ""),
        "nominatedNodeName": (pod.get("status") or {}).get("nominatedNodeName", ""),
    }


def resource_id_of_kind(kind: str) -> str:
    groups = {"PodDisruptionBudget": ".policy"}
    return plural_of(kind) + groups.get(kind, "")


def with_all_nodes_filtered(config: Manifest | None) -> Manifest | None:
    """Return the configuration with percentageOfNodesToScore 100 in all profiles."""
    if config is None:
        return None
    profiles = [{**p, "percentageOfNodesToScore": 100} for p in config.get("profiles") or ()]
    return {**config, "percentageOfNodesToScore": 100, **({"profiles": profiles} if profiles else {})}
