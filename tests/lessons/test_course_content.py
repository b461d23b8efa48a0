"""What the bundled course teaches. ``test_course`` plays each lesson."""

from collections import Counter
from typing import get_args

import pytest

from schedviz.lessons.catalogue import COURSE, lesson_folders, lessons
from schedviz.lessons.lesson import Lesson, Misconception

NAMES = [folder.name for folder in lesson_folders(COURSE)]
LEVELS = 3


def tagged(lesson: Lesson) -> set[Misconception]:
    """The misconceptions of its choices and checks."""
    choices = {
        found for step in lesson.steps if step.question for found in step.question.misconceptions.values()
    }
    checks = {check.misconception for step in lesson.steps for check in step.checks if check.misconception}
    return choices | checks


def test_the_lessons_are_numbered_and_the_levels_come_last() -> None:
    course = sorted((lessons()[name] for name in NAMES), key=lambda lesson: lesson.order)
    assert [lesson.order for lesson in course] == [*range(1, len(course) + 1)]
    assert [lesson.par is not None for lesson in course] == [False] * (len(course) - LEVELS) + [True] * LEVELS


def test_each_misconception_is_corrected_by_one_lesson() -> None:
    corrected = Counter(found for name in NAMES for found in lessons()[name].misconceptions)
    assert corrected == dict.fromkeys(get_args(Misconception), 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_shows_the_misconceptions_that_it_corrects(name: str) -> None:
    assert set(lessons()[name].misconceptions) == tagged(lessons()[name])


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_is_short_and_in_both_languages(name: str) -> None:
    lesson = lessons()[name]
    assert {*lesson.texts} >= {"en", "zh-hans"}
    assert 3 <= lesson.minutes <= 8
    assert len(lesson.steps) <= 5
    assert all(check.hints and check.wrong.hint for step in lesson.steps for check in step.checks)
