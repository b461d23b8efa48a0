"""A room with several browsers: a teacher, learners, a projector, a phone."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, ViewportSize, expect

from schedviz.celery import WORKER_ARGUMENTS
from schedviz.loop.leadership import living_workers
from schedviz.rooms.room_store import Rooms
from schedviz.store import Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from schedviz.up.programs import SERVER
from tests.amounts import long_but_first
from tests.processes import CELERY, Process, answers
from tests.waiting import PATIENCE, eventually

from .conftest import LEFT, eventually_in
from .test_accessibility import Violations
from .test_lesson import answer, create_pod, goal, heading

pytestmark = pytest.mark.browser

AWAY = (
    r"Failed to load resource|Response Status Error Code (404|503)|WebSocket connection to|\[object Event\]"
    rf"|htmx:sendError|{LEFT}"
)
"""The browser's messages when a sandbox was deleted, the server was stopped, or a page was closed before the
response to a request."""

NewPage = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser, stack: str, store: Store) -> Iterator[NewPage]:
    """Opens a page in a browser context of its own, on which no script may fail. The fixture deletes the
    rooms' sandboxes afterwards."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def note(text: str) -> None:
        if not re.match(AWAY, text):
            errors.append(text)

    def new(width: int = 1280, height: int = 720, locale: str = "en", url: str = stack) -> Page:
        viewport: ViewportSize = {"width": width, "height": height}
        context = browser.new_context(base_url=url, viewport=viewport, locale=locale)
        context.set_default_timeout(PATIENCE * 1000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: note(message.text) if message.type == "error" else None)
        return page

    yield new
    for context in contexts:
        context.close()
    for name in store.names():
        if name.startswith("room-"):
            store.delete(name)
    assert errors == []


def open_room(page: Page, what: str = "lesson:walk", mode: str = "own") -> str:
    """Open a room as its teacher. Returns its code."""
    page.goto("/rooms/new/")
    page.locator("#what").select_option(what)
    page.locator(f"[name=mode][value={mode}]").check()
    page.locator("main form .btn.primary").click()
    page.wait_for_url("**/teach/")
    expect(page.locator("#connection")).to_have_class(re.compile("ok"))
    return page.locator(".bar .room-code").inner_text()


def join(page: Page, code: str, name: str) -> None:
    page.goto(f"/rooms/{code}/")
    page.locator("#name").fill(name)
    page.locator("main form .btn.primary").click()
    expect(page.locator("#connection")).to_have_class(re.compile("ok"))


@pytest.mark.long
@pytest.mark.sampled
@pytest.mark.parametrize("locale", ["en", "zh-CN"])
def test_axe_finds_nothing_on_the_pages_of_rooms(visit: NewPage, locale: str) -> None:
    teacher, learner, projector = visit(locale=locale), visit(390, 844, locale), visit(locale=locale)
    violations = [Violations(page) for page in (teacher, learner)]
    teacher.goto("/rooms/new/")
    violations[0].look("new room")
    code = open_room(teacher)
    violations[0].look("teacher, empty")
    learner.goto("/rooms/")
    violations[1].look("code")
    learner.goto(f"/rooms/{code}/")
    violations[1].look("join")
    join(learner, code, "Ada")
    expect(teacher.locator("#m-1")).to_contain_text("Ada")
    for each in teacher.locator("details").all():
        each.evaluate("each => each.open = true")
    teacher.locator("#hint-text").fill("Look at node-1.")
    teacher.locator("#send-hint").click()
    expect(learner.locator("#room .hinted")).to_contain_text("Look at node-1.")
    violations[1].look("the room's notice", "#room")
    violations[0].look("teacher")
    learner.goto(f"/rooms/{code}/me/")
    violations[1].look("own page")
    projector.context.add_cookies(teacher.context.cookies())  # type: ignore[arg-type]
    projector.goto(f"/rooms/{code}/projector/")
    violations.append(Violations(projector))
    violations[2].look("projector")
    # The words of an answer, and the code within it, are one line of text.
    flow = projector.locator("#asked .answer-text").first.evaluate("(each) => getComputedStyle(each).display")
    assert flow == "block"  # a cell of the grid
    teacher.locator("#reveal").click()
    expect(projector.locator("#asked .answer")).to_be_visible()
    violations[2].look("projector, revealed")
    teacher.locator("#show-1").click()
    expect(projector.frame_locator("#shown iframe").locator("#connection")).to_have_class(re.compile("ok"))
    violations[2].look("projector with a sandbox", "aside")
    assert [found for each in violations for found in each.found] == []
    for page in (teacher, learner, projector):
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url


