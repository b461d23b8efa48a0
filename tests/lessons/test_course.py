"""Every lesson of the course: its solutions reach its checks, on the simulator and on a sandbox with a
worker (of which ``make test`` plays a sample there); its wrong answers do not."""

from pathlib import Path

import pytest

from schedviz.cache import default_caches
from schedviz.lessons import evaluate
from schedviz.lessons.catalogue import COURSE, lesson_folders, lessons
from schedviz.lessons.learners import new_learner
from schedviz.lessons.management.commands.lesson import find_mistakes
from schedviz.lessons.play import play_actions
from schedviz.lessons.read_lesson import read_lesson
from schedviz.lessons.situation import situation_of
from schedviz.lessons.start import start_own_lesson
from schedviz.store import Store
from tests.amounts import sample
from tests.processes import Process

FOLDERS = lesson_folders(COURSE)
each_lesson = pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])


def test_the_course_comes_first_and_is_sorted_by_its_order() -> None:
    course = [*lessons().values()][: len(FOLDERS)]
    assert {lesson.name for lesson in course} == {folder.name for folder in FOLDERS}
    assert [lesson.order for lesson in course] == sorted({lesson.order for lesson in course})


@each_lesson
def test_a_lesson_has_no_mistakes(folder: Path) -> None:
    assert find_mistakes(folder) == []
    assert read_lesson(folder).texts.keys() >= {"en", "zh-hans"}


@pytest.mark.sampled
@pytest.mark.parametrize("folder", sample(FOLDERS), ids=lambda folder: folder.name)
def test_the_solutions_complete_the_lesson_on_a_sandbox(store: Store, worker: Process, folder: Path) -> None:
    lesson = read_lesson(folder)
    sandbox = start_own_lesson(store, lesson, new_learner())
    progress = evaluate.begin(lesson, sandbox.name, sandbox.meta().created, 0)
    for number, step in enumerate(lesson.steps):
        progress = evaluate.go_to_step(lesson, progress, number, 0)
        current = default_caches().read(sandbox.name)
        progress = evaluate.evaluate(lesson, progress, situation_of(current, progress), 0)
        assert progress.hint == "", "the step can be done"
        for action in step.solution:
            play_actions(sandbox, [action])
            current = default_caches().read(sandbox.name)
            progress = evaluate.evaluate(lesson, progress, situation_of(current, progress), 0)
        if step.question:
            progress = evaluate.guess(lesson, progress, step.question.right, 0)
        assert evaluate.is_step_complete(lesson, progress), (step.id, progress)
    assert evaluate.is_complete(lesson, progress)
    store.delete(sandbox.name)
