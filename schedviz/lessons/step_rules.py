"""Checks what the types of the steps do not say: ids, conditions, references, highlights and actions."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from schedviz.lessons.action_rules import ActionRules
from schedviz.lessons.conditions import ConditionError, condition
from schedviz.lessons.lesson import PARTS, LessonQuestion, Step, StepCheck
from schedviz.lessons.mistakes import YamlFile
from simulator.scenario import Scenario

STEPS_AT_MOST: Final = 30
PARTS_AT_MOST: Final = 20
"""Maximum number of checks of a step, hints of a check, choices of a question, highlights of a step."""
ACTIONS_AT_MOST: Final = 50
"""Maximum number of actions of a solution or of a wrong answer."""
STEP_COST_AT_MOST: Final = 4_000_000
"""The maximum cost of all conditions of a step, which are evaluated together after each change."""
CONDITIONS_AT_MOST: Final = 300
"""The maximum number of conditions of a lesson. Compiling one takes a millisecond."""
_ID: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")
_HIGHLIGHT: Final = re.compile(r"(pod|node) [a-z0-9]([-a-z0-9./]*[a-z0-9])?")


def find_step_mistakes(file: YamlFile, steps: list[Step], cluster: Scenario) -> None:
    """Add the mistakes of the steps to the file's."""
    _StepRules(file, steps, cluster).check()


class _StepRules:
    def __init__(self, file: YamlFile, steps: list[Step], cluster: Scenario) -> None:
        self._file = file
        self._steps = steps
        self._actions = ActionRules(file, cluster)
        self._cost = 0
        """The cost of the conditions of the step."""
        self._conditions = 0

    def check(self) -> None:
        if not self._steps:
            self._file.add("steps", "a lesson has at least one step")
        self._bound("steps", self._steps, STEPS_AT_MOST)
        self._ids("steps", [step.id for step in self._steps], ".id")
        for number, step in enumerate(self._steps):
            self._step(f"steps[{number}]", number, step)

    def _step(self, path: str, number: int, step: Step) -> None:
        self._cost = 0
        self._bound(f"{path}.highlights", step.highlights, PARTS_AT_MOST)
        for index, highlight in enumerate(step.highlights):
            if highlight not in PARTS and not _HIGHLIGHT.fullmatch(highlight):
                parts = ", ".join(PARTS)
                message = f"must be one of {parts}, pod NAME or node NAME, not {highlight!r}"
                self._file.add(f"{path}.highlights[{index}]", message)
        if step.question:
            self._question(f"{path}.question", number, step.question)
        self._bound(f"{path}.checks", step.checks, PARTS_AT_MOST)
        self._ids(f"{path}.checks", [check.id for check in step.checks], ".id")
        for index, check in enumerate(step.checks):
            self._check(f"{path}.checks[{index}]", step, check)
        if self._cost > STEP_COST_AT_MOST:
            message = (
                f"the conditions of the step cost {self._cost:,}; at most {STEP_COST_AT_MOST:,} is allowed"
            )
            self._file.add(f"{path}.checks", message)
        self._bound(f"{path}.solution", step.solution, ACTIONS_AT_MOST)
        self._actions.check(f"{path}.solution", step.solution, step.question)

    def _question(self, path: str, number: int, question: LessonQuestion) -> None:
        self._bound(f"{path}.choices", question.choices, PARTS_AT_MOST)
        self._ids(f"{path}.choices", question.choices)
        if len(question.choices) < 2:
            self._file.add(f"{path}.choices", "a question has at least two choices")
        for index, choice in enumerate(question.right):
            if choice not in question.choices:
                self._file.add(f"{path}.right[{index}]", f"{choice!r} is not one of the choices")
        if not question.many and len(question.right) != 1:
            message = f"learners choose one: it must be one choice, not {len(question.right)}, or many: true"
            self._file.add(f"{path}.right", message)
        for choice in question.misconceptions:
            if choice not in question.choices:
                self._file.add(f"{path}.misconceptions.{choice}", "is not one of the choices")
            elif choice in question.right and not question.many:
                self._file.add(f"{path}.misconceptions.{choice}", "is the right choice")
        later = [step.id for step in self._steps[number + 1 :]]
        if question.after and question.after not in later:
            self._file.add(f"{path}.after", f"{question.after!r} is not the id of a later step")
        self._condition(f"{path}.truth", question.truth)

    def _check(self, path: str, step: Step, check: StepCheck) -> None:
        self._condition(f"{path}.expect", check.expect)
        self._bound(f"{path}.hints", check.hints, PARTS_AT_MOST)
        hints = [hint.id for hint in check.hints]
        self._ids(f"{path}.hints", hints, ".id")
        for index, hint in enumerate(check.hints):
            if hint.when:
                self._condition(f"{path}.hints[{index}].when", hint.when)
            elif index < len(hints) - 1:
                self._file.add(f"{path}.hints[{index}]", "always holds, so that no later hint can be shown")
        if check.wrong.hint and check.wrong.hint not in hints:
            self._file.add(f"{path}.wrong.hint", f"{check.wrong.hint!r} is not one of the hints")
        self._bound(f"{path}.wrong.do", check.wrong.do, ACTIONS_AT_MOST)
        self._actions.check(f"{path}.wrong.do", check.wrong.do, step.question)

    def _condition(self, path: str, text: str) -> None:
        self._conditions += 1
        if self._conditions == CONDITIONS_AT_MOST + 1:
            self._file.add(path, f"a lesson has at most {CONDITIONS_AT_MOST} conditions")
        if self._conditions > CONDITIONS_AT_MOST:
            return
        try:
            self._cost += condition(text).cost
        except ConditionError as error:
            self._file.add(path, str(error))

    def _ids(self, path: str, identifiers: list[str], field: str = "") -> None:
        for place, identifier in _invalid(identifiers):
            message = "must be lower case letters, digits and -, at most 40 characters"
            self._file.add(f"{path}[{place}]{field}", f"{identifier[:100]!r} {message}")
        for place, identifier in enumerate(identifiers):
            if identifier in identifiers[:place]:
                self._file.add(f"{path}[{place}]{field}", f"{identifier!r} is used twice")

    def _bound(self, path: str, values: Sequence[object], most: int) -> None:
        if len(values) > most:
            self._file.add(path, f"at most {most} are allowed, not {len(values)}")


def _invalid(identifiers: list[str]) -> Iterator[tuple[int, str]]:
    return ((place, each) for place, each in enumerate(identifiers) if not _ID.fullmatch(each))
