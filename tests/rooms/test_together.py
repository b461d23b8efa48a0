"""The class works together: set for all, collect and reveal, lock, discussion, and what learners say."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client

from schedviz.lessons.learners import Learners
from schedviz.lessons.lesson import Lesson
from schedviz.rooms import work
from schedviz.rooms.learners import room_lessons
from schedviz.rooms.notice import room_notice
from schedviz.rooms.room import learner_id, sandbox_name
from schedviz.rooms.room_store import HINTS_AT_MOST, Rooms
from schedviz.rooms.work import find_work
from schedviz.store import Store
from schedviz.web.rooms import acts, plan
from simulator.apiserver.status import TooManyRequests
from tests.waiting import eventually

from .test_course_room import HTMX, row
from .test_pages import browser, do, join, open_room, text
from .test_states import outcome, put


@pytest.fixture
def teacher() -> Client:
    return browser()


@pytest.fixture
def lesson() -> Lesson:
    return room_lessons()["preemption"]


@pytest.fixture(params=["course:"])
def code(request: pytest.FixtureRequest, teacher: Client, store: Store) -> Iterator[str]:
    yield from open_room(teacher, store, request.param)


in_lesson = pytest.mark.parametrize("code", ["lesson:preemption"], indirect=True)


def panel(learner: Client, code: str, number: int = 1) -> str:
    return " ".join(text(learner.get(f"/s/{sandbox_name(code, number)}/lesson/")).split())


def act(learner: Client, code: str, step: str, act: str, number: int = 1, **fields: object) -> int:
    path = f"/s/{sandbox_name(code, number)}/lesson/"
    answer = learner.post(path, {"do": act, "step": step, **fields}, headers=HTMX)
    return answer.status_code


def test_all_are_set_to_one_step_of_one_lesson_wherever_they_are(
    code: str, teacher: Client, store: Store, lesson: Lesson
) -> None:
    """In another lesson, on the list of lessons, away, or not here yet."""
    here, waiting = join(code, "here"), browser()
    waiting.post(f"/rooms/{code}/", {"name": "on the list"})
    here.post(f"/rooms/{code}/me/", {"lesson": next(iter(room_lessons()))})
    Rooms(store).note_connected(code, 1)
    place = f"/rooms/{code}/me/place/"
    shown = re.search(rf'hx-get="({place}\?placed=[\d.]+)"', text(waiting.get(f"/rooms/{code}/me/")))
    assert shown
    assert waiting.get(shown[1]).status_code == 204
    assert Rooms(store).read(code).is_online(2)
    said = put(teacher, store, code, "step", place=f"{lesson.name}/2", sandboxes="")
    title = lesson.text("en").steps[lesson.steps[2].id].title
    assert said == f"2 learners were moved to step 3: {title}. Who joins later begins there."
    assert waiting.get(shown[1]).headers["HX-Redirect"] == f"/s/{sandbox_name(code, 2)}/"
    late = browser()
    assert (
        late.post(f"/rooms/{code}/", {"name": "late"}).headers["Location"] == f"/s/{sandbox_name(code, 3)}/"
    )
    for number in (1, 2, 3):
        assert f"3/{len(lesson.steps)} {title}" in row(teacher, code, number)
    # The page that was loaded since stays.
    again = re.search(rf'hx-get="({place}[^"]*)"', text(waiting.get(f"/rooms/{code}/me/")))
    assert again
    assert waiting.get(again[1]).status_code == 204


def test_the_teacher_reads_who_was_not_moved_and_why(
    code: str, teacher: Client, store: Store, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = [browser() for _ in range(2)]
    for learner, name in zip(waiting, ("Ada", "Bo"), strict=True):
        learner.post(f"/rooms/{code}/", {"name": name})
    moved = acts.set_step

    def refuse(store: Store, room: object, number: int, *place: object) -> None:
        if number == 2:
            raise TooManyRequests("too many sandboxes")
        moved(store, room, number, *place)  # type: ignore[arg-type]

    monkeypatch.setattr(acts, "set_step", refuse)
    said = put(teacher, store, code, "step", place=f"{lesson.name}/1", sandboxes="")
    assert said.startswith("1 learner was moved to step 2:")
    assert "Not here at that moment: Ada." in said
    assert "Not moved: Bo (too many sandboxes)." in said
    chinese = text(teacher.get(f"/rooms/{code}/teach/", headers={"Accept-Language": "zh-hans"}))
    assert "Bo\uff08too many sandboxes\uff09" in chinese
    assert "Not moved" not in chinese


@in_lesson
def test_learners_in_the_lesson_are_moved_together_before_the_answer(
    code: str, teacher: Client, store: Store, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the section of a plan as by itself; their pages are told once, when all are there."""
    said = put(teacher, store, code, "step", place=f"{lesson.name}/0", sandboxes="")
    assert said.startswith("Who joins begins at step 1:")
    for name in ("Ada", "Bo"):
        join(code, name)
    monkeypatch.delattr(acts, "set_step")
    steps: list[list[int]] = []

    def note(code: str) -> None:
        found = Learners(store.redis).progress_of(
            [learner_id(code, number) for number in (1, 2)], lesson.name
        )
        steps.append([each.step for each in found.values()])

    for module in (acts, plan, work):
        monkeypatch.setattr(module, "notify_learners", note)
    do(teacher, code, "plan", plan=f"5 lesson {lesson.name} 2")
    steps.clear()
    do(teacher, code, "step", place=f"{lesson.name}/2", sandboxes="")
    do(teacher, code, "section 0")
    assert steps == [[2, 2], [1, 1]]
    assert find_work(store, code) is None
    assert Rooms(store).find(code).section == 0


