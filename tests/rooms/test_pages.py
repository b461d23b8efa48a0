"""The pages of a room as plain HTTP serves them: without scripts, in a browser of each visitor."""

import re
from collections.abc import Iterator
from html import unescape

import pytest
from django.test import Client

from schedviz.loop.clock import pause
from schedviz.rooms.room import read_code, sandbox_name
from schedviz.rooms.room_store import Rooms
from schedviz.rooms.sandboxes import sweep_rooms
from schedviz.rooms.work import find_work
from schedviz.store import Store
from tests.waiting import eventually

SCENARIO = "scenario:online-vs-offline"


def browser() -> Client:
    return Client(headers={"host": "localhost"})


@pytest.fixture
def teacher() -> Client:
    return browser()


@pytest.fixture
def code(teacher: Client, store: Store) -> Iterator[str]:
    yield from open_room(teacher, store, SCENARIO, title="Monday")


def open_room(teacher: Client, store: Store, what: str, title: str = "") -> Iterator[str]:
    """Yield the code of a new room of the teacher, whose sandboxes are deleted at the end."""
    answer = teacher.post("/rooms/new/", {"what": what, "mode": "own", "title": title, "minutes": "60"})
    found = re.fullmatch(r"/rooms/(\w{6})/teach/", answer.headers["Location"])
    assert found
    yield found[1]
    for name in store.names():
        if name.startswith(f"room-{found[1].lower()}-"):
            store.delete(name)


def join(code: str, name: str) -> Client:
    client = browser()
    answer = client.post(f"/rooms/{code}/", {"name": name})
    assert answer.status_code == 302, answer.content
    return client


def text(answer: object) -> str:
    return unescape(answer.content.decode())  # type: ignore[attr-defined]


def do(teacher: Client, code: str, act: str, **fields: str) -> str:
    """What the page says after an act of the teacher."""
    answer = teacher.post(f"/rooms/{code}/teach/do/", {"do": act, **fields}, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    return text(answer)


def idle(store: Store, code: str) -> bool:
    return find_work(store, code) is None


def test_a_learner_joins_with_the_code_and_a_name(code: str, teacher: Client) -> None:
    learner = browser()
    asked = learner.get("/rooms/", {"code": f"{code[:3].lower()} {code[3:]}"})
    assert asked.headers["Location"] == f"/rooms/{code}/"
    assert "Monday" in text(learner.get(f"/rooms/{code}/"))
    joined = learner.post(f"/rooms/{code}/", {"name": " Ada <b>Lovelace</b> "})
    assert joined.headers["Location"] == f"/s/{sandbox_name(code, 1)}/"
    assert learner.get(joined.headers["Location"]).status_code == 200
    assert learner.get(f"/rooms/{code}/").headers["Location"] == f"/rooms/{code}/me/"
    page = teacher.get(f"/rooms/{code}/teach/").content.decode()
    assert "Ada &lt;b&gt;Lovelace&lt;/b&gt;" in page


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("HELLO", "No code has E, L, O: its letters and digits are C D F"),
        ("CY1D0I", "No code has Y, 1, 0, I:"),
        ("CDF", "A code has six letters and digits."),
        ("CCCCCC", "There is no room with this code."),
        ("x" * 500, "A code has six letters and digits."),
    ],
)
def test_a_wrong_code_says_so(typed: str, said: str) -> None:
    answer = browser().get("/rooms/", {"code": typed})
    assert answer.status_code == 422
    assert 'role="alert"' in text(answer)
    assert said in text(answer)


@pytest.mark.parametrize(
    "typed", ["\uff43\uff44\uff46\u3000\uff27\uff28\uff2a", "cdf-ghj", "\u0421DFG\u041dJ", " CDF.GHJ "]
)
def test_a_code_of_other_keyboards_is_understood(typed: str) -> None:
    assert read_code(typed) == "CDFGHJ"


def test_a_name_is_needed(code: str) -> None:
    answer = browser().post(f"/rooms/{code}/", {"name": " \u200b "})
    assert answer.status_code == 422
    assert "Enter a name." in text(answer)


@pytest.mark.parametrize("path", ["", "me/", "teach/", "projector/", "qr.svg", "me/1-abcdefghijklmn/"])
def test_an_unknown_room_is_not_found(path: str) -> None:
    for code in ("CCCCCC", "nonsense", "new-x"):
        assert browser().get(f"/rooms/{code}/{path}").status_code == 404


