"""Lessons in rooms: what the teacher sees, who may show the solution, and the best result of a level."""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

import pytest
from django.test import Client
from msgspec.structs import replace

from schedviz.api import removal
from schedviz.lessons.catalogue import lessons
from schedviz.lessons.learners import Learners
from schedviz.lessons.lesson import Par
from schedviz.rooms.room import learner_id
from schedviz.store import Store
from tests.processes import Process

NAME = "pending"
HTMX = {"HX-Request": "true"}


def browser() -> Client:
    return Client(headers={"host": "localhost"})


class Room(NamedTuple):
    code: str
    teacher: Client
    learner: Client
    path: str
    """The name of the learner's sandbox."""

    @property
    def id(self) -> str:
        return learner_id(self.code, 1)

    def look(self, client: Client) -> str:
        return words(client.get(f"{self.path}lesson/").content)

    def do(self, client: Client, do: str, step: str, **fields: str) -> tuple[int, str]:
        answer = client.post(f"{self.path}lesson/", {"do": do, "step": step, **fields}, headers=HTMX)
        return answer.status_code, words(answer.content)


def words(html: bytes) -> str:
    return re.sub(r"\s+", " ", unescape(html.decode()))


@pytest.fixture
def opened(store: Store, request: pytest.FixtureRequest) -> Iterator[Room]:
    teacher, learner = browser(), browser()
    fields = {"what": f"lesson:{NAME}", "mode": request.param, "minutes": "60"}
    code = teacher.post("/rooms/new/", fields).headers["Location"].split("/")[2]
    path = learner.post(f"/rooms/{code}/", {"name": "Ada"}).headers["Location"]
    yield Room(code, teacher, learner, path)
    for name in store.names():
        if name.startswith(f"room-{code.lower()}-"):
            store.delete(name)


own = pytest.mark.parametrize("opened", ["own"], indirect=True)
shared = pytest.mark.parametrize("opened", ["shared"], indirect=True)


@own
def test_the_teacher_sees_the_learners_panel_and_changes_nothing_in_it(opened: Room) -> None:
    opened.do(opened.learner, "next", "look")
    asked = opened.look(opened.teacher)
    assert "step 2 of 4" in asked
    assert "You see what the learner sees." in asked
    assert re.search(r"<fieldset disabled", asked)
    assert "<button" not in asked
    assert 'class="moves"' not in asked
    opened.do(opened.learner, "guess", "predict", pick="fits")
    assert "your answer, wrong" in opened.look(opened.teacher)
    page = words(opened.teacher.get(opened.path).content)
    assert 'id="lesson-watched"' in page
    assert 'hx-trigger="ask, every 3s"' in page
    assert f'href="/rooms/{opened.code}/teach/"' in opened.look(opened.teacher)
    for act in ("guess", "next", "back", "undo", "reset", "solution"):
        status, said = opened.do(opened.teacher, act, "predict", pick="pending")
        assert status == 400, act
        assert "Only the learner can do this." in said or "Only the teacher" in said
    answer = opened.teacher.post(f"{opened.path}lesson/share/")
    assert answer.status_code == 404
    assert "step 2 of 4" in opened.look(opened.learner)


@own
def test_the_teachers_view_of_a_learner_stores_nothing(opened: Room, store: Store) -> None:
    before = Learners(store.redis).progress(opened.id, NAME)
    opened.look(opened.teacher)
    opened.teacher.get(opened.path)
    assert Learners(store.redis).progress(opened.id, NAME) == before


@shared
def test_only_the_teacher_shows_the_solution_in_a_shared_sandbox(
    opened: Room, store: Store, worker: Process
) -> None:
    for step in ("look", "predict"):
        opened.do(opened.learner, "next", step)
    seen = opened.look(opened.learner)
    assert 'id="lesson-solve"' not in seen
    assert "Only the teacher shows the solution, because all share this sandbox." in seen
    status, said = opened.do(opened.learner, "solution", "create")
    assert (status, said) == (400, "Only the teacher shows the solution, because all share this sandbox.")
    assert store.sandbox(opened.path.split("/")[2]).get("pods", "default/web") is None

    opened.teacher.post(f"/rooms/{opened.code}/teach/do/", {"do": "step", "place": f"{NAME}/2"})
    panel = opened.look(opened.teacher)
    assert "This is the step that you have set." in panel
    assert 'id="lesson-solve"' in panel
    assert 'id="lesson-next"' not in panel
    assert opened.do(opened.teacher, "solution", "create")[0] == 200
    assert store.sandbox(opened.path.split("/")[2]).get("pods", "default/web")
    assert 'data-goals="2/2"' in opened.look(opened.learner)


@own
def test_starting_over_keeps_the_best_result_in_the_table_and_the_file(opened: Room, store: Store) -> None:
    best = Par(victims=2, edits=1)
    Learners(store.redis).update(
        opened.id, lessons()[NAME], lambda each: replace(each, best=best, finished=1.0)
    )
    removal.delete(store.sandbox(opened.path.split("/")[2]), "pods", "default/batch")
    opened.do(opened.learner, "reset", "look")
    again = Learners(store.redis).progress(opened.id, NAME)
    assert again
    assert (again.best, again.finished) == (best, 0.0)
    table = words(opened.teacher.get(f"/rooms/{opened.code}/teach/").content)
    assert "pods evicted: 2 (par 1)" in table
    assert "changed objects: 1 (par 2) ✓" in table
    file = opened.teacher.get(f"/rooms/{opened.code}/teach/results.csv").content.decode().splitlines()
    assert file[0].endswith("finished,best_victims,best_nodes,best_edits")
    assert file[1].endswith("no,2,,1")


@own
def test_the_projector_shows_the_progress_of_the_learner_whose_sandbox_it_shows(opened: Room) -> None:
    def projector() -> str:
        page = words(opened.teacher.get(f"/rooms/{opened.code}/projector/").content)
        return page.partition('id="shown-step"')[2].partition('id="shown"')[0]

    opened.do(opened.learner, "next", "look")
    opened.do(opened.learner, "guess", "predict", pick="fits")
    assert "step" not in projector()
    opened.teacher.post(f"/rooms/{opened.code}/teach/do/", {"do": "show 1"})
    seen = projector()
    assert "step 2 of 4: What happens?" in seen
    assert "Checks 0/3" in seen
    assert "On <code>node-1</code>" in seen
    assert "✕" in seen
    opened.do(opened.learner, "next", "predict")
    assert "node-1" not in projector(), "only the answer of the present step"
    results = words(opened.teacher.get(f"/rooms/{opened.code}/teach/results/").content)
    assert "1 of 1 answered · 0 right" in re.sub(r"</?b>", "", results)
    file = opened.teacher.get(f"/rooms/{opened.code}/teach/questions.csv").content.decode("utf-8-sig")
    assert f"{NAME},predict,fits,no,1,1,0,1" in file.splitlines()
