"""A learner goes through a lesson: from the home page to its end, by mouse, by keyboard, on a phone, in both
languages."""

import re

import pytest
from msgspec.structs import replace
from playwright.sync_api import FilePayload, Locator, Page, expect

from schedviz.lessons.solutions import Solutions
from schedviz.store import Store
from tests.browser.language import choose_language
from tests.lessons.uploaded import zipped
from tests.web.test_solutions import DONE

from .conftest import eventually_in, hold_first
from .test_accessibility import Violations

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}


def begin(page: Page, name: str = "walk") -> None:
    page.goto("/lessons/")
    page.locator(f"#lesson-{name} .do button").click()
    wait_for_lesson(page)


def wait_for_lesson(page: Page) -> None:
    expect(page.locator("#connection")).to_have_class(re.compile("ok"))
    expect(page.locator("#lesson-heading")).to_be_visible()


def heading(page: Page) -> Locator:
    return page.locator("#lesson-heading")


def answer(page: Page, choice: str) -> None:
    page.locator(f"#pick-{choice}").check()
    page.locator("#lesson-answer-button").click()
    expect(page.locator("#lesson-answer")).to_be_visible()


def go_to_third_step(page: Page) -> None:
    begin(page)
    page.locator("#lesson-next").click()
    expect(heading(page)).to_have_text("A pod of 5 CPU")
    answer(page, "pending")
    page.locator("#lesson-next").click()
    expect(heading(page)).to_have_text("Create the pod")


def create_pod(page: Page, cpu: str) -> None:
    page.locator(".create a[href$='/new/pod/']").click()
    form = page.locator("dialog[open]")
    form.locator("#id_name").fill("web")
    form.locator("#id_cpu").fill(cpu)
    form.get_by_role("button", name="Create", exact=True).click()
    expect(form).to_have_count(0)


def goal(page: Page, name: str) -> Locator:
    return page.locator(f".goal[data-goal={name}] .state")


def test_a_learner_goes_from_the_home_page_through_a_lesson(screen: Page) -> None:
    page = screen
    page.goto("/")
    page.get_by_role("link", name="Begin the lessons").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Learn how the scheduler decides")
    page.locator("#lesson-walk .do button").click()
    wait_for_lesson(page)

    # At first the page shows only a node, with a label on it. Other parts appear when they are needed.
    expect(page.locator(".node[data-spot='Look here']")).to_have_attribute("data-node", "node-1")
    for part in ("#s-queue", "#s-cycle", "#s-log", ".transport", ".create > a"):
        expect(page.locator(part).first).to_be_hidden()
    page.locator("#lesson-next").click()

    # The question: the answer is shown after the guess, with a sign and a word.
    expect(heading(page)).to_have_text("A pod of 5 CPU")
    expect(heading(page)).to_be_focused()
    expect(page.locator("[data-spot]")).to_have_count(0)
    expect(page.locator("#lesson-next")).to_have_count(0)
    answer(page, "fits")
    expect(page.locator("#lesson-answer h3")).to_contain_text("✕ Wrong")
    expect(page.locator(".choice.wrong")).to_contain_text("your answer, wrong")
    expect(page.locator(".choice.right")).to_contain_text("the right answer")
    page.locator("#lesson-next").click()

    # The act: the parts needed for it have appeared. A wrong act shows the hint for it.
    expect(heading(page)).to_have_text("Create the pod")
    expect(page.locator("#s-queue")).to_be_visible()
    expect(page.locator(".create")).to_have_attribute("data-spot", "Use this")
    create_pod(page, "1")
    expect(goal(page, "created")).to_have_text("done")
    expect(goal(page, "pending")).to_have_text("not yet")
    expect(page.locator("#lane-activeQ .chip[data-spot='Look here']")).to_contain_text("web")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("#lesson-hint")).to_contain_text("it requests too little")

    # Undo deletes the pod, and the finished steps stay finished. The solution does the right act.
    page.locator("#lesson-undo").click()
    expect(page.locator(".node .pod")).to_have_count(0)
    wait_for_lesson(page)
    expect(page.locator(".chip")).to_have_count(0)
    expect(page.locator("#lesson-undo")).to_have_count(0)
    expect(goal(page, "created")).to_have_text("done")
    page.locator("#lesson-solution summary").click()
    page.get_by_role("button", name="Carry it out").click()
    expect(goal(page, "pending")).to_have_text("done")
    expect(page.locator("#lesson-hint")).to_have_count(0)
    page.locator("#lesson-next").click()

    expect(heading(page)).to_have_text("The scheduling cycle")
    expect(page.locator("#s-cycle[data-spot]")).to_be_visible()
    expect(page.locator("#s-cycle + .spot")).to_have_text("Look here")
    expect(page.locator("#lesson-end")).to_contain_text("You did it.")

    # A reload changes nothing; the list says that the lesson is done.
    page.reload()
    wait_for_lesson(page)
    expect(page.locator("#lesson-end")).to_be_visible()
    page.get_by_role("link", name="All lessons").first.click()
    expect(page.locator("#lesson-walk .facts b")).to_have_text("done")


