"""The types of a lesson, as in its folder's ``lesson.yaml``, and its texts in one language."""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from schedviz.lessons.notes import TeacherNotes
from simulator.api import Manifest
from simulator.scenario import Scenario

Part = Literal["queue", "nodes", "cycle", "log", "clock", "create"]
"""A part of the sandbox's page that a step can show: the lanes, the nodes, the cycle panel, the time axis
with the log, the controls of simulated time, and the buttons that create objects."""
PARTS: Final[tuple[Part, ...]] = ("queue", "nodes", "cycle", "log", "clock", "create")

Misconception = Literal[
    "usage",  # usage or limits are compared with a node's capacity
    "sum",  # free resources are added up over nodes
    "timer",  # pending pods are tried again by a timer
    "order",  # a higher priority guarantees an earlier start
    "share",  # the priority is a share of running time
    "qos",  # preemption is ordered by QoS class
    "budget",  # a PodDisruptionBudget always prevents a preemption
    "victims",  # when the victims are deleted the pod is bound
    "across",  # victims are deleted on several nodes for one pod
    "class-change",  # a changed PriorityClass affects pods that exist
    "policy",  # preemptionPolicy protects a pod from preemption
    "taint",  # a toleration attracts a pod to tainted nodes
    "score",  # the highest score of one plugin decides
    "gang",  # the scheduler places the pods of a group together without a plugin for gangs
    "leader",  # several schedulers share the queue
]


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Lets simulated time run: until a pod is bound, until nothing more is due, or for some seconds. A run
    until nothing more is due ends at the time of what was done last."""

    until: str = ""
    """The end of the run: ``idle``, or ``bound POD``; "" = after ``seconds``."""
    seconds: float = 60.0
    """The longest simulated time."""


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One act of a solution or of a wrong answer; exactly one field is set."""

    create: Manifest | None = None
    apply: Manifest | None = None
    """Merged into the object of the same kind and name, which exists (JSON merge patch)."""
    delete: str = ""
    """The object to delete: ``RESOURCE/NAME``, as ``pods/web``; of another namespace,
    ``pods/NAMESPACE/NAME``."""
    scheduler: Manifest | None = None
    """Another KubeSchedulerConfiguration."""
    guess: list[str] | None = None
    """Choices of the step's question."""
    run: Run | None = None


class Hint(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A text for learners whose sandbox fails the check in a certain way."""

    id: str
    when: str = ""
    """A CEL condition; the first hint whose condition holds is shown. "" = always."""
    restart: bool = False
    """Whether the step can no longer be completed: the hint is shown at once, with a button that restarts
    the step."""


class Wrong(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A wrong answer, for ``manage.py lesson check``: after these actions instead of the solution, the check
    fails with the hint."""

    do: list[Action]
    hint: str = ""


class StepCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A condition that the sandbox, its trace or the guesses must fulfil."""

    id: str
    expect: str
    """A CEL condition."""
    hints: list[Hint] = []
    misconception: Misconception | None = None
    """The misconception that a learner probably has if one of the hints holds in the sandbox."""
    wrong: Wrong


class LessonQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A prediction: the learner chooses before the answer is seen."""

    choices: list[str]
    """The ids of the choices, in the order of the page."""
    right: list[str]
    many: bool = False
    """Whether several choices can be chosen; ``right`` is then the whole set."""
    misconceptions: dict[str, Misconception] = {}
    """Choice -> misconception."""
    truth: str
    """A CEL condition that holds after the solutions of this step and of ``after`` have been played: so the
    model proves the answer."""
    after: str = ""
    """The id of a later step whose solution is played, too, before ``truth``; "" = only this step."""


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    id: str
    shows: list[Part] = []
    """The parts that appear at this step; those of earlier steps stay."""
    highlights: list[str] = []
    """The parts, pods and nodes that the page highlights: a part, ``pod NAME`` or ``node NAME``."""
    question: LessonQuestion | None = None
    checks: list[StepCheck] = []
    solution: list[Action] = []


class Par(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The best known result of a level; None = not counted."""

    victims: int | None = None
    nodes: int | None = None
    """Nodes that have pods at the end."""
    edits: int | None = None
    """Objects that the learner created, changed or deleted."""


class LessonText(msgspec.Struct, frozen=True):
    """The texts of a lesson in one language, rendered as safe HTML unless its docstring gives another
    type."""

    title: str
    """The title, as plain text."""
    summary: str
    """The summary, as plain text."""
    steps: Mapping[str, "StepText"]
    """Id of the step -> its texts, in the order of the steps."""


class StepText(msgspec.Struct, frozen=True):
    title: str
    """The title, as plain text."""
    body: str
    checks: Mapping[str, str] = {}
    """The goal of each check, by id."""
    hints: Mapping[str, str] = {}
    """``CHECK/HINT`` -> text of the hint."""
    question: str = ""
    choices: Mapping[str, str] = {}
    answer: str = ""
    """The explanation after the guess."""


class Lesson(msgspec.Struct, frozen=True, eq=False):
    """A lesson with its texts in all languages and its cluster. Two lessons are equal if they are the same
    object, so that what is computed from one can be cached."""

    name: str
    """The name of the folder: a DNS label."""
    order: int
    minutes: int
    misconceptions: list[Misconception]
    """The misconceptions that the lesson corrects."""
    steps: list[Step]
    par: Par | None
    """The best known result of a level; None = the lesson is no level."""
    cluster: Scenario
    texts: Mapping[str, LessonText]
    """Language code (``en``, ``zh-hans``) -> texts."""
    notes: TeacherNotes | None = None
    """None = the lesson has no notes for teachers."""

    def text(self, language: str) -> LessonText:
        """Return the texts in a language; in English if there are none."""
        return self.texts.get(language, self.texts["en"])

    def shown(self, step: int) -> list[Part]:
        """Return the parts that the page shows at a step, counted from 0."""
        seen = {part for each in self.steps[: step + 1] for part in each.shows}
        return [part for part in PARTS if part in seen]
