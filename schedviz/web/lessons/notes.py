"""The page with a lesson's teacher's notes: the minutes of each step, what to say, and the right answer."""

from itertools import accumulate

import msgspec
from django.utils.translation import get_language

from schedviz.lessons.lesson import Lesson, Step, StepText
from schedviz.lessons.notes import StepNotes, TeacherNotes
from schedviz.lessons.read_text import render_line


class NotedChoice(msgspec.Struct, frozen=True):
    text: str
    right: bool


class NotedStep(msgspec.Struct, frozen=True):
    heading: str
    begins: int
    """Minutes since the beginning of the lesson."""
    ends: int
    text: str
    """As HTML."""
    choices: list[NotedChoice]
    """The choices of the step's question, as HTML; none = it has no question."""
    goals: list[str]


class NotesPage(msgspec.Struct, frozen=True):
    title: str
    summary: str
    """What the class shall have understood, as HTML."""
    language: str
    level: bool
    number: int
    """The number of the lesson in the course; 0 = it is not of the course."""
    minutes: int
    steps: list[NotedStep]


def present_notes(lesson: Lesson, notes: TeacherNotes, number: int) -> NotesPage:
    """Return the page in the active language, or in English if the lesson or the notes lack it."""
    language = get_language() or "en"
    if language not in lesson.texts or language not in notes.purpose:
        language = "en"
    text = lesson.text(language)
    ends = accumulate(each.minutes for each in notes.steps.values())
    return NotesPage(
        title=text.title,
        summary=render_line(notes.purpose[language]),
        language=language,
        level=lesson.par is not None,
        number=number,
        minutes=notes.minutes,
        steps=[
            _present_step(step, text.steps[step.id], notes.steps[step.id], end, language)
            for step, end in zip(lesson.steps, ends, strict=True)
        ],
    )


def _present_step(step: Step, words: StepText, notes: StepNotes, end: int, language: str) -> NotedStep:
    question = step.question
    return NotedStep(
        heading=words.title,
        begins=end - notes.minutes,
        ends=end,
        text=render_line(notes.text[language]),
        choices=[NotedChoice(words.choices[each], each in question.right) for each in question.choices]
        if question
        else [],
        goals=[words.checks[each.id] for each in step.checks],
    )