def test_the_solution_is_carried_out_and_described(screen: Page) -> None:
    page = screen
    go_to_third_step(page)
    page.locator("#lesson-solution summary").click()
    page.get_by_role("button", name="Carry it out").click()
    expect(page.locator("#lesson-next")).to_be_visible()
    expect(page.locator("#lesson-solved")).to_be_visible()
    expect(page.locator("#lane-unschedulable .chip")).to_contain_text("web")
    # Start over: the cluster and the steps are as at the beginning.
    page.locator("#lesson-reset").click()
    expect(heading(page)).to_have_text("Two nodes")
    wait_for_lesson(page)
    expect(page.locator(".chip")).to_have_count(0)


def test_an_answer_that_is_chosen_and_not_sent_is_kept_when_frames_arrive(screen: Page) -> None:
    page = screen
    go_to_third_step(page)
    page.locator("#lesson-back").click()
    expect(heading(page)).to_have_text("A pod of 5 CPU")
    begin(page, "pending")
    page.locator("#lesson-next").click()
    page.locator("#pick-fits").check()
    page.evaluate("document.body.dispatchEvent(new CustomEvent('schedviz:done'))")
    expect(page.locator("#pick-fits")).to_be_checked()
    held = hold_first(page, "/lesson/")
    page.evaluate("document.body.dispatchEvent(new CustomEvent('schedviz:done'))")
    eventually_in(page, lambda: held, "the panel is asked for")
    # The act does not wait for that: an answer before it would remove its form, and nothing would be sent.
    page.locator("#lesson-answer-button").click()
    expect(page.locator("#lesson-answer")).to_be_visible()


