"""A rehearsal: simulated learners join a room, act as the teacher lets them, and are removed by one click."""

from collections.abc import Iterator

import pytest
from django.test import Client

from schedviz.lessons.learners import Learners
from schedviz.rooms import rehearsal
from schedviz.rooms.rehearsal import LEARNERS, LOCK, REHEARSAL_SECONDS, Rehearsal
from schedviz.rooms.room import learner_id, sandbox_name
from schedviz.rooms.room_store import Rooms
from schedviz.store import Store
from schedviz.web.rooms import rehearse
from tests.waiting import eventually

from .test_pages import browser, do, idle, join, open_room, text


@pytest.fixture
def teacher() -> Client:
    return browser()


@pytest.fixture
def code(teacher: Client, store: Store) -> Iterator[str]:
    yield from open_room(teacher, store, "lesson:walk")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The rooms for which a process was started, which is not."""
    found: list[str] = []
    monkeypatch.setattr(rehearse, "start_process", lambda code, language: found.append(code))
    monkeypatch.setattr(rehearsal, "play_actions", lambda sandbox, actions: None)  # there is no worker
    return found


def simulated(store: Store, code: str, count: int = 2) -> Rehearsal:
    return Rehearsal(store, code, "Simulated {}".format, 0.0, count=count)


def test_a_rehearsal_begins_and_is_removed_by_one_click(
    code: str, teacher: Client, store: Store, started: list[str]
) -> None:
    page = f"/rooms/{code}/teach/"
    assert f"Rehearse with {LEARNERS} simulated learners" in text(teacher.get(page))
    assert do(teacher, code, "rehearse on") == "The simulated learners will join within a minute."
    assert started == [code]
    class_ = simulated(store, code)
    for now in range(100):
        assert class_.turn(float(now))
    seen = Rooms(store).read(code)
    assert [each.name for each in seen.members] == ["Simulated 1", "Simulated 2"]
    assert seen.simulated == {1, 2}
    assert seen.is_online(1)
    assert "Rehearsal: 2 learners are simulated." in text(teacher.get(page))
    assert "2 of 2 answered" in " ".join(text(teacher.get(page)).split())
    join(code, "Ada")
    assert do(teacher, code, "rehearse off") == "The simulated learners are being removed."
    eventually(lambda: idle(store, code) and not Rooms(store).read(code).simulated)
    assert [each.name for each in Rooms(store).read(code).members] == ["Ada"]
    assert sandbox_name(code, 1) not in store.names()
    assert not class_.turn(101.0)


def test_simulated_learners_wait_as_others_do(
    code: str, teacher: Client, store: Store, started: list[str]
) -> None:
    do(teacher, code, "rehearse on")
    do(teacher, code, "collect on")
    class_, learners = simulated(store, code), Learners(store.redis)
    for now in range(100):
        assert class_.turn(float(now))
    progress = learners.progress(learner_id(code, 1), "walk")
    assert progress
    assert (progress.step, progress.guesses["predict"].collected) == (1, True), "until the answer is revealed"
    do(teacher, code, "discuss on")
    do(teacher, code, "reveal walk/predict")
    for now in range(100, 160):
        assert class_.turn(float(now))
    assert learners.progress(learner_id(code, 1), "walk") == progress, "the teacher talks"
    assert not class_.turn(REHEARSAL_SECONDS + 1)
    class_.end()
    assert sandbox_name(code, 1) not in store.names()
    assert "The rehearsal is over; 2 learners were simulated." in text(teacher.get(f"/rooms/{code}/teach/"))


def test_nobody_rehearses_in_a_class_or_beside_another_rehearsal(
    code: str, teacher: Client, store: Store, started: list[str]
) -> None:
    store.redis.set(LOCK, "another")
    try:
        assert do(teacher, code, "rehearse on").startswith("Another rehearsal runs on this server.")
        Rooms(store).change(code, rehearsing=True)
        simulated(store, code).run()
        assert Rooms(store).read(code).members == []
    finally:
        store.redis.delete(LOCK)
    join(code, "Ada")
    assert do(teacher, code, "rehearse on") == "Rehearse in a room of your own, which nobody has joined."
    assert "simulated" not in text(teacher.get(f"/rooms/{code}/teach/"))
    assert started == []


@pytest.mark.long
def test_simulated_learners_finish_a_lesson_on_the_real_worker(
    code: str, teacher: Client, store: Store, stack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "SLOW", 0.0)
    Rooms(store).change(code, rehearsing=True)
    class_, now = simulated(store, code), iter(range(10_000))

    def finished() -> bool:
        assert class_.turn(float(next(now)))
        return text(teacher.get(f"/rooms/{code}/teach/")).count("✓ finished") == 2

    eventually(finished)
