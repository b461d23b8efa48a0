"""The acts of a step's solution, as the panel of the lesson lists them before they are carried out."""

from functools import lru_cache
from typing import Final, Literal

import msgspec
import yaml

from schedviz.lessons.lesson import Action, Lesson
from simulator.api import Manifest

What = Literal["create", "change", "delete", "scheduler", "until", "idle", "run"]

SOLUTIONS_HELD: Final = 200
"""Maximum number of steps whose acts a process holds, of some 2 kB each."""
_NOT_SHOWN: Final = ("apiVersion", "kind")


class SolutionAct(msgspec.Struct, frozen=True):
    what: What
    kind: str = ""
    """The kind of the object, or the resource of one that is deleted."""
    name: str = ""
    manifest: str = ""
    """The object, the changed fields or the configuration, as YAML."""
    seconds: str = ""
    """The simulated seconds of a run, at most."""


@lru_cache(maxsize=SOLUTIONS_HELD)
def present_solution(lesson: Lesson, step: int) -> list[SolutionAct]:
    """Return the acts of a step's solution, without the guesses. A whole class asks for the same ones."""
    return [each for action in lesson.steps[step].solution if (each := _present(action))]


def _present(action: Action) -> SolutionAct | None:
    if action.create is not None:
        return _of_object("create", action.create)
    if action.apply is not None:
        return _of_object("change", action.apply)
    if action.delete:
        resource, _, name = action.delete.partition("/")
        return SolutionAct("delete", kind=resource, name=name)
    if action.scheduler is not None:
        return SolutionAct("scheduler", manifest=_yaml(action.scheduler))
    if action.run is not None:
        pod = action.run.until.removeprefix("bound ")
        seconds = f"{action.run.seconds:g}"
        if pod == "idle":
            return SolutionAct("idle", seconds=seconds)
        return SolutionAct("until" if pod else "run", name=pod, seconds=seconds)
    return None


def _of_object(what: What, manifest: Manifest) -> SolutionAct:
    name = manifest.get("metadata", {}).get("name", "")
    return SolutionAct(what, kind=manifest["kind"], name=name, manifest=_yaml(manifest))


def _yaml(manifest: Manifest) -> str:
    shown = {key: value for key, value in manifest.items() if key not in _NOT_SHOWN}
    return yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, default_flow_style=None, width=60)