def test_a_learner_joins_on_a_phone_with_the_keyboard_alone(visit: NewPage) -> None:
    teacher, phone = visit(), visit(390, 844)
    code = open_room(teacher)
    phone.goto("/rooms/")
    expect(phone.locator("#code")).to_be_focused()
    phone.keyboard.type(code.lower())
    phone.keyboard.press("Enter")
    phone.wait_for_url(f"**/rooms/{code}/")
    expect(phone.locator("#name")).to_be_focused()
    phone.keyboard.type("Ada")
    phone.keyboard.press("Enter")
    phone.wait_for_url("**/s/room-*/")
    expect(teacher.locator("#m-1")).to_contain_text("Ada")


@pytest.mark.sampled
@pytest.mark.parametrize("locale", long_but_first(["en", "zh-CN"]))
def test_a_class_works_together_until_the_teacher_ends_the_room(visit: NewPage, locale: str) -> None:
    teacher, ada, bo, phone = visit(locale=locale), visit(locale=locale), visit(), visit(390, 844, locale)
    code = open_room(teacher, "course:")
    for page, name in ((ada, "Ada"), (bo, "Bo")):
        page.goto(f"/rooms/{code}/")
        page.locator("#name").fill(name)
        page.locator("main form .btn.primary").click()
        page.wait_for_url("**/me/")
    # What the teacher types stays when somebody joins, and so does the focus.
    teacher.locator("#hint-1").press("Enter")
    expect(teacher.locator("#hint-text")).to_be_focused()
    teacher.keyboard.type("Look at ")
    phone.goto(f"/rooms/{code}/")
    phone.locator("#name").fill("Wolfeschlegelsteinhausenbergerdorff the")
    phone.locator("main form .btn.primary").click()
    expect(teacher.locator("#m-3")).to_contain_text("Wolfe")
    teacher.keyboard.type("node-1.")
    expect(teacher.locator("#hint-text")).to_have_value("Look at node-1.")
    expect(teacher.locator("#to")).to_have_value("1")
    teacher.locator("#send-hint").press("Enter")
    expect(teacher.locator("#hint-text")).to_have_value("")

    # All are on the room's page; the teacher takes them to a question.
    teacher.locator("#collect").click()
    expect(teacher.locator("#collect")).to_have_attribute("aria-pressed", "true")
    teacher.locator("#place").select_option("walk/1")
    teacher.locator("#set-step").click()
    for page in (ada, bo, phone):
        page.wait_for_url("**/s/room-*/")
        expect(page.locator("#connection")).to_have_class(re.compile("ok"))
    expect(ada.locator("#room .hinted")).to_contain_text("Look at node-1.")
    ada.locator("#room .hinted + form button").press("Enter")
    expect(ada.locator("#room .hinted")).to_have_count(0)
    for page, pick in ((ada, "pending"), (bo, "fits")):
        page.locator(f"#pick-{pick}").check()
        page.locator("#lesson-answer-button").click()
        expect(page.locator("#lesson-submitted")).to_be_visible()
        expect(page.locator("#lesson-next")).to_be_disabled()
        expect(page.locator("#lesson-answer, .choice.right, .choice.wrong")).to_have_count(0)
    expect(phone.locator("#lesson-skip")).to_be_disabled()
    expect(teacher.locator("#question .bars .right .count")).to_have_text("1")
    phone.locator("#raise-hand").click()
    expect(teacher.locator("#members tbody tr").first).to_have_id("m-3")
    expect(teacher).to_have_title(re.compile(rf"^\(1\) {code}"))
    assert teacher.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    words = teacher.locator("#members").inner_text()
    assert ("Last guess" in words) == (locale == "en"), "a frame is in the language of its viewer"

    teacher.locator("#reveal").click()
    for page, right in ((ada, True), (bo, False)):
        expect(page.locator("#lesson-answer")).to_have_class(re.compile("right" if right else "wrong"))
        expect(page.locator("#lesson-next")).to_be_enabled()
    # What was chosen stays until the room goes to another step.
    teacher.locator("#edit-plan summary").click()
    teacher.locator("#plan-text").fill("20 lesson walk 3")
    teacher.locator("#save-plan").click()
    teacher.locator("#next-section").click()
    expect(teacher.locator("#place")).to_have_value("walk/2")
    teacher.locator("#end summary").click()
    teacher.locator("#end-room").click()
    expect(teacher.locator("#send-hint")).to_be_hidden()
    for page, results in ((ada, 1), (bo, 1), (phone, 1)):
        page.wait_for_url(f"**/rooms/{code}/me/")
        expect(page.locator(".own-result")).to_have_count(results)


