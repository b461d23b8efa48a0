"""Who is in a room: the teacher renames and merges learners, and gives a class list."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client

from schedviz.lessons.learners import Learners
from schedviz.rooms.room import MEMBERS_AT_MOST, learner_id, sandbox_name
from schedviz.rooms.room_store import Rooms
from schedviz.store import Store

from .test_course_room import HTMX, row
from .test_pages import browser, do, join, open_room, text


@pytest.fixture
def teacher() -> Client:
    return browser()


@pytest.fixture
def code(teacher: Client, store: Store) -> Iterator[str]:
    yield from open_room(teacher, store, "lesson:preemption")


def names(store: Store, code: str) -> list[str]:
    return [each.name for each in Rooms(store).read(code).members]


def test_the_teacher_renames_a_learner(code: str, teacher: Client, store: Store) -> None:
    join(code, "rude"), join(code, "Bo")
    assert do(teacher, code, "rename", to="1", name="  Ada ") == "rude is now called Ada."
    assert do(teacher, code, "rename", to="1", name="bo") == "Ada is now called bo 2."
    assert do(teacher, code, "rename", to="1", name="BO 2") == "bo 2 is now called BO 2."
    assert names(store, code) == ["BO 2", "Bo"]
    assert do(teacher, code, "rename", to="1", name=" ") == "Enter a name."
    assert do(teacher, code, "rename", to="7", name="x") == "Choose a learner."
    join(code, "rude")
    assert names(store, code)[2] == "rude", "the name is free"


def test_a_learner_who_joined_twice_is_one_again(code: str, teacher: Client, store: Store) -> None:
    """Both browsers, and both personal links, are those of the learner who stays."""
    phone, laptop, other = join(code, "Ada"), join(code, "Ada"), join(code, "Cy")
    panel = f"/s/{sandbox_name(code, 1)}/lesson/"
    phone.post(panel, {"do": "next", "step": "look"}, headers=HTMX)
    link = re.search(rf"(/rooms/{code}/me/2-[-\w]+/)", text(laptop.get(f"/rooms/{code}/me/")))
    assert link
    assert do(teacher, code, "merge", to="1", into="1") == "Choose two learners."
    assert do(teacher, code, "merge", to="2", into="1") == "Ada 2 is now Ada."
    assert names(store, code) == ["Ada", "Cy"]
    assert not store.exists(sandbox_name(code, 2))
    assert "You are Ada." in text(laptop.get(f"/rooms/{code}/me/"))
    assert laptop.get(f"/s/{sandbox_name(code, 1)}/").status_code == 200
    assert "step 2 of" in text(laptop.get(panel))
    assert "2/5" in row(teacher, code, 1)
    assert browser().get(link[1]).status_code == 302
    # The learner who stays goes into another one, and then leaves: no token opens what is another's place.
    do(teacher, code, "merge", to="1", into="3")
    assert "You are Cy." in text(laptop.get(f"/rooms/{code}/me/"))
    do(teacher, code, "remove", to="3")
    join(code, "Di"), join(code, "El"), join(code, "Fi")
    for gone in (phone, laptop, other):
        assert gone.get(f"/rooms/{code}/me/").status_code == 302
        assert "the teacher has removed you" in text(gone.get(f"/rooms/{code}/"))


def test_a_merge_adds_what_only_the_other_has_begun(code: str, teacher: Client, store: Store) -> None:
    join(code, "Ada"), join(code, "Ada")
    learners = Learners(store.redis)
    begun = learners.progress(learner_id(code, 2), "preemption")
    learners.forget([learner_id(code, 1)])
    do(teacher, code, "merge", to="2", into="1")
    assert learners.progress(learner_id(code, 1), "preemption") == begun
    assert learners.progress(learner_id(code, 2), "preemption") is None


def test_learners_choose_from_a_class_list(code: str, teacher: Client, store: Store) -> None:
    assert do(teacher, code, "class", names="Ada\n\n Bo <i> \nada\n") == "Learners choose from 2 names."
    page = text(browser().get(f"/rooms/{code}/"))
    assert re.findall(r"<option>([^<]*(?:<i>)?)</option>", page) == ["ada", "Bo <i>"]
    learner = browser()
    assert learner.post(f"/rooms/{code}/", {"chosen": "", "name": ""}).status_code == 422
    learner.post(f"/rooms/{code}/", {"chosen": "Bo <i>", "name": ""})
    browser().post(f"/rooms/{code}/", {"chosen": "", "name": "Cy"})
    assert names(store, code) == ["Bo <i>", "Cy"]
    assert re.findall(r"<option>([^<]*)</option>", text(browser().get(f"/rooms/{code}/"))) == ["ada"]
    assert "Bo &lt;i&gt;" in teacher.get(f"/rooms/{code}/teach/").content.decode()
    many = "\n".join(map(str, range(MEMBERS_AT_MOST + 1)))
    assert do(teacher, code, "class", names=many) == "A class list has at most 110 names."
    assert do(teacher, code, "class", names="") == "Learners type their names."
    assert 'id="chosen"' not in text(browser().get(f"/rooms/{code}/"))


def test_a_learner_who_returns_by_the_personal_link_continues(code: str, store: Store) -> None:
    first = join(code, "Ada")
    panel = f"/s/{sandbox_name(code, 1)}/lesson/"
    first.post(panel, {"do": "next", "step": "look"}, headers=HTMX)
    before = Learners(store.redis).progress(learner_id(code, 1), "preemption")
    link = re.search(rf"(/rooms/{code}/me/1-[-\w]+/)", text(first.get(f"/rooms/{code}/me/")))
    assert link
    again = browser()
    again.get(link[1])
    assert again.post(f"/rooms/{code}/me/").headers["Location"] == f"/s/{sandbox_name(code, 1)}/"
    assert Learners(store.redis).progress(learner_id(code, 1), "preemption") == before
