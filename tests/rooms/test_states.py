"""States that a teacher puts into the learners' sandboxes: that of a step, and that of one sandbox."""

import csv
import io
import re
from collections.abc import Iterator

import pytest
from django.test import Client
from msgspec.structs import replace

from schedviz.lessons.learners import Learners
from schedviz.lessons.lesson import Lesson, Par
from schedviz.lessons.play import play_actions
from schedviz.lessons.progress import Guess, Progress
from schedviz.lessons.situation import Situation
from schedviz.rooms.learners import room_lessons, start_in_room
from schedviz.rooms.notice import room_notice
from schedviz.rooms.room import TEACHER, What, learner_id, sandbox_name
from schedviz.rooms.room_store import Rooms
from schedviz.rooms.work import find_work, short_work
from schedviz.store import Sandbox, Store
from tests.processes import Process
from tests.waiting import eventually

from .test_pages import browser, do, join, text

STEP = 3
"""A step of the lesson. Before it, the learner has created a pod that stays Pending."""


@pytest.fixture
def lesson() -> Lesson:
    return room_lessons()["preemption"]


@pytest.fixture
def teacher() -> Client:
    return browser()


@pytest.fixture(params=["own"])
def code(request: pytest.FixtureRequest, teacher: Client, store: Store) -> Iterator[str]:
    fields = {"what": "lesson:preemption", "mode": request.param, "title": "", "minutes": "60"}
    code = teacher.post("/rooms/new/", fields).headers["Location"].split("/")[2]
    yield code
    eventually(lambda: find_work(store, code) is None)
    for name in store.names():
        if name.startswith(f"room-{code.lower()}-"):
            store.delete(name)


def outcome(teacher: Client, code: str) -> str:
    """What the teacher's view says about the last act for all."""
    found = re.search(r'<p id="work"[^>]*>(.*?)</p>', text(teacher.get(f"/rooms/{code}/teach/")), re.DOTALL)
    assert found
    return found[1].strip()


def put(teacher: Client, store: Store, code: str, act: str, **fields: str) -> str:
    """Return the message of the page, after the work is finished."""
    said = do(teacher, code, act, **fields)
    eventually(lambda: find_work(store, code) is None)
    return said or outcome(teacher, code)


def shown(sandbox: Sandbox) -> tuple[object, ...]:
    """What conditions see of a sandbox."""
    found = Situation(sandbox, {})
    done = [each["type"] for each in found.trace if each["type"] not in ("LeaderElected", "QueueMoved")]
    queue = {pod: (each.lane, each.attempts) for pod, each in sandbox.queue_places().items()}
    return found.bound, found.waiting, queue, done, found.edits, found.seconds


def progress(store: Store, code: str, number: int) -> object:
    found = Learners(store.redis).progress(learner_id(code, number), "preemption")
    assert found
    assert found.created == store.sandbox(found.sandbox).meta().created
    return found.step


def test_the_prepared_state_of_a_step_is_that_after_the_solutions_before_it(
    code: str, teacher: Client, store: Store, worker: Process, lesson: Lesson
) -> None:
    join(code, "Ada")
    by_hand = store.sandbox(sandbox_name(code, 1))
    for each in lesson.steps[:STEP]:
        play_actions(by_hand, each.solution)
    wanted = shown(by_hand)
    bo = join(code, "Bo")
    before = [store.sandbox(sandbox_name(code, number)).meta().created for number in (1, 2)]
    said = put(teacher, store, code, "step", place=f"preemption/{STEP}", sandboxes="prepared")
    assert said.startswith(f"2 learners were moved to step {STEP + 1}:")
    join(code, "Cy")  # who joins later begins there, too
    for number in (1, 2, 3):
        sandbox = store.sandbox(sandbox_name(code, number))
        eventually(lambda made=sandbox: shown(made) == wanted, "the queue of the new leader")
        assert sandbox.clock().paused
        assert sandbox.meta().created not in before
        assert progress(store, code, number) == STEP
    assert lesson.text("en").steps[lesson.steps[STEP].id].title in text(
        bo.get(f"/s/{sandbox_name(code, 2)}/")
    )
    # The rest of the lesson works in it.
    for each in lesson.steps[STEP:]:
        play_actions(store.sandbox(sandbox_name(code, 2)), each.solution)