def test_an_act_in_a_shared_sandbox_is_asked_about_before_all_have_answered(visit: NewPage) -> None:
    teacher, ada = visit(), visit()
    code = open_room(teacher, "lesson:walk", "shared")
    join(ada, code, "Ada")
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    ada.on("dialog", refuse)
    teacher.locator("#place").select_option("walk/2")
    teacher.locator("#set-step").click()
    expect(heading(ada)).to_have_text("Create the pod")
    ada.locator(".create a[href$='/new/pod/']").click()
    create = ada.locator("dialog[open]").get_by_role("button", name="Create", exact=True)
    ada.locator("dialog[open] #id_name").fill("web")
    create.click()
    eventually_in(ada, lambda: asked, "the page asks")
    assert asked == ["1 learner has not answered the question yet. All see here what follows. Do it now?"]
    teacher.locator("#reveal").click()
    expect(teacher.locator("#said")).to_have_text("The projector shows the answer.")
    create.click()
    expect(ada.locator("dialog[open]")).to_have_count(0)
    assert len(asked) == 1


class OwnStack:
    """A server, a worker and a Redis that the test may kill."""

    def __init__(self, folder: Path, held: int) -> None:
        self._held = held
        self._folder = folder
        self._port = free_port()
        self.start_redis()
        self._environment = {"REDIS_URL": self.redis.url}
        self.store = Store(self.redis.url)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.server = Process(["-m", SERVER, f"--port={port}"], folder / "server.log", self._environment)
        self.worker = self.start_worker()
        eventually(lambda: self.server.alive() and answers(f"{self.url}/healthz"), "the server answers")

    def start_redis(self) -> None:
        self.redis = EmbeddedRedis.start(self._folder, self._held, self._port, "secret")

    def start_worker(self) -> Process:
        self.worker = Process([*CELERY, *WORKER_ARGUMENTS], self._folder / "worker.log", self._environment)
        eventually(lambda: self.worker.alive() and living_workers(self.store), "the worker lives")
        return self.worker

    def stop(self) -> None:
        self.worker.stop()
        self.server.stop()
        self.store.close()
        self.redis.stop()


@pytest.fixture
def own_stack(tmp_path: Path) -> Iterator[OwnStack]:
    with lock(tmp_path) as held:
        stack = OwnStack(tmp_path, held)
        yield stack
        stack.stop()


@pytest.mark.long
def test_a_room_finishes_a_lesson_after_its_worker_was_killed(visit: NewPage, own_stack: OwnStack) -> None:
    teacher, *learners = (visit(url=own_stack.url) for _ in range(4))
    code = open_room(teacher, "lesson:walk")
    for page, name in zip(learners, ("Ada", "Bo", "Cy"), strict=True):
        join(page, code, name)
        expect(heading(page)).to_have_text("Two nodes")

    # The teacher moves all to the question; the guesses come in.
    teacher.locator("#place").select_option("walk/1")
    teacher.locator("#set-step").click()
    for page, pick in zip(learners, ("pending", "fits", "pending"), strict=True):
        expect(heading(page)).to_have_text("A pod of 5 CPU")
        answer(page, pick)
    expect(teacher.locator("#question .answered")).to_contain_text("3 of 3 answered")
    expect(teacher.locator("#question .bars .right .count")).to_have_text("2")
    for number, word in ((1, "right"), (2, "wrong"), (3, "right")):
        expect(teacher.locator(f"#m-{number} .guess b")).to_contain_text(word)

    for page in learners:
        page.locator("#lesson-next").click()
        expect(heading(page)).to_have_text("Create the pod")
        create_pod(page, "5")
        expect(goal(page, "created")).to_have_text("done")
    own_stack.worker.kill()
    teacher.locator("#resume-all").click()
    expect(teacher.locator("#said")).to_have_text("All sandboxes are being resumed.")
    own_stack.start_worker()
    for page in learners:
        expect(goal(page, "pending")).to_have_text("done")
        page.locator("#lesson-next").click()
        expect(page.locator("#lesson-end")).to_be_visible()
    for number in (1, 2, 3):
        expect(teacher.locator(f"#m-{number}")).to_contain_text("finished")

    with teacher.expect_popup() as opened:
        teacher.get_by_role("link", name="Results", exact=True).click()
    results = opened.value
    expect(results.locator(".counted").first).to_contain_text("3 of 3 answered · 2 right")
    with results.expect_download() as download:
        results.get_by_role("link", name="Learners (CSV)").click()
    text = download.value.path().read_text(encoding="utf-8-sig")
    assert [line.split(",")[1] for line in text.splitlines()] == ["name", "Ada", "Bo", "Cy"]
    assert text.count(",yes") == 3

    teacher.locator("#end summary").click()
    teacher.locator("#end-room").click()
    expect(teacher.locator("#state")).to_contain_text("The room has ended.")
    for page in learners:
        page.wait_for_url(f"**/rooms/{code}/me/")
        expect(page.locator(".own-result")).to_contain_text("finished")


