"""Checks the actions of a lesson: their fields, and their manifests against the schemas of the API."""

import re
from typing import Final

from schedviz.lessons.lesson import Action, LessonQuestion, Run
from schedviz.lessons.mistakes import YamlFile
from simulator.api import Change, Manifest
from simulator.apiserver import decoding
from simulator.apiserver.admission import resource_of
from simulator.apiserver.overlay import CreatedObjects
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import BUILT_IN
from simulator.apiserver.served_features import serving
from simulator.apiserver.status import BadRequest
from simulator.config import ConfigError
from simulator.plugins.registry import load, profiles
from simulator.scenario import Scenario

FIELDS: Final = ("create", "apply", "delete", "scheduler", "guess", "run")
RUN_SECONDS_AT_MOST: Final = 3_600.0
_UNTIL: Final = re.compile(r"idle|bound [a-z0-9]([-a-z0-9./]*[a-z0-9])?")
_DELETE: Final = re.compile(r"([a-z][a-z0-9.-]*)/((?:[a-z0-9.-]+/)?[a-z0-9.-]+)")


class ActionRules:
    """The rules, with the kinds that the lesson's cluster defines."""

    def __init__(self, file: YamlFile, cluster: Scenario) -> None:
        self._file = file
        self._features = cluster.features
        self._cluster = CreatedObjects(
            Change("customresourcedefinitions.apiextensions.k8s.io", str(number), manifest)
            for number, manifest in enumerate(cluster.manifests)
            if manifest.get("kind") == "CustomResourceDefinition"
        )

    def check(self, path: str, actions: list[Action], question: LessonQuestion | None) -> None:
        """Add the mistakes of the actions at a path."""
        for index, action in enumerate(actions):
            self._check(f"{path}[{index}]", action, question)

    def _check(self, path: str, action: Action, question: LessonQuestion | None) -> None:
        given = [field for field in FIELDS if getattr(action, field) not in (None, "")]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            self._file.add(path, f"an action has one of {', '.join(FIELDS)}, not {found}")
            return
        if action.create is not None:
            self._manifest(f"{path}.create", action.create, partial=False)
        elif action.apply is not None:
            self._manifest(f"{path}.apply", action.apply, partial=True)
        elif action.delete:
            self._delete(f"{path}.delete", action.delete)
        elif action.scheduler is not None:
            self._scheduler(f"{path}.scheduler", action.scheduler)
        elif action.guess is not None:
            self._guess(f"{path}.guess", action.guess, question)
        elif action.run is not None:
            self._run(f"{path}.run", action.run)

    def _manifest(self, path: str, manifest: Manifest, *, partial: bool) -> None:
        try:
            resource = resource_of(manifest, self._cluster)
        except BadRequest as error:
            self._file.add(f"{path}.kind", error.message)
            return
        with serving(self._features):
            causes = decoding.decode(resource, manifest)[1]
        for cause in causes:
            if not (partial and cause.reason == "FieldValueRequired"):
                self._file.add(f"{path}.{cause.field}", cause.message)
        metadata = manifest.get("metadata")
        if partial and not (isinstance(metadata, dict) and metadata.get("name")):
            self._file.add(f"{path}.metadata", "name is missing")

    def _delete(self, path: str, text: str) -> None:
        found = _DELETE.fullmatch(text)
        if found is None:
            self._file.add(path, f"must be RESOURCE/NAME or RESOURCE/NAMESPACE/NAME, not {text!r}")
        elif find_resource(found[1]) is None:
            self._file.add(path, f"there is no resource {found[1]!r}")

    def _scheduler(self, path: str, configuration: Manifest) -> None:
        try:
            profiles(load(configuration, features=self._features))
        except ConfigError as error:
            for field, message in error.causes:
                self._file.add(f"{path}.{field}", message)

    def _guess(self, path: str, picks: list[str], question: LessonQuestion | None) -> None:
        if question is None:
            self._file.add(path, "the step has no question")
            return
        for index, pick in enumerate(picks):
            if pick not in question.choices:
                self._file.add(f"{path}[{index}]", f"{pick!r} is not one of the choices")
        if not picks or (len(picks) > 1 and not question.many):
            self._file.add(path, "must be one choice, as learners choose one")

    def _run(self, path: str, run: Run) -> None:
        if run.until and not _UNTIL.fullmatch(run.until):
            self._file.add(f"{path}.until", f"must be idle or bound POD, not {run.until!r}")
        if not 0 < run.seconds <= RUN_SECONDS_AT_MOST:
            self._file.add(f"{path}.seconds", f"must be more than 0, and at most {RUN_SECONDS_AT_MOST:g}")


def find_resource(name: str) -> Resource | None:
    """Return the built-in resource with a plural, with or without its group: ``jobs``, ``jobs.batch``."""
    return next((each for each in BUILT_IN if name in (each.plural, each.id)), None)


def split_target(target: str) -> tuple[Resource, str]:
    """Return the resource of ``pods/web`` or ``pods/NAMESPACE/NAME``, and the key of the object."""
    plural, _, name = target.partition("/")
    resource = find_resource(plural)
    assert resource is not None  # it was checked when the lesson was read
    namespace, _, name = name.rpartition("/")
    return resource, resource.key(namespace or "default", name)
