"""A room for the whole course: a learner goes from one lesson to the next."""

import csv
import io
import re
from collections.abc import Iterator

import pytest
from django.test import Client

from schedviz.lessons.lesson import Lesson
from schedviz.rooms.learners import room_lessons
from schedviz.rooms.room import sandbox_name
from schedviz.store import Store
from tests.processes import Process

from .test_pages import browser, join, open_room, text

HTMX = {"HX-Request": "true"}


@pytest.fixture
def teacher() -> Client:
    return browser()


@pytest.fixture
def code(teacher: Client, store: Store) -> Iterator[str]:
    yield from open_room(teacher, store, "course:")


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).strip()


def row(teacher: Client, code: str, number: int) -> str:
    """The words of a learner's line in the teacher's view."""
    found = re.search(rf'<tr id="m-{number}".*?</tr>', text(teacher.get(f"/rooms/{code}/teach/")), re.DOTALL)
    assert found
    return words(found[0])


def lesson_row(learner: Client, code: str, lesson: str) -> str:
    """The words of a lesson's line on the learner's own page."""
    page = text(learner.get(f"/rooms/{code}/me/"))
    return next(words(each) for each in re.findall(r"<li>.*?</li>", page, re.DOTALL) if f'"{lesson}"' in each)


def finish(learner: Client, code: str, lesson: Lesson) -> None:
    """Go through a lesson: the right guesses, and the solutions."""
    path = f"/s/{sandbox_name(code, 1)}/lesson/"

    def post(do: str, step: str, **fields: list[str]) -> None:
        answer = learner.post(path, {"do": do, "step": step, **fields}, headers=HTMX)
        assert answer.status_code == 200, answer.content

    for step in lesson.steps:
        if step.question:
            post("guess", step.id, pick=step.question.right)
        if step.solution:
            post("solution", step.id)
        if step is not lesson.steps[-1]:
            post("next", step.id)


def test_a_learner_goes_from_one_lesson_to_the_next(
    code: str, teacher: Client, store: Store, worker: Process
) -> None:
    first, second = list(room_lessons().values())[:2]
    learner = browser()
    own = f"/rooms/{code}/me/"
    # The learner chooses the lesson, unless the teacher has opened one for all.
    assert learner.post(f"/rooms/{code}/", {"name": "Ada"}).headers["Location"] == own
    waiting = join(code, "Bo")
    assert "finished" not in lesson_row(learner, code, first.name)

    sandbox = f"/s/{sandbox_name(code, 1)}/"
    assert learner.post(own, {"lesson": first.name}).headers["Location"] == sandbox
    assert f"1/{len(first.steps)} {first.text('en').steps[first.steps[0].id].title}" in row(teacher, code, 1)
    finish(learner, code, first)
    panel = text(learner.get(f"{sandbox}lesson/"))
    assert 'id="lesson-end"' in panel
    assert f'href="{own}"' in panel
    assert f"{len(first.steps)}/{len(first.steps)}" in row(teacher, code, 1)
    assert row(teacher, code, 1).count("finished") == 1
    assert "finished" in lesson_row(learner, code, first.name)

    before = store.sandbox(sandbox_name(code, 1)).meta()
    assert learner.post(own, {"lesson": second.name}).headers["Location"] == sandbox
    assert store.sandbox(sandbox_name(code, 1)).meta().created != before.created
    title = second.text("en").steps[second.steps[0].id].title
    assert title in text(learner.get(sandbox))
    shown = row(teacher, code, 1)
    assert f"1/{len(second.steps)} {title}" in shown
    assert second.text("en").title in shown
    assert "finished" not in shown
    learner.post(f"{sandbox}lesson/", {"do": "next", "step": second.steps[0].id}, headers=HTMX)
    assert f"2/{len(second.steps)}" in row(teacher, code, 1)
    # Open leads back to the lesson in which the learner is, as it was left.
    assert learner.post(own, {"lesson": second.name}).headers["Location"] == sandbox
    assert f"2/{len(second.steps)}" in row(teacher, code, 1)
    assert "begun" in lesson_row(learner, code, second.name)

    file = teacher.get(f"/rooms/{code}/teach/results.csv").content.decode("utf-8-sig")
    lines = [
        (each["name"], each["lesson"], each["step"], each["finished"])
        for each in csv.DictReader(io.StringIO(file))
    ]
    assert lines == [
        ("Ada", first.name, str(len(first.steps)), "yes"),
        ("Ada", second.name, "2", "no"),
        ("Bo", "", "", ""),
    ]
    assert waiting.get(own).status_code == 200
