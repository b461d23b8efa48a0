"""The list of the lessons, with the learner's progress in each."""

from collections.abc import Collection, Iterable, Mapping
from typing import Literal

import msgspec
from django.utils.translation import get_language

from schedviz.lessons.lesson import Lesson
from schedviz.lessons.progress import Progress
from schedviz.lessons.uploads import is_upload
from schedviz.web.lessons.result import ResultView, present_results

LessonState = Literal["new", "begun", "done"]


class LessonRow(msgspec.Struct, frozen=True):
    name: str
    title: str
    summary: str
    language: str
    number: int
    minutes: int
    state: LessonState
    at: int
    """The number of the step, from 1, of a lesson that was begun."""
    steps: int
    results: list[ResultView]
    """The best results of a level."""
    progressed: float
    """Time of the learner's last progress; 0 = never."""
    listed: bool
    """Whether the lesson is in the list; False = it was uploaded."""


class LessonList(msgspec.Struct, frozen=True):
    course: list[LessonRow]
    levels: list[LessonRow]
    uploaded: list[LessonRow]
    """The lessons that the learner has begun."""
    proposed: LessonRow | None
    """The next lesson for the learner; None if everything is done."""

    @property
    def done(self) -> int:
        return sum(row.state == "done" for row in self.course)

    @property
    def minutes(self) -> int:
        return sum(row.minutes for row in self.course)


def present_lessons(
    lessons: Iterable[Lesson],
    progress: Mapping[str, Progress],
    sandboxes: Collection[str],
    uploaded: Iterable[Lesson] = (),
) -> LessonList:
    """Return the list of lessons. sandboxes: the names of those that exist. A lesson whose sandbox was
    deleted begins again."""
    known = [*lessons]
    course = [each for each in known if each.par is None]
    levels = [each for each in known if each.par is not None]
    rows = [
        [_row(each, place, progress.get(each.name), sandboxes) for place, each in enumerate(part, start=1)]
        for part in (course, levels, [*uploaded])
    ]
    everything = [*rows[0], *rows[1], *rows[2]]
    begun = [row for row in everything if row.state == "begun"]
    proposed = max(begun, key=lambda row: row.progressed, default=None) or next(
        (row for row in everything if row.state == "new"), None
    )
    return LessonList(rows[0], rows[1], rows[2], proposed)


def numbers(lessons: Iterable[Lesson]) -> dict[str, int]:
    """Return the number of each lesson by its name: lessons of the course and levels are counted apart."""
    counts = {True: 0, False: 0}
    found = {}
    for each in lessons:
        counts[each.par is None] += 1
        found[each.name] = counts[each.par is None]
    return found


def _row(lesson: Lesson, number: int, progress: Progress | None, sandboxes: Collection[str]) -> LessonRow:
    language = get_language() or "en"
    text = lesson.text(language)
    state: LessonState = "new"
    if progress and progress.finished:
        state = "done"
    elif progress and progress.sandbox in sandboxes:
        state = "begun"
    return LessonRow(
        name=lesson.name,
        title=text.title,
        summary=text.summary,
        language=language if language in lesson.texts else "en",
        number=number,
        minutes=lesson.minutes,
        state=state,
        at=progress.step + 1 if progress else 0,
        steps=len(lesson.steps),
        results=present_results(lesson.par, progress.best if progress else None),
        progressed=progress.progressed if progress else 0,
        listed=not is_upload(lesson.name),
    )
