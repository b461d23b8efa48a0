"""Hints that hold in any lesson: a name that is not the right one, time that has to go on, and what differs
from the beginning of the step. A lesson's own hints come before them, but for a wrong name."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from schedviz.lessons.beginnings import Beginning, form_of, reduce
from schedviz.lessons.lesson import Action, Step, StepCheck
from schedviz.lessons.situation import KINDS, OBJECTS, Situation
from simulator.kernel.prepared_types import prepared

What = Literal[
    "misnamed",  # the object that the step asks for was created under another name
    "absent",  # the object that the step asks for does not exist
    "differs",  # it exists, and is not as the solution creates it
    "waiting",  # time is paused, and pods wait to be tried or to terminate
    "missing",  # an object that exists at the beginning of the step was deleted
    "changed",  # an object is in no form that it has in the lesson so far
    "bound",  # a pod has a node that has none at the beginning of the step
    "unbound",  # a pod has no node that has one at the beginning of the step
    "scheduler",  # the scheduler has a configuration that it never has in the lesson so far
    "extra",  # the learner created an object that no step asks for
    "lost",  # none of these, nor a hint of the lesson
]
RESTART: Final[tuple[What, ...]] = ("missing", "changed", "bound", "unbound", "scheduler", "extra", "lost")
"""The hints with which the page offers to restart the step."""
_QUOTED: Final = re.compile(r"'([^']*)'")
_MARK: Final = ":"


class GeneralHint(msgspec.Struct, frozen=True, array_like=True):
    what: What
    variable: str = ""
    """The kind of the object, as the variable of conditions that has it: ``pods``."""
    name: str = ""
    wanted: str = ""
    """Of ``misnamed``, the right name; of ``differs``, the field."""

    def write(self) -> str:
        """Return it as text, which is the name of no hint of a lesson."""
        return _MARK + _MARK.join((self.what, self.variable, self.name, self.wanted))

    @classmethod
    def read(cls, text: str) -> "GeneralHint | None":
        """Return the hint that :meth:`write` wrote; None = it is the name of a lesson's hint."""
        if not text.startswith(_MARK):
            return None
        return msgspec.convert(text.split(_MARK)[1:], prepared(cls))


def find_misnamed(
    check: StepCheck, situation: Situation, beginning: Beginning, others: Sequence[str]
) -> GeneralHint | None:
    """Return the hint for an object that the solution creates and the check names, if there is none of this
    name and the learner has created another one of its kind, which is none of the ``others``."""
    for variable, name in _absent(check, situation, beginning):
        for other in _created(variable, situation, beginning):
            if f"{variable}/{other}" not in others:
                return GeneralHint("misnamed", variable, other, name)
    return None


def find_absent(check: StepCheck, situation: Situation, beginning: Beginning) -> GeneralHint | None:
    """Return the hint for an object that the solution creates and the check names, if there is none."""
    found = next(_absent(check, situation, beginning), None)
    return GeneralHint("absent", *found) if found else None


def _absent(check: StepCheck, situation: Situation, beginning: Beginning) -> Iterator[tuple[str, str]]:
    named = set(_QUOTED.findall(check.expect))
    for variable, name in beginning.created:
        if name in named and name not in situation.objects(variable):
            yield variable, name


def find_differing(check: StepCheck, situation: Situation, beginning: Beginning) -> GeneralHint | None:
    """Return the hint for an object that the solution creates and the check names, and that exists with
    another field."""
    named = set(_QUOTED.findall(check.expect))
    for (variable, name), wanted in beginning.created.items():
        manifest = situation.objects(variable).get(name)
        if name in named and manifest:
            field = _find_field(reduce(variable, manifest), wanted)
            if field:
                return GeneralHint("differs", variable, name, field)
    return None