def test_the_personal_link_opens_the_room_on_another_device(code: str) -> None:
    first = join(code, "Ada")
    page = text(first.get(f"/rooms/{code}/me/"))
    link = re.search(rf"http://localhost(/rooms/{code}/me/1-[-\w]+/)", page)
    assert link
    second = browser()
    assert second.get(link[1]).headers["Location"] == f"/rooms/{code}/me/"
    assert "You are Ada." in text(second.get(f"/rooms/{code}/me/"))
    assert second.post(f"/rooms/{code}/me/").headers["Location"] == f"/s/{sandbox_name(code, 1)}/"
    assert browser().get(f"/rooms/{code}/me/1-wrongwrongwrong/").status_code == 403


def test_the_teachers_link_opens_the_room_on_another_device(code: str, teacher: Client) -> None:
    link = re.search(
        rf"http://localhost(/rooms/{code}/teach/[-\w]+/)", text(teacher.get(f"/rooms/{code}/teach/"))
    )
    assert link
    second = browser()
    assert second.get(link[1]).status_code == 302
    assert second.get(f"/rooms/{code}/teach/").status_code == 200


def test_a_hint_reaches_one_or_all_as_text(code: str, teacher: Client) -> None:
    ada, bo = join(code, "Ada"), join(code, "Bo")
    pages = [f"/s/{sandbox_name(code, number)}/" for number in (1, 2)]
    assert (
        do(teacher, code, "hint", to="2", text="look at <script>node-1</script>")
        == "The hint was sent to Bo."
    )
    assert "look at &lt;script&gt;node-1" in bo.get(pages[1]).content.decode()
    assert "look at" not in text(ada.get(pages[0]))
    assert do(teacher, code, "hint", to="0", text="all: look up") == "The hint was sent to all."
    assert "all: look up" in text(ada.get(pages[0]))
    assert "look at &lt;script&gt;" in bo.get(pages[1]).content.decode(), "until Bo closes it"
    at = re.search(r'name="at"\s+value="([\d.]+)"', text(ada.get(pages[0])))
    assert at
    ada.post(f"/rooms/{code}/me/hint/", {"at": at[1]})
    assert "all: look up" not in text(ada.get(pages[0]))


@pytest.mark.parametrize(
    ("act", "fields", "says"),
    [
        ("hint", {"to": "0", "text": "  "}, "Write a hint first."),
        ("hint", {"to": "9", "text": "x"}, "There is no such learner."),
        ("hint", {"to": "0", "text": "x" * 401}, "A hint has at most 400 characters."),
        ("show 7", {}, "There is no such learner."),
        ("show x", {}, "There is no such learner."),
        ("step", {"place": "none/1"}, "Choose a step."),
        ("question", {"question": "none/predict"}, "Choose a question."),
        ("reveal none/predict", {}, "Choose a question."),
    ],
)
def test_a_wrong_field_says_so(
    code: str, teacher: Client, act: str, fields: dict[str, str], says: str
) -> None:
    assert do(teacher, code, act, **fields) == says


def test_the_teacher_removes_a_learner_whose_place_is_free(code: str, teacher: Client, store: Store) -> None:
    ada, bo = browser(), browser()
    for learner, name in ((ada, "Ada"), (bo, "Bo")):
        learner.post(f"/rooms/{code}/", {"name": name})
    sandbox = sandbox_name(code, 1)
    assert store.exists(sandbox)
    assert do(teacher, code, "remove", to="0") == "Choose a learner."
    assert do(teacher, code, "remove", to="1") == "Ada was removed."
    assert not store.exists(sandbox)
    assert ada.get(f"/rooms/{code}/me/").headers["Location"] == f"/rooms/{code}/", "as a stranger"
    joined = browser().post(f"/rooms/{code}/", {"name": "Ada"})
    assert joined.headers["Location"] == f"/s/{sandbox}/", "the place and the name are free"
    assert ada.get(f"/s/{sandbox}/").status_code == 403
    assert bo.get(f"/s/{sandbox_name(code, 2)}/").status_code == 200


def test_an_unknown_act_is_refused(code: str, teacher: Client) -> None:
    assert teacher.post(f"/rooms/{code}/teach/do/", {"do": "dance"}).status_code == 400


