"""Compares the texts of one language with the steps of the lesson: both have the same parts."""

from collections.abc import Iterator

from schedviz.lessons.lesson import LessonText, Step
from schedviz.lessons.mistakes import Mistake
from schedviz.lessons.read_text import Places


def find_text_mistakes(steps: list[Step], text: LessonText, places: Places) -> Iterator[Mistake]:
    """Yield the texts that are missing, those of nothing in the lesson, and steps in another order."""
    known = {step.id: step for step in steps}
    last = 1
    for step in steps:
        lines = places.steps.get(step.id)
        if lines is None:
            yield Mistake(places.file, last, f"the step {step.id} has no text: ## {step.id}: TITLE")
            continue
        last = lines[""]
        if not text.steps[step.id].body:
            yield Mistake(places.file, last, f"the step {step.id} has no text below its heading")
        wanted = [*_parts(step)]
        for part in wanted:
            if part not in lines:
                yield Mistake(places.file, last, f"the step {step.id} has no text for: {part}")
        for part, line in lines.items():
            if part and part not in wanted:
                yield Mistake(places.file, line, f"the step {step.id} in lesson.yaml has no {part}")
    for identifier, lines in places.steps.items():
        if identifier not in known:
            yield Mistake(places.file, lines[""], f"lesson.yaml has no step {identifier}")
    described = [identifier for identifier in places.steps if identifier in known]
    order = [step.id for step in steps if step.id in places.steps]
    for identifier, expected in zip(described, order, strict=False):
        if identifier != expected:
            line = places.steps[identifier][""]
            yield Mistake(places.file, line, f"the step {expected} comes before {identifier} in lesson.yaml")
            break


def _parts(step: Step) -> Iterator[str]:
    """Yield the parts that a text of the step must describe, named as in :class:`Places`."""
    if step.question:
        yield "question"
        yield from (f"choice {choice}" for choice in step.question.choices)
        yield "answer"
    for check in step.checks:
        yield f"check {check.id}"
        yield from (f"hint {check.id} {hint.id}" for hint in check.hints)