def test_setting_only_a_step_keeps_the_sandboxes(code: str, teacher: Client, store: Store) -> None:
    join(code, "Ada")
    before = store.sandbox(sandbox_name(code, 1)).meta()
    put(teacher, store, code, "step", place=f"preemption/{STEP}", sandboxes="")
    assert store.sandbox(sandbox_name(code, 1)).meta() == before
    assert progress(store, code, 1) == STEP


@pytest.mark.parametrize("act", ["step", "state", "stay"])
def test_progress_is_kept_only_with_the_sandbox_or_of_earlier_steps(
    code: str, teacher: Client, store: Store, lesson: Lesson, act: str
) -> None:
    join(code, "Ada")
    opened = teacher.post(f"/rooms/{code}/teach/own/").headers["Location"]
    first = lesson.steps[0]
    teacher.post(f"{opened}lesson/", {"do": "next", "step": first.id})
    learners, learner = Learners(store.redis), learner_id(code, 1)
    names = {step.id: {f"{step.id}/{check.id}" for check in step.checks} for step in lesson.steps}
    best = Par(victims=1, nodes=2, edits=3)

    def finish(progress: Progress) -> Progress:
        return replace(
            progress,
            step=len(lesson.steps) - 1,
            passed=frozenset().union(*names.values()),
            guesses={step.id: Guess([], right=False) for step in lesson.steps if step.question},
            solved=frozenset(names),
            finished=1.0,
            best=best,
        )

    whole = learners.update(learner, lesson, finish)
    asked = f"{lesson.name}/{[step.id for step in lesson.steps if step.question][-1]}"
    do(teacher, code, f"reveal {asked}")
    assert Rooms(store).find(code).revealed == asked
    if act == "state":
        step = 1
        put(teacher, store, code, "state", source=str(TEACHER))
    else:
        step = STEP
        prepared = "prepared" if act == "step" else ""
        put(teacher, store, code, "step", place=f"{lesson.name}/{step}", sandboxes=prepared)
    after = learners.progress(learner, lesson.name)
    assert after
    assert after.best == best
    if act == "stay":
        assert (after.passed, after.guesses, after.solved) == (whole.passed, whole.guesses, whole.solved)
        assert Rooms(store).find(code).revealed == asked
        return
    before = {each.id for each in lesson.steps[:step]}
    assert after.passed == {check for each in before for check in names[each]}
    assert {*after.guesses} == before & {*whole.guesses}
    assert after.solved == before
    assert not after.finished
    assert Rooms(store).find(code).revealed == ""
    line = next(csv.DictReader(io.StringIO(text(teacher.get(f"/rooms/{code}/teach/results.csv")))))
    assert (line["finished"], line["best_victims"]) == ("no", "1")


@pytest.mark.parametrize("code", ["shared"], indirect=True)
def test_a_shared_sandbox_gets_the_state_once(code: str, teacher: Client, store: Store) -> None:
    join(code, "Ada")
    join(code, "Bo")
    put(teacher, store, code, "step", place=f"preemption/{STEP}", sandboxes="prepared")
    assert [progress(store, code, number) for number in (1, 2)] == [STEP, STEP]
    assert Situation(store.sandbox(sandbox_name(code, 0)), {}).edits == 1


def test_the_teachers_own_state_is_put_into_all(
    code: str, teacher: Client, store: Store, worker: Process, lesson: Lesson
) -> None:
    ada, bo = join(code, "Ada"), join(code, "Bo")
    opened = teacher.post(f"/rooms/{code}/teach/own/").headers["Location"]
    assert opened == f"/s/{sandbox_name(code, TEACHER)}/"
    assert "your own sandbox" in text(teacher.get(opened))
    assert ada.get(opened).status_code == 403
    own = store.sandbox(sandbox_name(code, TEACHER))
    for each in lesson.steps[:STEP]:
        play_actions(own, each.solution)
    teacher.post(f"{opened}lesson/", {"do": "next", "step": lesson.steps[0].id})
    wanted = shown(own)
    for _ in range(2):  # each time the learners' pages are loaded again
        before = [room_notice(Rooms(store), sandbox_name(code, number), "teacher") for number in (1, 2)]
        said = put(teacher, store, code, "state", source=str(TEACHER))
        assert said.startswith("2 learners were moved to step 2:")
        for number, notice in enumerate(before, 1):
            sandbox = store.sandbox(sandbox_name(code, number))
            eventually(lambda made=sandbox: shown(made) == wanted, "the queue of the new leader")
            after = room_notice(Rooms(store), sandbox.name, "teacher")
            assert after
            assert notice
            assert after.created != notice.created
            assert after.created == repr(sandbox.meta().created)
            assert progress(store, code, number) == 1
    assert bo.get(f"/s/{sandbox_name(code, 2)}/").status_code == 200


