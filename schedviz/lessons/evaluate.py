"""Evaluates a lesson: which checks hold, which hint fits, and what follows from a guess. These functions are
pure; times are seconds of the wall."""

from collections.abc import Sequence

from msgspec.structs import replace

from schedviz.lessons.choose_hint import choose_hint, note_changes
from schedviz.lessons.conditions import condition
from schedviz.lessons.lesson import Lesson, Misconception, Step
from schedviz.lessons.progress import Guess, Progress, check_name
from schedviz.lessons.situation import Situation


def begin(lesson: Lesson, sandbox: str, created: float, now: float) -> Progress:
    """Return the progress of a learner who begins. created: ``Meta.created`` of the sandbox."""
    return Progress(
        lesson=lesson.name, sandbox=sandbox, created=created, started=now, since=now, progressed=now
    )


def evaluate(lesson: Lesson, progress: Progress, situation: Situation, now: float) -> Progress:
    """Return the progress after a look at the sandbox: the checks of the present step that hold are passed,
    and stay so; the hint is that of the first check that does not hold."""
    step = lesson.steps[progress.step]
    failing = [check for check in step.checks if not progress.has_passed(step, check)]
    values = situation.values([condition(check.expect) for check in failing])
    held = [check for check in failing if condition(check.expect).holds(values)]
    check = next((each for each in failing if each not in held), None)
    reached = note_changes(lesson, progress, situation)
    hint, withheld = "", ""
    if check:
        chosen = choose_hint(lesson, progress.step, check, situation, reached)
        name = f"{check_name(step, check)}/{chosen.hint}" if chosen.hint else ""
        hint, withheld = ("", name) if chosen.withheld else (name, "")
    is_wrong = hint not in ("", progress.hint, progress.withheld)
    changed = replace(
        progress,
        passed=progress.passed | {check_name(step, check) for check in held},
        reached=reached,
        hint=hint,
        withheld=withheld,
        failures=progress.failures + is_wrong,
        progressed=now if held else progress.progressed,
    )
    return _finish(lesson, changed, now)


def guess(
    lesson: Lesson, progress: Progress, picks: Sequence[str], now: float, *, collected: bool = False
) -> Progress:
    """Return the progress after a guess at the present step's question. The first guess counts; a later one
    changes nothing. collected: see :class:`Guess`. Raises ValueError for choices that the question does not
    have."""
    step = lesson.steps[progress.step]
    question = step.question
    if question is None or step.id in progress.guesses:
        return progress
    chosen = [choice for choice in question.choices if choice in picks]
    if not chosen or len(chosen) != len(picks) or (len(chosen) > 1 and not question.many):
        raise ValueError("choose one of the choices" if not question.many else "choose some of the choices")
    right = set(chosen) == set(question.right)
    changed = replace(
        progress,
        guesses={**progress.guesses, step.id: Guess(chosen, right, collected)},
        failures=progress.failures + (not right),
        progressed=now,
    )
    return _finish(lesson, changed, now)


def go_to_step(lesson: Lesson, progress: Progress, step: int, now: float) -> Progress:
    """Return the progress at any step: of a learner who goes back, or whom the teacher moves. What was passed
    and guessed stays. Raises ValueError if there is no such step."""
    if not 0 <= step < len(lesson.steps):
        raise ValueError(f"the lesson has {len(lesson.steps)} steps")
    moved = replace(
        progress, step=step, reached=None, hint="", withheld="", failures=0, since=now, progressed=now
    )
    return _finish(lesson, moved, now)


def restart_from_step(
    lesson: Lesson, progress: Progress, step: int, now: float, *, keep_guesses: bool = False
) -> Progress:
    """Return the progress at a step whose state is put into a new sandbox: what was passed at this step and
    at later ones is forgotten, because none of it was done there; so are the guesses, unless they are to be
    kept. The best result stays. Raises ValueError if there is no such step."""
    again = {each.id for each in lesson.steps[max(step, 0) :]}
    guesses = {each: guess for each, guess in progress.guesses.items() if keep_guesses or each not in again}
    before = replace(
        progress,
        passed=frozenset(each for each in progress.passed if each.partition("/")[0] not in again),
        guesses=guesses,
        solved=progress.solved - again,
        finished=0.0,
    )
    return go_to_step(lesson, before, step, now)


def show_solution(lesson: Lesson, progress: Progress) -> Progress:
    """Return the progress after the solution of the present step was shown."""
    return replace(progress, solved=progress.solved | {lesson.steps[progress.step].id})


def is_step_complete(lesson: Lesson, progress: Progress, step: int | None = None) -> bool:
    """Whether a step's question is answered and its checks are passed. step: None = the present one."""
    each = lesson.steps[progress.step if step is None else step]
    answered = each.question is None or each.id in progress.guesses
    return answered and all(progress.has_passed(each, check) for check in each.checks)


def is_complete(lesson: Lesson, progress: Progress) -> bool:
    """Whether the learner has completed the last step."""
    return progress.step == len(lesson.steps) - 1 and is_step_complete(lesson, progress)


def find_misconceptions(lesson: Lesson, before: Progress, after: Progress) -> list[Misconception]:
    """Return the misconceptions that showed between two states of the same progress: of a hint that came, and
    of the choices of a wrong guess."""
    found: list[Misconception] = []
    if after.hint not in ("", before.hint):
        step, name, hint = after.hint.split("/", 2)
        check = next(each for each in _step(lesson, step).checks if each.id == name)
        is_own = any(each.id == hint for each in check.hints)
        found += [check.misconception] if check.misconception and is_own else []
    for identifier, made in after.guesses.items():
        question = _step(lesson, identifier).question
        if identifier not in before.guesses and question and not made.right:
            found += [question.misconceptions[pick] for pick in made.picks if pick in question.misconceptions]
    return [*dict.fromkeys(found)]


def _finish(lesson: Lesson, progress: Progress, now: float) -> Progress:
    """Return the progress with the time at which the lesson was finished."""
    if progress.finished or not is_complete(lesson, progress):
        return progress
    return replace(progress, finished=now)


def _step(lesson: Lesson, identifier: str) -> Step:
    return next(step for step in lesson.steps if step.id == identifier)
