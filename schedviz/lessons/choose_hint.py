"""Chooses the hint for a check that does not hold: one of the lesson's own, or a general one."""

from typing import NamedTuple

from msgspec.structs import replace

from schedviz.lessons.beginnings import Beginning, find_beginning
from schedviz.lessons.conditions import condition
from schedviz.lessons.general_hints import (
    RESTART,
    GeneralHint,
    find_absent,
    find_any_difference,
    find_differing,
    find_misnamed,
    find_obstacle,
    find_shortfall,
    names_of_others,
)
from schedviz.lessons.lesson import Lesson, Step, StepCheck
from schedviz.lessons.progress import Progress, Reached
from schedviz.lessons.situation import Situation


class Chosen(NamedTuple):
    hint: str
    """The id of a hint of the check, or a written GeneralHint; "" = none fits."""
    withheld: bool = False
    """Whether only learners who are stuck see it."""


def note_changes(lesson: Lesson, progress: Progress, situation: Situation) -> Reached:
    """Return what is noted of the step: when it was reached, if it is evaluated for the first time, and when
    the learner changed something."""
    before, changes = progress.reached, situation.changes
    if before is None:
        beginning = find_beginning(lesson, progress.step)
        others = names_of_others(situation, beginning) if beginning else []
        return Reached(changes=changes, others=others, changed=changes, seconds=situation.seconds)
    if changes != before.changed:
        return replace(before, changed=changes, seconds=situation.seconds)
    return before


def choose_hint(
    lesson: Lesson, step: int, check: StepCheck, situation: Situation, reached: Reached
) -> Chosen:
    time_went_on = situation.seconds > reached.seconds
    acted = situation.changes != reached.changes or (time_went_on and situation.paused)
    own = _find_conditional(check, situation)
    if own and _is_restart(check, own):
        return Chosen(own)
    known = find_beginning(lesson, step)
    beginning = known if lesson.par is None else None  # in a level, the learner decides what to change
    early = _find_early(lesson.steps[step], situation, beginning, acted=acted) if beginning else None
    if early is None and acted and known:
        early = find_misnamed(check, situation, known, reached.others)
    if early:
        return Chosen(early.write())
    if own:
        return Chosen(own, withheld=not acted)
    if not situation.settled:
        waiting = GeneralHint("waiting").write() if situation.paused else ""
        return Chosen(waiting, withheld=not (acted and time_went_on))
    last = _find_unconditional(check)
    if last or not acted:
        return Chosen(last, withheld=not acted)
    found = _find_fault(lesson.steps[step], check, situation, beginning) if beginning else None
    return Chosen((found or GeneralHint("lost")).write())


def _find_early(step: Step, situation: Situation, beginning: Beginning, *, acted: bool) -> GeneralHint | None:
    """Return what may make the step impossible, whatever the lesson's own hints say."""
    find = find_obstacle if acted else find_shortfall
    return find(step, situation, beginning)


def _find_fault(
    step: Step, check: StepCheck, situation: Situation, beginning: Beginning
) -> GeneralHint | None:
    return (
        find_absent(check, situation, beginning)
        or find_differing(check, situation, beginning)
        or find_any_difference(step, situation, beginning)
    )


def find_own_hint(check: StepCheck, situation: Situation) -> str:
    """Return the id of the hint of the lesson that fits a check which does not hold; "" = none does."""
    return _find_conditional(check, situation) or (_find_unconditional(check) if situation.settled else "")


def offers_restart(check: StepCheck, hint: str) -> bool:
    """Whether the page offers to restart the step, with a hint for the check."""
    general = GeneralHint.read(hint)
    return general.what in RESTART if general else _is_restart(check, hint)


def _find_conditional(check: StepCheck, situation: Situation) -> str:
    """Return the first hint whose condition holds."""
    hints = [hint for hint in check.hints if hint.when]
    values = situation.values([condition(hint.when) for hint in hints])
    return next((hint.id for hint in hints if condition(hint.when).holds(values)), "")


def _find_unconditional(check: StepCheck) -> str:
    return next((hint.id for hint in check.hints if not hint.when), "")


def _is_restart(check: StepCheck, identifier: str) -> bool:
    return any(hint.restart for hint in check.hints if hint.id == identifier)
