"""What a lesson's cluster is like when a step begins: the solutions of the steps before it, played on the
simulator."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import msgspec

from schedviz.lessons.lesson import Action, Lesson
from schedviz.lessons.offline import NotReached, OfflineSandbox
from schedviz.lessons.situation import KINDS, OBJECTS, Situation
from simulator.api import Manifest
from simulator.apiserver.status import StatusError

STEPS_AT_MOST: Final = 20_000
"""The maximum number of steps of the Simulation in which the solutions of a lesson are played: some seconds.
The bundled lessons need at most a few hundred."""
LESSONS_HELD: Final = 64
"""Maximum number of lessons whose beginnings a process holds: some KB each."""
_FIELDS: Final = ("value", "preemptionPolicy", "globalDefault")


class Beginning(msgspec.Struct, frozen=True):
    """The cluster at the beginning of a step, by the names and variables of conditions."""

    names: Mapping[str, frozenset[str]]
    """Variable -> names of its objects, without those that are being deleted."""
    bound: frozenset[str]
    """The pods that have a node."""
    forms: Mapping[tuple[str, str], frozenset[str]]
    """Variable and name -> the forms (:func:`form_of`) that the object had at the beginning of this step and
    of those before it."""
    configurations: frozenset[str]
    """The scheduler's configurations (:attr:`Situation.configuration`) at these times."""
    known: Mapping[str, frozenset[str]]
    """Variable -> names of the objects that the cluster of the lesson has, or any solution creates."""
    created: Mapping[tuple[str, str], Manifest]
    """Variable and name -> the objects that the solution of the step creates, as they are stored; only what
    :func:`reduce` keeps."""


def reduce(variable: str, manifest: Manifest) -> Manifest:
    """Return what the scheduler reads of an object; not what it, the controllers and the kubelets write."""
    spec = {key: value for key, value in manifest.get("spec", {}).items() if key != "nodeName"}
    found = {"spec": spec, "labels": manifest["metadata"].get("labels", {})}
    if variable == "nodes":
        found["allocatable"] = manifest.get("status", {}).get("allocatable")
    return found | {field: manifest[field] for field in _FIELDS if field in manifest}


def form_of(variable: str, manifest: Manifest) -> str:
    """Return what :func:`reduce` keeps, as text."""
    return msgspec.json.encode(reduce(variable, manifest), order="deterministic").decode()


class StepCounter:
    """Counts the steps of the Simulation: to be called after each. Raises NotReached after too many."""

    def __init__(self) -> None:
        self._left = STEPS_AT_MOST

    def __call__(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise NotReached("the solutions of the lesson take too many steps")


@lru_cache(maxsize=LESSONS_HELD)
def beginnings(lesson: Lesson) -> list[Beginning]:
    """Return the beginnings of a lesson's steps, before the first whose solution cannot be played."""
    found: list[Beginning] = []
    played, count = OfflineSandbox(lesson), StepCounter()
    forms: dict[tuple[str, str], set[str]] = {}
    configurations: set[str] = set()
    known = _known(lesson, played)
    for step in lesson.steps:
        now = Situation(played, {})
        for variable in OBJECTS:
            for name, manifest in now.objects(variable).items():
                forms.setdefault((variable, name), set()).add(form_of(variable, manifest))
        configurations.add(now.configuration)
        names = {variable: _names(now.objects(variable)) for variable in OBJECTS}
        bound = frozenset(now.bound)
        created: dict[tuple[str, str], Manifest] = {}
        known_forms = {place: frozenset(each) for place, each in forms.items()}
        try:
            for action in step.solution:
                played.play(action, count)
                created |= _created(played, action)
        except (StatusError, NotReached):
            return found
        found.append(Beginning(names, bound, known_forms, frozenset(configurations), known, created))
    return found


def _names(objects: Mapping[str, Manifest]) -> frozenset[str]:
    return frozenset(name for name, each in objects.items() if "deletionTimestamp" not in each["metadata"])


def _created(played: OfflineSandbox, action: Action) -> dict[tuple[str, str], Manifest]:
    """Return the object that an action creates, reduced."""
    name = (action.create or {}).get("metadata", {}).get("name")
    variable = next((each for each, kind in KINDS.items() if kind == (action.create or {}).get("kind")), "")
    if not name or not variable:
        return {}
    manifest = Situation(played, {}).objects(variable).get(name)
    return {(variable, name): reduce(variable, manifest)} if manifest else {}


def _known(lesson: Lesson, played: OfflineSandbox) -> dict[str, frozenset[str]]:
    created = [
        action.create.get("metadata", {}).get("name", "")
        for step in lesson.steps
        for action in step.solution
        if action.create is not None
    ]
    first = Situation(played, {})
    return {variable: frozenset([*first.objects(variable), *created]) for variable in OBJECTS}


def find_beginning(lesson: Lesson, step: int) -> Beginning | None:
    """Return the beginning of a step; None = its solution, or one before it, cannot be played."""
    known = beginnings(lesson)
    return known[step] if step < len(known) else None