def test_all_sandboxes_are_paused_resumed_and_started_over(code: str, teacher: Client, store: Store) -> None:
    for name in ("Ada", "Bo", "Cy"):
        join(code, name)
    names = [sandbox_name(code, number) for number in (1, 2, 3)]
    made = [store.sandbox(name).meta().created for name in names]
    seeds = {store.sandbox(name).meta().seed for name in names}
    assert len(seeds) == 1

    def paused() -> list[bool]:
        return [store.sandbox(name).read_clock()[0].paused for name in names]

    do(teacher, code, "pause")
    eventually(lambda: idle(store, code) and all(paused()))
    late = join(code, "Di")
    assert store.sandbox(sandbox_name(code, 4)).read_clock()[0].paused
    assert "The teacher paused the room." in text(late.get(f"/s/{sandbox_name(code, 4)}/"))
    do(teacher, code, "resume")
    eventually(lambda: idle(store, code) and not any(paused()))
    pause(store.sandbox(names[0]))
    do(teacher, code, "start")
    eventually(lambda: idle(store, code))
    now = [store.sandbox(name).meta().created for name in names]
    assert all(after > before for before, after in zip(made, now, strict=True))


def test_the_projector_shows_names_only_if_wanted(code: str, teacher: Client) -> None:
    join(code, "Ada Lovelace")
    path = f"/rooms/{code}/projector/"
    assert "Ada Lovelace" not in text(teacher.get(path))
    do(teacher, code, "names on")
    assert "Ada Lovelace" in text(teacher.get(path))
    do(teacher, code, "show 1")
    assert f'src="/s/{sandbox_name(code, 1)}/?embed=queue,nodes,cycle,watch"' in text(teacher.get(path))


def test_the_qr_code_is_a_picture_without_scripts_and_styles(code: str) -> None:
    answer = browser().get(f"/rooms/{code}/qr.svg")
    assert answer.headers["Content-Type"] == "image/svg+xml"
    assert b"<svg" in answer.content
    assert not re.search(rb"<script|<style|style=", answer.content)


def test_the_end_deletes_the_sandboxes_and_keeps_the_results(
    code: str, teacher: Client, store: Store
) -> None:
    ada = join(code, "Ada")
    assert do(teacher, code, "end") == "The room has ended."
    eventually(lambda: idle(store, code) and sandbox_name(code, 1) not in store.names())
    assert "The teacher has ended the room." in text(ada.get(f"/rooms/{code}/me/"))
    assert browser().post(f"/rooms/{code}/", {"name": "Bo"}).status_code == 410
    assert "Ada" in text(teacher.get(f"/rooms/{code}/teach/results.csv"))
    assert do(teacher, code, "pause") == "The room has ended."


def test_a_room_ends_after_its_time(code: str, teacher: Client, store: Store) -> None:
    join(code, "Ada")
    Rooms(store).change(code, ends=store.wall() - 1)
    sweep_rooms(store)
    eventually(lambda: idle(store, code) and sandbox_name(code, 1) not in store.names())
    assert Rooms(store).find(code).ended


def test_a_deleted_sandbox_is_made_again(code: str, store: Store) -> None:
    ada = join(code, "Ada")
    store.delete(sandbox_name(code, 1))
    assert ada.post(f"/rooms/{code}/me/").headers["Location"] == f"/s/{sandbox_name(code, 1)}/"
    assert ada.get(f"/s/{sandbox_name(code, 1)}/").status_code == 200


def test_the_teachers_view_gets_a_message_of_a_learners_progress(
    teacher: Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []
    for module in ("schedviz.web.lessons.views", "schedviz.web.lessons.visit", "schedviz.rooms.learners"):
        monkeypatch.setattr(f"{module}.notify_teacher", messages.append)
    fields = {"what": "lesson:preemption", "mode": "own", "title": "", "minutes": "60"}
    code = teacher.post("/rooms/new/", fields).headers["Location"].split("/")[2]
    ada = join(code, "Ada")
    assert messages == [code]
    panel = f"/s/{sandbox_name(code, 1)}/lesson/"
    ada.get(panel)  # the first look is noted in the progress
    messages.clear()
    ada.get(panel)
    assert messages == []
    ada.post(panel, {"do": "next", "step": "look"})
    assert messages.count(code) >= 1
    store.delete(sandbox_name(code, 1))
