"""Scenarios: a file of manifests, some of them with a time at which they arrive.

The first document says what it is (``apiVersion: schedviz/v1``, ``kind: Scenario``); the others are plain
manifests. One with ``at``, and perhaps ``every`` and ``until``, goes into the scenario's Timetable, which is
one more manifest."""

from typing import Any

import msgspec

from simulator.api import Manifest, Micros
from simulator.apiserver.manifest import documents
from simulator.objects import durations
from simulator.queueing.versions import QUEUES, TODAY, QueueVersion

API_VERSION = "schedviz/v1"
TIMES = ("at", "every", "until")
DEFAULT_PACE: Micros = 400_000
"""Slow enough to watch each pod on its way."""


class ScenarioError(ValueError):
    """The file is not a scenario. One line for people."""


class Scenario(msgspec.Struct, frozen=True):
    name: str
    title: str
    summary: str
    seed: int
    pace: Micros
    config: Manifest | None
    """A KubeSchedulerConfiguration; None = the default one."""
    queue: QueueVersion
    manifests: list[Manifest]
    """What there is from the start, the Timetable last."""


def load(text: str) -> Scenario:
    """Read a scenario file. Raises ScenarioError, or ManifestError where it is not even YAML."""
    found = documents(text)
    if not found or found[0].get("kind") != "Scenario" or found[0].get("apiVersion") != API_VERSION:
        raise ScenarioError(f"the first document must be of kind Scenario, apiVersion {API_VERSION}")
    name, spec = found[0].get("metadata", {}).get("name"), found[0].get("spec", {})
    if not isinstance(name, str) or not name:
        raise ScenarioError("metadata.name: the scenario needs a name")
    seed = spec.get("seed", 0)
    if not isinstance(seed, int):
        raise ScenarioError("spec.seed: a whole number is wanted")
    queue = spec.get("queue", TODAY)
    if queue not in QUEUES:
        raise ScenarioError(f"spec.queue: one of {', '.join(QUEUES)} is wanted")
    manifests, entries = [], []
    for number, document in enumerate(found[1:], start=2):
        times = {field: document[field] for field in TIMES if field in document}
        manifest = {field: value for field, value in document.items() if field not in TIMES}
        _check_times(number, times)
        if durations.parse(times.get("at", "0")) or "every" in times:
            entries.append({"at": "0s", **times, "object": manifest})
        else:
            manifests.append(manifest)
    if entries:
        manifests.append(_timetable(name, entries))
    return Scenario(
        name=name,
        title=str(spec.get("title") or name),
        summary=str(spec.get("summary") or ""),
        seed=seed,
        pace=durations.parse(spec["pace"]) if "pace" in spec else DEFAULT_PACE,
        config=spec.get("config"),
        queue=queue,
        manifests=manifests,
    )


def _check_times(number: int, times: dict[str, Any]) -> None:
    for field, text in times.items():
        try:
            durations.parse(text)
        except ValueError as error:
            raise ScenarioError(f"document {number}, {field}: {error}") from None


def _timetable(name: str, entries: list[Manifest]) -> Manifest:
    return {
        "apiVersion": API_VERSION,
        "kind": "Timetable",
        "metadata": {"name": name},
        "spec": {"entries": entries},
    }
