"""Reads the prepared cluster of a lesson, which is a scenario."""

from pathlib import Path
from typing import Final

from schedviz.lessons.conditions import OBJECTS_AT_MOST
from schedviz.lessons.mistakes import Mistake, YamlFile
from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.manifest import ManifestError, parse_documents
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.status import StatusError
from simulator.config import ConfigError
from simulator.plugins.registry import load, profiles
from simulator.scenario import TIME_FIELDS, Scenario, ScenarioError, load_scenario

START: Final[Micros] = 1_735_689_600 * SECOND
"""Simulated time at which a lesson is played without a server, as in ``python -m simulator run``."""


def read_cluster(path: Path, text: str) -> tuple[Scenario | None, list[Mistake]]:
    """Return the scenario, None if it has mistakes; and the mistakes."""
    file = YamlFile(path, text)
    try:
        scenario = load_scenario(text)
    except ManifestError as error:
        file.add_syntax_error(error)
        return None, file.mistakes
    except ScenarioError as error:
        file.add(error.field, error.problem, error.document)
        return None, file.mistakes
    documents = parse_documents(text)
    if len(scenario.manifests) > OBJECTS_AT_MOST:
        file.add("", f"has {len(scenario.manifests)} objects; at most {OBJECTS_AT_MOST} are allowed")
    try:
        new_cluster(scenario.manifests, START, scenario.features)
    except StatusError as error:
        number = _document(documents, scenario.manifests[error.document or 0])
        for cause in error.causes:
            file.add(cause.field, cause.message, number)
        if not error.causes:
            file.add("kind", error.message, number)
    try:
        profiles(load(scenario.config, features=scenario.features))
    except ConfigError as error:
        for field, message in error.causes:
            file.add(f"spec.config.{field}", message)
    return (None if file.mistakes else scenario), file.mistakes


def _document(documents: list[Manifest], manifest: Manifest) -> int:
    """Return the index of the document with a manifest; 0 for the Timetable, which has entries of several."""
    for number, document in enumerate(documents):
        if {field: value for field, value in document.items() if field not in TIME_FIELDS} == manifest:
            return number
    return 0
