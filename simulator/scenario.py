"""Scenarios: files of manifests, each of which may have a time at which the object is created.

The first document describes the scenario (``apiVersion: schedviz/v1``, ``kind: Scenario``). The others are
manifests. One with ``copies`` stands for so many objects with consecutive numbers. One with ``at``, and
optionally ``every`` and ``until``, becomes an entry of the scenario's Timetable, which is added as one more
manifest."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from simulator.api import Manifest, Micros
from simulator.apiserver.admission import MAX_COPIES
from simulator.apiserver.manifest import parse_documents
from simulator.objects import durations
from simulator.queueing.queue_version import QueueVersion, read_queue_version
from simulator.versions.feature_gates import FeatureGateError
from simulator.versions.features import DEFAULT_FEATURES, Features, read_features
from simulator.versions.kubernetes_version import UnknownVersion

API_VERSION = "schedviz/v1"
TIME_FIELDS = ("at", "every", "until")
_NUMBERED: Final = re.compile(r"(.*?)(\d{1,9})")
DEFAULT_PACE: Micros = 400_000
"""The default duration of a scheduling cycle, slow enough to watch each pod."""


class ScenarioError(ValueError):
    """The file is not a valid scenario. The message is one line for users; ``problem`` is the message without
    the place, which is a ``field`` of the ``document`` of this index."""

    def __init__(self, problem: str, field: str = "", document: int = 0) -> None:
        place = f"document {document + 1}, {field}" if document else field
        super().__init__(f"{place}: {problem}" if place else problem)
        self.problem = problem
        self.field = field
        self.document = document


class Scenario(msgspec.Struct, frozen=True):
    name: str
    title: str
    summary: str
    seed: int
    pace: Micros
    config: Manifest | None
    """A KubeSchedulerConfiguration; None = the default one."""
    queue: QueueVersion
    features: Features
    """The version of Kubernetes, with its feature gates."""
    manifests: list[Manifest]
    """The objects that exist at the start; the Timetable is the last one."""


def load_scenario(text: str) -> Scenario:
    """Parse a scenario. Raises ScenarioError, or ManifestError if the text is not YAML."""
    found = parse_documents(text)
    if not found or found[0].get("kind") != "Scenario" or found[0].get("apiVersion") != API_VERSION:
        raise ScenarioError(f"the first document must be of kind Scenario, apiVersion {API_VERSION}")
    name, spec = _mapping(found[0], "metadata").get("name"), _mapping(found[0], "spec")
    if not isinstance(name, str) or not name:
        raise ScenarioError("the scenario needs a name", "metadata.name")
    seed = spec.get("seed", 0)
    if not isinstance(seed, int):
        raise ScenarioError("must be an integer", "spec.seed")
    if not isinstance(spec.get("config"), dict | None):
        raise ScenarioError("must be of type object", "spec.config")
    with _at("spec.queue"):
        queue = read_queue_version(spec.get("queue", QueueVersion.KUBERNETES))
    with _at("spec.pace"):
        pace = durations.parse_duration(spec["pace"]) if "pace" in spec else DEFAULT_PACE
    features = _features(spec)
    manifests, entries = [], []
    documents = [
        (number, copy)
        for number, document in enumerate(found[1:], start=1)
        for copy in _copies(number, document)
    ]
    for number, document in documents:
        times = {field: document[field] for field in TIME_FIELDS if field in document}
        manifest = {field: value for field, value in document.items() if field not in TIME_FIELDS}
        _check_times(number, times)
        if durations.parse_duration(times.get("at", "0")) or "every" in times:
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
        pace=pace,
        config=spec.get("config"),
        queue=queue,
        features=features,
        manifests=manifests,
    )


def _features(spec: Manifest) -> Features:
    """Return what ``kubernetes`` and ``featureGates`` of a scenario say."""
    gates = spec.get("featureGates", {})
    if not isinstance(gates, dict) or not all(isinstance(value, bool) for value in gates.values()):
        raise ScenarioError("must be a mapping of names to true or false", "spec.featureGates")
    try:
        return read_features(str(spec.get("kubernetes", DEFAULT_FEATURES.version.patch)), gates)
    except UnknownVersion as failure:
        raise ScenarioError(str(failure), "spec.kubernetes") from None
    except FeatureGateError as failure:
        raise ScenarioError(str(failure), "spec.featureGates") from None


def _mapping(document: Manifest, field: str) -> Manifest:
    """Return a field that is a mapping; {} = it is missing. Raises ScenarioError."""
    found = document.get(field, {})
    if not isinstance(found, dict):
        raise ScenarioError("must be of type object", field)
    return found


@contextmanager
def _at(field: str, document: int = 0) -> Iterator[None]:
    """Context manager: raise a ValueError as ScenarioError of a field."""
    try:
        yield
    except ValueError as failure:
        raise ScenarioError(str(failure), field, document) from None


def _copies(number: int, document: Manifest) -> list[Manifest]:
    """Return the document, as often as ``copies`` says: ``node-5`` with two copies is ``node-5`` and
    ``node-6``."""
    if "copies" not in document:
        return [document]
    copies = document["copies"]
    if not isinstance(copies, int) or not 1 <= copies <= MAX_COPIES:
        raise ScenarioError(f"must be a number from 1 to {MAX_COPIES}", "copies", number)
    rest = {field: value for field, value in document.items() if field != "copies"}
    metadata = rest.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    named = _NUMBERED.fullmatch(str(metadata.get("name", "")))
    if named is None:
        raise ScenarioError("the name of copies must end with a number", "metadata.name", number)
    first = int(named[2])
    return [rest | {"metadata": metadata | {"name": f"{named[1]}{first + i}"}} for i in range(copies)]


def _check_times(number: int, times: dict[str, Any]) -> None:
    for field, text in times.items():
        with _at(field, number):
            durations.parse_duration(text)


def _timetable(name: str, entries: list[Manifest]) -> Manifest:
    return {
        "apiVersion": API_VERSION,
        "kind": "Timetable",
        "metadata": {"name": name},
        "spec": {"entries": entries},
    }