@in_lesson
def test_collected_answers_are_shown_when_the_teacher_reveals_them(
    code: str, teacher: Client, store: Store, lesson: Lesson
) -> None:
    ada, bo = join(code, "Ada"), join(code, "Bo")
    asked = next(step for step in lesson.steps if step.question)
    place = lesson.steps.index(asked)
    assert asked.question
    right = asked.question.right
    wrong = next(each for each in asked.question.choices if each not in right)
    answer = lesson.text("en").steps[asked.id].answer.split("<")[1].split(">")[1][:30]
    put(teacher, store, code, "step", place=f"{lesson.name}/{place}", sandboxes="")
    act(bo, code, asked.id, "guess", 2, pick=right)  # before
    assert answer in panel(bo, code, 2)
    do(teacher, code, "collect on")
    assert answer in panel(bo, code, 2), "who has seen the answer sees it still"
    assert "Submit" in panel(ada, code)
    assert act(ada, code, asked.id, "next") == 400
    assert act(ada, code, asked.id, "guess", pick=[wrong]) == 200
    shown = panel(ada, code)
    assert "Submitted" in shown
    for word in (answer, "the right answer", "your answer, wrong", 'class="choice right"'):
        assert word not in shown
    assert re.search(r'id="lesson-next"[^>]* disabled', shown)
    assert act(ada, code, asked.id, "next") == 400
    assert answer not in text(ada.get(f"/rooms/{code}/me/"))
    assert "submitted" in text(ada.get(f"/rooms/{code}/me/"))
    projector = f"/rooms/{code}/projector/"
    assert answer not in text(teacher.get(projector))
    do(teacher, code, f"reveal {lesson.name}/{asked.id}")
    assert answer in panel(ada, code)
    assert "your answer, wrong" in panel(ada, code)
    assert answer in " ".join(text(teacher.get(projector)).split())
    assert act(ada, code, asked.id, "next") == 200