def _find_field(found: object, wanted: object, path: str = "") -> str:
    """Return the path of the first field with another value; "" = there is none."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in sorted({*found, *wanted}):
            place = _find_field(found.get(key), wanted.get(key), f"{path}.{key}" if path else key)
            if place:
                return place
        return ""
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        pairs = enumerate(zip(found, wanted, strict=True))
        return next((place for n, (a, b) in pairs if (place := _find_field(a, b, f"{path}[{n}]"))), "")
    return "" if found == wanted else path


def find_obstacle(step: Step, situation: Situation, beginning: Beginning) -> GeneralHint | None:
    """Return the first difference from the beginning of the step that neither its solution nor a preemption
    causes: the learner changed something else."""
    applied = {_target(action) for action in step.solution if action.apply is not None}
    deleted = {action.delete.partition("/")[0] for action in step.solution}
    victims = {victim["pod"] for victim in situation.evicted}
    for found in _differences(step, situation, beginning):
        if found.what == "missing" and found.variable not in deleted and found.name not in victims:
            return found
        if found.what == "changed" and (found.variable, found.name) not in applied:
            return found
        if found.what == "scheduler" and all(action.scheduler is None for action in step.solution):
            return found
    return None


def find_shortfall(step: Step, situation: Situation, beginning: Beginning) -> GeneralHint | None:
    """Return the first difference from the beginning of a step that has just been reached, of an object that
    the step names: the steps before it were skipped, or done in another way."""
    named = _names_of(step)
    return next((each for each in _differences(step, situation, beginning) if each.name in named), None)


def find_any_difference(step: Step, situation: Situation, beginning: Beginning) -> GeneralHint | None:
    """Return the first difference from the beginning of the step of all; an object that only the learner
    created comes last."""
    others = names_of_others(situation, beginning)
    extra = [GeneralHint("extra", *other.split("/", 1)) for other in others]
    return next(iter([*_differences(step, situation, beginning), *extra]), None)


def names_of_others(situation: Situation, beginning: Beginning) -> list[str]:
    """Return the objects that the learner has created and no solution does, as ``VARIABLE/NAME``."""
    return [f"{variable}/{name}" for variable in OBJECTS for name in _created(variable, situation, beginning)]


def _names_of(step: Step) -> set[str]:
    """Return the names that the conditions of the step's checks have, those in its solution, and "", which
    stands for the scheduler."""
    texts = [each.expect for each in step.checks]
    texts += [hint.when for check in step.checks for hint in check.hints]
    found = {name for text in texts for name in _QUOTED.findall(text)}
    for action in step.solution:
        found.add(action.delete.rpartition("/")[2])
        found.add(_target(action)[1])
    return found | {""}


def _differences(step: Step, situation: Situation, beginning: Beginning) -> Iterator[GeneralHint]:
    """Yield what differs from the beginning of the step, without what the solution deletes."""
    done = {action.delete for action in step.solution}
    for variable in OBJECTS:
        objects = situation.objects(variable)
        for name in sorted(beginning.names[variable]):
            if f"{variable}/{name}" in done:
                continue
            if name not in objects or "deletionTimestamp" in objects[name]["metadata"]:
                yield GeneralHint("missing", variable, name)
            elif form_of(variable, objects[name]) not in beginning.forms[variable, name]:
                yield GeneralHint("changed", variable, name)
    if situation.configuration not in beginning.configurations:
        yield GeneralHint("scheduler")
    for name in sorted(beginning.names["pods"]):
        if name in situation.objects("pods") and (name in situation.bound) != (name in beginning.bound):
            yield GeneralHint("bound" if name in situation.bound else "unbound", "pods", name)


def _target(action: Action) -> tuple[str, str]:
    """Return the variable and the name of the object that an action changes."""
    manifest = action.apply or {}
    variable = next((each for each, kind in KINDS.items() if kind == manifest.get("kind")), "")
    return variable, manifest.get("metadata", {}).get("name", "")


def _created(variable: str, situation: Situation, beginning: Beginning) -> Iterator[str]:
    """Yield the names of the objects that the learner has created, and no solution does; without those that a
    controller made."""
    for name, manifest in situation.objects(variable).items():
        if name not in beginning.known[variable] and not manifest["metadata"].get("ownerReferences"):
            yield name