def test_a_past_moment_ends_with_the_step(screen: Page) -> None:
    page = screen
    begin(page, "scores")
    page.locator("#lesson-next").click()
    answer(page, "total")
    page.locator("#lesson-next").click()
    page.locator("#t-cycle").click()
    expect(goal(page, "bound")).to_have_text("done")
    page.locator("#cycle-scores-0-1").click()
    expect(page.locator("body.past")).to_be_visible()
    answer(page, "hundred")
    expect(page.locator("body.past")).to_be_visible()  # the question is about the scores that it shows
    page.locator("#lesson-next").click()
    expect(heading(page)).to_have_text("Another plugin")
    expect(page.locator("body:not(.past)")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/s/[^/]+/$"))
    expect(page.locator(".transport")).to_be_visible()


def test_the_hint_for_a_name_that_is_nearly_right_is_in_sight(screen: Page) -> None:
    page = screen
    page.set_viewport_size({"width": 1280, "height": 560})
    go_to_third_step(page)
    page.locator(".create a[href$='/new/pod/']").click()
    form = page.locator("dialog[open]")
    form.locator("#id_name").fill("webb")
    form.get_by_role("button", name="Create", exact=True).click()
    expect(page.locator("#lesson-hint")).to_contain_text("none with the name web")
    expect(page.locator("#lesson-hint")).to_be_in_viewport(ratio=1)
    page.locator("#lesson-again").click()
    wait_for_lesson(page)
    expect(page.locator("#lesson-hint")).to_have_count(0)
    expect(page.locator(".chip")).to_have_count(0)


def test_a_lesson_by_keyboard_alone(screen: Page) -> None:
    page = screen
    begin(page)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    reach(page, "lesson-next")
    page.keyboard.press("Enter")
    expect(heading(page)).to_be_focused()
    reach(page, "pick-fits")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#pick-pending")).to_be_checked()
    reach(page, "lesson-answer-button")
    page.keyboard.press("Enter")
    expect(page.locator("#lesson-answer")).to_be_visible()
    expect(page.locator("#announce")).to_contain_text("Right")
    reach(page, "lesson-next")
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text("Create the pod")
    reach(page, "lesson-skip")
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text("The scheduling cycle")
    expect(page.locator("#lesson-end")).to_contain_text("Steps that you skipped: 3")


def reach(page: Page, identifier: str) -> None:
    """Press Tab until the element has the focus, and check that the focus is visible."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == identifier:
            style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert style != "none", f"the focus is not visible on {identifier}"
            return
    pytest.fail(f"{identifier} is not reached")


def test_on_a_phone_the_lesson_is_a_tab(screen: Page) -> None:
    page = screen
    page.set_viewport_size(PHONE)
    go_to_third_step(page)
    expect(page.get_by_role("tab", name="Lesson")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tab", name="Lesson")).to_contain_text("0/2")
    expect(page.get_by_role("tab", name="Cycle")).to_be_hidden()
    create_pod(page, "5")
    page.get_by_role("tab", name="Queue").click()
    expect(page.locator("#s-lesson")).to_be_hidden()
    expect(page.locator("#lane-activeQ .chip")).to_contain_text("web")
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("tab", name="Lesson")).to_contain_text("2/2")
    page.get_by_role("tab", name="Lesson").click()
    page.locator("#lesson-next").click()
    expect(heading(page)).to_have_text("The scheduling cycle")
    for width in (320, 390):
        page.set_viewport_size({"width": width, "height": 700})
        for path in ("/lessons/", "/lessons/walk/handout/", page.url):
            page.goto(path)
            assert page.evaluate("document.scrollingElement.scrollWidth") <= width


@pytest.mark.long
def test_in_chinese(screen: Page) -> None:
    page = screen
    begin(page)
    choose_language(page, "zh-hans")
    expect(heading(page)).to_have_text("两个节点")
    wait_for_lesson(page)
    page.locator("#lesson-next").click()
    expect(heading(page)).to_have_text("请求 5 CPU 的 Pod")
    page.goto("/lessons/")
    expect(page.locator("#lesson-walk h3")).to_have_text("哪里都放不下的 Pod")
    expect(page.locator("#lesson-walk .facts b")).to_contain_text("第 2 步")


@pytest.mark.long
@pytest.mark.sampled
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_axe_finds_nothing(screen: Page, store: Store, language: str) -> None:
    page = screen
    violations = Violations(page)
    page.goto("/lessons/")
    if language != "en":
        choose_language(page, "zh-hans")
        expect(page.locator("html")).to_have_attribute("lang", language)
    violations.look("list")
    page.goto("/lessons/walk/handout/")
    violations.look("handout")
    Solutions(store.redis).add("accessible", replace(DONE, made=store.wall(), author="Ada"))
    page.goto("/solutions/accessible/")
    violations.look("solution")
    page.goto("/lesson-upload/")
    violations.look("upload")
    upload(page, zipped())
    expect(page.locator("#start-uploaded")).to_be_visible()
    violations.look("uploaded lesson")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"]
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto("/lessons/")
    page.locator("#lesson-walk .do button").click()
    wait_for_lesson(page)
    violations.look("first step")
    page.locator("#lesson-next").click()
    page.locator("#pick-fits").check()
    violations.look("question")
    page.locator("#lesson-answer-button").click()
    expect(page.locator("#lesson-answer")).to_be_visible()
    violations.look("answer", "#s-lesson")
    page.locator("#lesson-next").click()
    expect(page.locator(".goal")).to_have_count(2)
    page.locator("#lesson-solution summary").click()
    violations.look("act")
    page.locator("#lesson-solution summary").click()
    page.locator("#lesson-skip").click()
    expect(page.locator("#lesson-end")).to_be_visible()
    violations.look("end")
    page.set_viewport_size(PHONE)
    violations.look("phone")
    assert violations.found == []


def test_a_handout_is_two_pages_at_most(screen: Page) -> None:
    screen.goto("/lessons/walk/handout/")
    printed = screen.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type /Page\b", printed)) == 2


def upload(page: Page, data: bytes) -> None:
    """Upload a zip of a lesson."""
    file: FilePayload = {"name": "lesson.zip", "mimeType": "application/zip", "buffer": data}
    page.set_input_files("#lesson-files", file)
    page.locator("#upload button").click()