@in_lesson
def test_nobody_goes_beyond_a_locked_step(code: str, teacher: Client, store: Store, lesson: Lesson) -> None:
    ada = join(code, "Ada")
    put(teacher, store, code, "step", place=f"{lesson.name}/1", sandboxes="")
    do(teacher, code, "lock on")
    steps = [step.id for step in lesson.steps]
    assert act(ada, code, steps[1], "next") == 400
    assert "The teacher has locked this step." in panel(ada, code)
    assert act(ada, code, steps[1], "back") == 200
    assert act(ada, code, steps[0], "next") == 200, "up to the locked step"
    do(teacher, code, "lock off")
    assert act(ada, code, steps[1], "next") == 200


def test_a_locked_course_offers_no_other_lesson(code: str, teacher: Client) -> None:
    ada = browser()
    ada.post(f"/rooms/{code}/", {"name": "Ada"})
    do(teacher, code, "lock on")
    assert 'name="lesson"' not in text(ada.get(f"/rooms/{code}/me/"))


@in_lesson
def test_a_learner_raises_a_hand_and_says_when_a_task_is_done(
    code: str, teacher: Client, store: Store, lesson: Lesson
) -> None:
    ada = join(code, "Ada")
    path = f"/rooms/{code}/me/signal/"
    notice = text(ada.post(path, {"do": "hand on"}, headers=HTMX))
    assert "Lower hand" in notice
    page = text(teacher.get(f"/rooms/{code}/teach/"))
    assert 'data-hands="1"' in page
    assert 'value="lower 1"' in page
    assert do(teacher, code, "lower 1") == "The hand of Ada is lowered."
    assert "Raise hand" in text(ada.get(f"/s/{sandbox_name(code, 1)}/"))
    ada.post(path, {"do": "done on"})
    assert row(teacher, code, 1).split("Open")[0].rstrip().endswith("done")
    put(teacher, store, code, "step", place=f"{lesson.name}/1", sandboxes="")
    assert "done" not in row(teacher, code, 1), "another task"
    assert ada.post(path, {"do": "dance on"}).status_code == 400
    assert browser().post(path, {"do": "hand on"}).status_code == 403


def test_hints_wait_for_one_another(code: str, teacher: Client, store: Store) -> None:
    ada = browser()
    ada.post(f"/rooms/{code}/", {"name": "Ada"})
    ada.post(f"/rooms/{code}/me/", {"lesson": "preemption"})
    for to, said in (("0", "first"), ("1", "second"), ("0", "third")):
        do(teacher, code, "hint", to=to, text=said)
    seen = []
    for _ in range(3):
        page = text(ada.get(f"/s/{sandbox_name(code, 1)}/"))
        found = re.search(r'<p class="hinted"><b>Hint</b> (\w+)</p>.*?name="at" value="([\d.]+)"', page, re.S)
        assert found
        seen.append(found[1])
        ada.post(f"/rooms/{code}/me/hint/", {"at": found[2]})
    assert seen == ["first", "second", "third"]
    assert 'class="hinted"' not in text(ada.get(f"/s/{sandbox_name(code, 1)}/"))
    for number in range(HINTS_AT_MOST + 3):
        Rooms(store).send_hint(code, 0, f"hint {number}")
    assert len(Rooms(store).find(code).hints) == HINTS_AT_MOST


@in_lesson
def test_a_learner_has_a_page_of_results_after_the_end(
    code: str, teacher: Client, store: Store, lesson: Lesson
) -> None:
    ada = join(code, "Ada")
    asked = next(step for step in lesson.steps if step.question)
    assert asked.question
    do(teacher, code, "collect on")
    put(teacher, store, code, "step", place=f"{lesson.name}/{lesson.steps.index(asked)}", sandboxes="")
    act(ada, code, asked.id, "guess", pick=asked.question.right)
    do(teacher, code, "end")
    own = f"/rooms/{code}/me/"
    eventually(lambda: find_work(store, code) is None and not store.exists(sandbox_name(code, 1)))
    assert ada.get(f"/s/{sandbox_name(code, 1)}/").headers["Location"] == own
    answer = ada.get(own)
    page = " ".join(text(answer).split())
    assert answer.status_code == 200
    assert "The teacher has ended the room. You are Ada." in page
    assert "1 of 1 answer right" in page
    assert lesson.text("en").title in page
    assert ada.get(f"/rooms/{code}/me/place/").headers["HX-Refresh"] == "true"
    assert "This page and the results are kept until" in page
    stranger = browser().get(f"/rooms/{code}/")
    assert stranger.status_code == 410
    assert "results" not in text(stranger)
    assert Learners(store.redis).progress(learner_id(code, 1), lesson.name)
    assert outcome(teacher, code) == ""


