"""Each lesson is played with every wrong act that its steps allow, and with pairs of them (in ``make test``
with a sample). It never ends without a hint, and a hint that does not offer to restart the step has advice
that helps."""

import itertools
from collections.abc import Iterator, Sequence

import pytest

from schedviz.lessons import evaluate
from schedviz.lessons.catalogue import COURSE, lesson_folders, lessons
from schedviz.lessons.lesson import Action, Lesson
from schedviz.lessons.situation import KINDS
from tests.amounts import sample

from .wrong_acts import Act, Learner, acts_at


@pytest.fixture(params=[folder.name for folder in lesson_folders(COURSE)])
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return lessons()[request.param]


def checked_steps(lesson: Lesson) -> Iterator[int]:
    """Yield the steps whose goals are not reached when they begin."""
    for number, step in enumerate(lesson.steps):
        if step.checks and not Learner(lesson, number).complete:
            yield number


def sequences(lesson: Lesson, number: int) -> Iterator[Sequence[Act]]:
    """Yield each act at a step, and each pair of kinds of acts that change something and do not reach the
    goal. The order of two acts matters only if time passes first."""
    acts = [*acts_at(Learner(lesson, number))]
    for act in acts:
        yield [act]
    kinds = {act.kind: act for act in reversed(acts)}
    first = [act for act in reversed(kinds.values()) if is_begun(lesson, number, act)]
    yield from itertools.combinations(first, 2)
    for place, time in enumerate(first):
        if "time" in time.kind:
            yield from ((time, act) for act in first[: place + 1])


def is_begun(lesson: Lesson, number: int, act: Act) -> bool:
    """Whether an act changes something, and does not reach the goal."""
    learner = Learner(lesson, number)
    act.do(learner)
    return learner.has_acted and not learner.complete


@pytest.mark.sampled
def test_no_wrong_acts_end_a_lesson_without_a_way_on(lesson: Lesson) -> None:
    faults = [
        f"{lesson.steps[number].id}: {', '.join(act.name for act in acts)}: {fault}"
        for number in checked_steps(lesson)
        for acts in sample([*sequences(lesson, number)], one_of=20)
        if (fault := find_fault(lesson, number, acts))
    ]
    assert faults == []


def find_fault(lesson: Lesson, number: int, acts: Sequence[Act]) -> str:
    """Return what is wrong after some acts at a step; "" = there is a way on."""
    learner = Learner(lesson, number)
    for act in acts:
        act.do(learner)
    learner.settle()
    if learner.complete:
        return find_fault_later(learner)
    if not learner.progress.hint:
        return "no hint" if learner.has_acted else ""
    return "" if learner.is_offered_restart or lesson.par else find_fault_of_advice(learner)


def find_fault_of_advice(learner: Learner) -> str:
    """Return what is wrong when the learner follows a hint: deletes what is wrong and does what is right."""
    hint, solution = learner.hint, learner.lesson.steps[learner.progress.step].solution
    for action in solution:
        if action.create is not None:
            learner.play(Action(delete=_place_of(action)))
            learner.settle()
    learner.play(*solution)
    learner.settle()
    if learner.complete or learner.is_offered_restart:
        return ""
    return f"the hint {hint} does not help, and then comes {learner.hint or 'none'}"


def find_fault_later(learner: Learner) -> str:
    """Return what is wrong when the learner goes on with what the steps ask for."""
    steps = learner.lesson.steps
    for number in range(learner.progress.step + 1, len(steps)):
        learner.go_to(number)
        learner.play(*steps[number].solution)
        learner.settle()
        if learner.is_offered_restart or not learner.has_acted:
            return ""
        if not learner.complete and (fault := find_fault_of_advice(learner)):
            return f"{steps[number].id}: {fault}"
    return ""


def _place_of(action: Action) -> str:
    manifest = action.create or {}
    variable = next(each for each, kind in KINDS.items() if kind == manifest["kind"])
    return f"{variable}/{manifest['metadata']['name']}"


def test_a_skipped_step_leaves_a_way_on(lesson: Lesson) -> None:
    for number in range(len(lesson.steps) - 1):
        learner = Learner(lesson, number)
        assert find_fault_later(learner) == "", lesson.steps[number].id


def test_nothing_is_said_at_the_beginning_of_a_step_and_there_is_nothing_to_undo(lesson: Lesson) -> None:
    for number, step in enumerate(lesson.steps):
        learner = Learner(lesson, number)
        assert learner.progress.hint == "", step.id
        assert not learner.has_acted, step.id


def test_a_name_that_is_nearly_right_gets_a_hint_at_once(lesson: Lesson) -> None:
    for number in checked_steps(lesson):
        for act in acts_at(Learner(lesson, number)):
            if act.kind != "wrong name":
                continue
            learner = Learner(lesson, number)
            act.do(learner)
            if not learner.hint:  # the name does not matter, or is taken by what has to be deleted first
                learner.settle()
            assert learner.hint or learner.complete, (lesson.steps[number].id, act.name)


def test_an_answer_ends_no_step(lesson: Lesson) -> None:
    for number, step in enumerate(lesson.steps):
        for choice in step.question.choices if step.question else []:
            learner = Learner(lesson, number)
            learner.progress = evaluate.guess(lesson, learner.progress, [choice], 0)
            learner.play(*step.solution)
            assert evaluate.is_step_complete(lesson, learner.progress), (step.id, choice)