@pytest.mark.long
def test_a_room_continues_after_a_restart_of_redis(visit: NewPage, own_stack: OwnStack) -> None:
    teacher, ada, bo = (visit(url=own_stack.url) for _ in range(3))
    code = open_room(teacher, "lesson:walk")
    for page, name in ((ada, "Ada"), (bo, "Bo")):
        join(page, code, name)
    teacher.locator("#place").select_option("walk/1")
    teacher.locator("#set-step").click()
    for page, pick in ((ada, "pending"), (bo, "fits")):
        expect(heading(page)).to_have_text("A pod of 5 CPU")
        answer(page, pick)
    expect(teacher.locator("#question .answered")).to_contain_text("2 of 2 answered")

    own_stack.redis.stop()
    expect(ada.locator("#trouble[data-away=redis]")).to_be_visible()
    own_stack.start_redis()

    # All pages continue without being loaded again.
    for page in (ada, bo):
        expect(page.locator("#trouble")).to_be_empty()
    teacher.locator("#hint-text").fill("Redis is back.")
    teacher.locator("#send-hint").click()
    for page in (ada, bo):
        expect(page.locator("#room .hinted")).to_contain_text("Redis is back.")
    expect(teacher.locator("#m-1 .guess b")).to_contain_text("right")
    expect(teacher.locator("#m-2 .guess b")).to_contain_text("wrong")
    expect(teacher.locator("#question .answered")).to_contain_text("2 of 2 answered")

    # The teacher moves all learners to the last step, and their pages show it.
    teacher.locator("#place").select_option("walk/3")
    teacher.locator("#sandboxes").select_option("prepared")
    teacher.locator("#set-step").click()
    expect(teacher.locator("#work")).to_contain_text("2 learners were moved to step 4")
    for page in (ada, bo):
        expect(page.locator(".chip, .pod").filter(has_text="web").first).to_be_visible()
        expect(page.locator("#connection")).to_have_class(re.compile("ok"))
        expect(page.locator("#gone")).to_be_hidden()
    for number in (1, 2):
        expect(teacher.locator(f"#m-{number} .where b")).to_have_text("4/4")
    join(visit(url=own_stack.url), code, "Cy")
    expect(teacher.locator("#m-3")).to_contain_text("Cy")


def test_the_controls_and_the_question_fit_beside_a_hundred_learners_with_long_names(
    visit: NewPage, store: Store
) -> None:
    teacher = visit()
    code = open_room(teacher)
    rooms = Rooms(store)
    room = rooms.find(code)
    for number in range(100):
        rooms.join(room, f"Wolfeschlegelsteinhausenberger {number}")
    projector = teacher.context.new_page()
    projector.goto(f"/rooms/{code}/projector/")
    teacher.locator("#names").click()
    teacher.locator("#question [value^=reveal]").click()
    expect(projector.locator("#joined .names")).to_contain_text("berger 99")
    expect(projector.locator("#asked .answer")).to_be_visible()
    asked = projector.locator("#asked").bounding_box()
    assert asked
    height = projector.evaluate("innerHeight")
    assert asked["y"] + asked["height"] == height, "the question has the whole height"
    aside, typed = (projector.locator(f".wall aside{each}").bounding_box() for each in ("", " .room-code"))
    assert aside
    assert typed
    assert typed["x"] + typed["width"] < aside["x"] + aside["width"]
    for width, screens in ((1280, 2), (390, 4)):
        teacher.set_viewport_size({"width": width, "height": 844})
        expect(teacher.locator("#members tbody tr")).to_have_count(100)
        assert teacher.evaluate("document.documentElement.scrollWidth") == width
        assert teacher.evaluate("document.documentElement.scrollHeight") < screens * 844, width
