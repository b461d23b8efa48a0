"""What the bundled course teaches. ``test_course`` plays each lesson."""

from collections import Counter
from typing import get_args

import pytest

from schedviz.lessons.catalogue import COURSE, lesson_folders
from schedviz.lessons.lesson import Lesson, Misconception
from schedviz.lessons.read_lesson import read_lesson

LESSONS = {folder.name: read_lesson(folder) for folder in lesson_folders(COURSE)}
LEVELS = 3


def tagged(lesson: Lesson) -> set[Misconception]:
    """The misconceptions of its choices and checks."""
    choices = {
        found for step in lesson.steps if step.question for found in step.question.misconceptions.values()
    }
    checks = {check.misconception for step in lesson.steps for check in step.checks if check.misconception}
    return choices | checks


def test_the_lessons_are_numbered_and_the_levels_come_last() -> None:
    course = sorted(LESSONS.values(), key=lambda lesson: lesson.order)
    assert [lesson.order for lesson in course] == [*range(1, len(course) + 1)]
    assert [lesson.par is not None for lesson in course] == [False] * (len(course) - LEVELS) + [True] * LEVELS


def test_each_misconception_is_corrected_by_one_lesson() -> None:
    corrected = Counter(found for lesson in LESSONS.values() for found in lesson.misconceptions)
    assert corrected == dict.fromkeys(get_args(Misconception), 1)


@pytest.mark.parametrize("name", sorted(LESSONS))
def test_a_lesson_shows_the_misconceptions_that_it_corrects(name: str) -> None:
    assert set(LESSONS[name].misconceptions) == tagged(LESSONS[name])


@pytest.mark.parametrize("name", sorted(LESSONS))
def test_a_lesson_is_short_and_in_both_languages(name: str) -> None:
    lesson = LESSONS[name]
    assert {*lesson.texts} >= {"en", "zh-hans"}
    assert 3 <= lesson.minutes <= 8
    assert len(lesson.steps) <= 5
    assert all(check.hints and check.wrong.hint for step in lesson.steps for check in step.checks)