def test_one_click_takes_the_class_to_the_next_section(
    code: str, teacher: Client, store: Store, lesson: Lesson
) -> None:
    ada = browser()
    ada.post(f"/rooms/{code}/", {"name": "Ada"})
    page = text(teacher.get(f"/rooms/{code}/teach/"))
    template = re.search(r'<textarea[^>]*name="plan"[^>]*>(.*?)</textarea>', page, re.S)
    assert template
    assert sum(each.minutes for each in plan.read_plan(template[1])) == 90
    lines = f"20 lesson {lesson.name} 3\n5 Discussion\n\n10 break\n"
    assert do(teacher, code, "plan", plan=lines) == "The plan was saved."
    assert "First section" in text(teacher.get(f"/rooms/{code}/teach/"))
    put(teacher, store, code, "section 0")
    assert f"3/{len(lesson.steps)}" in row(teacher, code, 1)
    sandbox = f"/s/{sandbox_name(code, 1)}/"
    assert "section 1 of 3: lesson (20 min)" in " ".join(text(ada.get(sandbox)).split())
    do(teacher, code, "section 1")
    assert Rooms(store).find(code).discussion
    do(teacher, code, "section 2")
    room = Rooms(store).find(code)
    assert (room.discussion, room.paused, room.section) == (False, True, 2)
    assert "Next section" not in text(teacher.get(f"/rooms/{code}/teach/"))
    put(teacher, store, code, "section 0")
    assert not Rooms(store).find(code).paused
    assert do(teacher, code, "section 3") == "There is no such section."


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("5 dance", "Line 1: write minutes, then"),
        ("5 break\n0 break", "Line 2: write minutes, then"),
        ("5 lesson none", "Line 1: there is no lesson \u201cnone\u201d."),
        ("5 lesson preemption 99", "Line 1: the lesson has 5 steps."),
        ("5 lesson preemption 0", "Line 1: the lesson has 5 steps."),
        ("1 break\n" * 31, "A plan has at most 30 sections."),
    ],
)
def test_a_wrong_plan_says_where(code: str, teacher: Client, store: Store, lines: str, said: str) -> None:
    assert do(teacher, code, "plan", plan=lines).startswith(said)
    assert Rooms(store).find(code).plan == ()


@in_lesson
def test_the_notice_says_when_the_panel_of_a_lesson_may_show_something_else(
    code: str, teacher: Client, store: Store, lesson: Lesson
) -> None:
    """So a class does not ask for a hundred panels that have not changed."""

    def state() -> str:
        notice = room_notice(Rooms(store), sandbox_name(code, 1), Rooms(store).member(code, 1))
        assert notice
        return notice.lessons

    join(code, "Ada")
    for other in ("pause", "resume", "discuss on", "names on"):
        before = state()
        do(teacher, code, other)
        assert state() == before, other
    do(teacher, code, "hint", to="0", text="Look.")
    assert state() == before
    question = next(f"{lesson.name}/{step.id}" for step in lesson.steps if step.question)
    seen = {before}
    for changing in ("collect on", f"reveal {question}", "lock on"):
        do(teacher, code, changing)
        assert state() not in seen, changing
        seen.add(state())
    put(teacher, store, code, "step", place=f"{lesson.name}/1", sandboxes="")
    assert state() not in seen
