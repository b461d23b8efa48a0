"""The handout of a lesson: its steps and questions on one page, the answers on another."""

import msgspec
from django.utils.translation import get_language

from schedviz.lessons.lesson import Lesson, Step, StepText


class HandoutStep(msgspec.Struct, frozen=True):
    heading: str
    body: str
    question: str
    """The question of the step; "" = it has none."""
    choices: list[str]
    goals: list[str]


class HandoutAnswer(msgspec.Struct, frozen=True):
    number: int
    """The number of the step, from 1."""
    heading: str
    right: list[str]
    answer: str


class Handout(msgspec.Struct, frozen=True):
    title: str
    summary: str
    language: str
    level: bool
    number: int
    minutes: int
    has_notes: bool
    """Whether there are notes for teachers."""
    steps: list[HandoutStep]
    answers: list[HandoutAnswer]


def present_handout(lesson: Lesson, number: int) -> Handout:
    language = get_language() or "en"
    text = lesson.text(language)
    return Handout(
        title=text.title,
        summary=text.summary,
        language=language if language in lesson.texts else "en",
        level=lesson.par is not None,
        number=number,
        minutes=lesson.minutes,
        has_notes=lesson.notes is not None,
        steps=[_step(each, text.steps[each.id]) for each in lesson.steps],
        answers=[
            _answer(each, text.steps[each.id], place)
            for place, each in enumerate(lesson.steps, start=1)
            if each.question
        ],
    )


def _step(step: Step, words: StepText) -> HandoutStep:
    choices = step.question.choices if step.question else []
    return HandoutStep(
        heading=words.title,
        body=words.body,
        question=words.question,
        choices=[words.choices[each] for each in choices],
        goals=[words.checks[each.id] for each in step.checks],
    )


def _answer(step: Step, words: StepText, number: int) -> HandoutAnswer:
    right = step.question.right if step.question else []
    return HandoutAnswer(number, words.title, [words.choices[each] for each in right], words.answer)