def test_a_learners_state_is_put_into_the_others(code: str, teacher: Client, store: Store) -> None:
    for name in ("Ada", "Bo"):
        join(code, name)
    before = store.sandbox(sandbox_name(code, 1)).meta()
    put(teacher, store, code, "state", source="1")
    assert store.sandbox(sandbox_name(code, 1)).meta() == before
    assert int(store.sandbox(sandbox_name(code, 2)).meta().created) == int(before.created)
    assert progress(store, code, 2) == 0


@pytest.mark.parametrize("step", ["", "x", "99", "0009", "1" * 5000])
def test_a_step_that_is_not_there_cannot_be_set(code: str, teacher: Client, step: str) -> None:
    join(code, "Ada")
    assert do(teacher, code, "step", place=f"preemption/{step}") == "Choose a step."


@pytest.mark.parametrize("source", ["", "x", "7", "0017", "1" * 5000, str(TEACHER)])
def test_a_sandbox_that_is_not_there_cannot_be_put_into_all(code: str, teacher: Client, source: str) -> None:
    join(code, "Ada")
    assert do(teacher, code, "state", source=source) == "Choose a sandbox."


def test_the_state_of_a_scenario_is_put_into_all(teacher: Client, store: Store) -> None:
    fields = {"what": "scenario:online-vs-offline", "mode": "own", "title": "", "minutes": "60"}
    code = teacher.post("/rooms/new/", fields).headers["Location"].split("/")[2]
    join(code, "Ada")
    assert teacher.post(f"/rooms/{code}/teach/own/").status_code == 302
    assert (
        put(teacher, store, code, "state", source=str(TEACHER)) == "All learners get a copy of the sandbox."
    )
    assert store.sandbox(sandbox_name(code, 1)).clock().paused
    for number in (1, TEACHER):
        store.delete(sandbox_name(code, number))


def test_a_course_without_a_lesson_has_no_sandbox_of_the_teacher(teacher: Client, store: Store) -> None:
    room, token = Rooms(store).create("Course", What("course"), "own", 3600)
    teacher.cookies[f"teach-{room.code}"] = token
    answer = teacher.post(f"/rooms/{room.code}/teach/own/", follow=True)
    assert "Choose a lesson." in text(answer)


def test_a_learner_who_begins_at_a_step_gets_its_state(store: Store, lesson: Lesson) -> None:
    rooms = Rooms(store)
    room, _ = rooms.create("Monday", What("lesson", lesson.name), "own", 3600)
    rooms.change(room.code, step=STEP)
    sandbox = start_in_room(store, rooms.find(room.code), 1, lesson)
    assert Situation(sandbox, {}).edits == 1
    store.delete(sandbox.name)


@pytest.mark.parametrize(
    ("act", "fields"),
    [
        ("pause", {}),
        ("start", {"place": "taints/0"}),
        ("step", {"place": f"preemption/{STEP}", "sandboxes": ""}),
        ("step", {"place": f"preemption/{STEP}", "sandboxes": "prepared"}),
    ],
)
def test_an_act_that_must_wait_changes_nothing(
    code: str, teacher: Client, store: Store, act: str, fields: dict[str, str]
) -> None:
    join(code, "Ada")
    room, made = Rooms(store).find(code), store.sandbox(sandbox_name(code, 1)).read_clock()[0]
    with short_work(store, code, "delete", 1):
        assert do(teacher, code, act, **fields) == "Wait until the work on the sandboxes is finished."
        assert Rooms(store).find(code) == room
    assert store.sandbox(sandbox_name(code, 1)).read_clock()[0] == made
