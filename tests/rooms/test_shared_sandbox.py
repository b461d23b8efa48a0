"""Only the teacher replaces the sandbox that a room shares: a member joins what is there."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from django.test import Client

from schedviz.lessons.learners import Learners
from schedviz.rooms.create_sandboxes import open_sandbox
from schedviz.rooms.learners import room_lessons
from schedviz.rooms.room import learner_id, sandbox_name
from schedviz.rooms.room_store import Rooms
from schedviz.store import Store
from tests.threads import THREADS, at_once
from tests.waiting import eventually

from .test_pages import browser, do, idle, join, text

FIRST, SECOND = [*room_lessons()][:2]


class Shared(NamedTuple):
    store: Store
    code: str
    teacher: Client

    @property
    def name(self) -> str:
        return sandbox_name(self.code, 0)

    def created(self) -> float:
        return self.store.sandbox(self.name).meta().created

    def choose(self, learner: Client, lesson: str) -> str:
        return learner.post(f"/rooms/{self.code}/me/", {"lesson": lesson}).headers["Location"]


@pytest.fixture
def open_room(store: Store) -> Iterator[Callable[[str], Shared]]:
    codes = []

    def open_for(what: str) -> Shared:
        teacher = browser()
        fields = {"what": what, "mode": "shared", "minutes": "60"}
        codes.append(teacher.post("/rooms/new/", fields).headers["Location"].split("/")[2])
        return Shared(store, codes[-1], teacher)

    yield open_for
    for name in store.names():
        if any(name.startswith(f"room-{code.lower()}-") for code in codes):
            store.delete(name)


@pytest.mark.parametrize("what", [f"lesson:{FIRST}", "course:", "scenario:online-vs-offline"])
def test_no_choice_of_a_member_replaces_what_is_there(open_room: Callable[[str], Shared], what: str) -> None:
    room = open_room(what)
    ada, bo = join(room.code, "Ada"), join(room.code, "Bo")
    room.choose(ada, FIRST)
    before = room.created()
    for lesson in (FIRST, SECOND, ""):
        for learner in (ada, bo):
            assert room.choose(learner, lesson) == f"/s/{room.name}/"
            assert room.created() == before, lesson
    assert join(room.code, "Cy").get(f"/s/{room.name}/").status_code == 200
    page = text(bo.get(f"/rooms/{room.code}/me/"))
    assert 'name="lesson"' not in page
    assert "Open the sandbox" in page
    if what != "scenario:online-vs-offline":
        progress = Learners(room.store.redis).progress(learner_id(room.code, 2), FIRST)
        assert progress
        assert progress.created == before, "Bo has joined the lesson that is there"


def test_only_the_teacher_starts_a_shared_scenario_over(open_room: Callable[[str], Shared]) -> None:
    room = open_room("scenario:online-vs-offline")
    ada, before = join(room.code, "Ada"), room.created
    created = before()
    assert "start-over/" not in text(ada.get(f"/s/{room.name}/"))
    refused = ada.post(f"/s/{room.name}/start-over/")
    assert refused.status_code == 403
    assert "Only the teacher" in text(refused)
    assert room.created() == created
    assert "start-over/" in text(room.teacher.get(f"/s/{room.name}/"))
    assert room.teacher.post(f"/s/{room.name}/start-over/").status_code == 302
    assert room.created() != created


def test_a_member_joins_the_lesson_that_the_teacher_replaced(open_room: Callable[[str], Shared]) -> None:
    room = open_room("course:")
    ada = join(room.code, "Ada")
    room.choose(ada, FIRST)
    first = room.created()
    do(room.teacher, room.code, "start", place=f"{SECOND}/0")
    eventually(lambda: idle(room.store, room.code))
    second = room.created()
    assert second != first
    room.choose(ada, FIRST)
    assert room.created() == second
    progress = Learners(room.store.redis).progress(learner_id(room.code, 1), SECOND)
    assert progress
    assert progress.created == second


@pytest.mark.parametrize("what", [f"lesson:{FIRST}", "course:", "scenario:online-vs-offline"])
def test_only_the_teacher_creates_the_sandbox_again_that_the_teacher_deleted(
    open_room: Callable[[str], Shared], what: str
) -> None:
    room = open_room(what)
    ada = join(room.code, "Ada")
    room.choose(ada, FIRST)
    assert room.teacher.post(f"/s/{room.name}/delete/").status_code == 302
    for path, fields in (
        (f"/rooms/{room.code}/me/", {}),
        (f"/rooms/{room.code}/me/", {"lesson": SECOND}),
        ("/sandboxes/", {"name": room.name, "scenario": "gang"}),
        ("/bring/", {"name": room.name, "do": "create", "text": "kind: Pod"}),
    ):
        assert ada.post(path, fields).status_code in (403, 409), path
        assert not room.store.exists(room.name), path
    bo = browser()
    refused = bo.post(f"/rooms/{room.code}/", {"name": "Bo"})
    assert "The teacher has deleted the sandbox of this room." in text(refused)
    do(room.teacher, room.code, "start", place=f"{FIRST}/0")
    eventually(lambda: idle(room.store, room.code))
    assert room.choose(ada, "") == room.choose(bo, "") == f"/s/{room.name}/"
    assert room.store.exists(room.name)
    branch = f"{room.name}-mine"
    assert ada.post("/sandboxes/", {"name": branch, "scenario": "gang"}).status_code == 302, "a copy"


def test_no_member_creates_the_shared_sandbox_from_anything_else(
    open_room: Callable[[str], Shared],
) -> None:
    """Also before the first of them has opened it."""
    room = open_room("scenario:online-vs-offline")
    rooms = Rooms(room.store)
    member, token = rooms.join(rooms.find(room.code), "Ada")
    ada = browser()
    ada.cookies[f"room-{room.code}"] = f"{member.number}-{token}"
    assert ada.post("/sandboxes/", {"name": room.name, "scenario": "gang"}).status_code == 403
    assert not room.store.exists(room.name)
    assert ada.post(f"/rooms/{room.code}/me/").headers["Location"] == f"/s/{room.name}/"


@pytest.mark.parametrize("step", [0, 1])
def test_members_who_come_first_together_get_one_sandbox(
    open_room: Callable[[str], Shared], step: int
) -> None:
    opened = open_room(f"lesson:{FIRST}")
    rooms = Rooms(opened.store)
    rooms.change(opened.code, lesson=FIRST, step=step)
    room = rooms.find(opened.code)
    for number in range(THREADS):
        rooms.join(room, f"learner {number}")

    def first(place: int) -> float:
        assert open_sandbox(opened.store, room, place + 1) == opened.name
        return opened.created()

    assert len({*at_once(first)}) == 1


def test_a_hint_in_a_shared_sandbox_says_who_restarts_the_step(open_room: Callable[[str], Shared]) -> None:
    """Learners have no button for that. The first step creates the pod without which the second one cannot be
    done."""
    room = open_room(f"lesson:{FIRST}")
    ada = join(room.code, "Ada")
    path = room.choose(ada, FIRST)
    for step in ("look", "create"):
        ada.post(f"{path}lesson/", {"step": step, "do": "next"})
    do(room.teacher, room.code, "step", place=f"{FIRST}/2")
    eventually(lambda: idle(room.store, room.code))
    said_to = {ada: "Only the teacher restarts the step", room.teacher: "Only you can restart the step"}
    for visitor, said in said_to.items():
        page = " ".join(text(visitor.get(path)).split())
        assert "The Pod <code>web</code>, which this step needs, does not exist" in page
        assert 'id="hint-restart"' not in page
        assert said in page


def test_an_act_that_shows_all_the_outcome_is_asked_about(open_room: Callable[[str], Shared]) -> None:
    """While somebody has not answered the question."""
    room = open_room("lesson:preemption")
    ada, bo = join(room.code, "Ada"), join(room.code, "Bo")
    path = f"/rooms/{room.code}/warning/"
    assert f'data-warning="{path}"' in text(ada.get(f"/s/{room.name}/"))
    assert browser().get(path).status_code == 403
    [asked] = [step for step in room_lessons()["preemption"].steps if step.question][:1]
    assert asked.question
    do(room.teacher, room.code, "step", place="preemption/1")
    eventually(lambda: idle(room.store, room.code))
    for learner, number in ((ada, 2), (bo, 1)):
        assert f"{number} learner" in text(room.teacher.get(path))
        answer = {"do": "guess", "step": asked.id, "pick": asked.question.right}
        assert (
            learner.post(f"/s/{room.name}/lesson/", answer, headers={"HX-Request": "true"}).status_code == 200
        )
    assert ada.get(path).status_code == 204
