"""A phone: one tab at a time, the question and the controls of time always visible, and targets large enough
for a thumb."""

import pytest
from playwright.sync_api import Locator, Page, expect

from schedviz.api import write
from schedviz.store import Sandbox

from .conftest import Open, node, pod
from .test_accessibility import URGENT, Violations, story

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
SECTIONS = {"Queue": ".queue", "Nodes": ".nodes", "Cycle": ".inspector", "Log": "section.past"}

THIN = """() => [...document.querySelectorAll("a, button, select, summary, input, [role=button]")]
    .filter(each => each.checkVisibility({visibilityProperty: true}))
    .filter(each => each.type !== "hidden" && !each.closest(".skip, .visually-hidden"))
    // Excepted by WCAG 2.5.8: links in a line of text, and what is also reached in another way: the pods on
    // a node in its panel, the marks of attempts in the log.
    .filter(each => !(getComputedStyle(each).display === "inline" || each.matches(".pod, .mark")))
    .filter(each => !(each.matches("[type=checkbox], [type=radio]") && each.closest("label")))
    .map(each => [each.outerHTML.slice(0, 120), each.getBoundingClientRect()])
    .filter(([, box]) => box.width < 32 || box.height < 32)
    .map(([html, box]) => `${Math.round(box.width)} x ${Math.round(box.height)} ${html}`)"""
"""The controls that are smaller than 32 px."""


def check_shown(screen: Page, name: str) -> None:
    expect(screen.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
    for each, section in SECTIONS.items():
        assert screen.locator(f".page > {section}").is_visible() == (each == name), each


def in_sight(control: Locator) -> None:
    expect(control).to_be_in_viewport(ratio=1)


def test_a_phone_shows_one_tab_at_a_time(screen: Page, live: Open) -> None:
    screen.set_viewport_size(PHONE)
    live(*story())
    expect(screen.locator("#tab-pending")).not_to_be_empty()
    screen.get_by_role("tab", name="Nodes").click()
    wait_for_story_on_board(screen)
    violations = Violations(screen)
    thin: list[str] = []
    for name in SECTIONS:
        screen.get_by_role("tab", name=name).click()
        check_shown(screen, name)
        expect(screen.get_by_role("tabpanel")).to_have_count(1)
        violations.look(name)
        thin += screen.evaluate(THIN)
        screen.evaluate("scrollTo(0, document.body.scrollHeight)")
        in_sight(screen.locator("#t-run"))
        in_sight(screen.get_by_role("tab", name=name))
        assert screen.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"]
    assert violations.found == []
    assert not thin, "\n".join(sorted({*thin}))

    # The keys of tabs; only the selected one is in the order of Tab.
    screen.get_by_role("tab", name="Log").press("ArrowRight")
    check_shown(screen, "Queue")
    expect(screen.get_by_role("tab", name="Queue")).to_be_focused()
    screen.keyboard.press("End")
    check_shown(screen, "Log")
    expect(screen.locator("[role=tab][tabindex='0']")).to_have_text(["Log"])

    # A panel opens in its tab. Closing it shows the previous tab again.
    screen.get_by_role("tab", name="Nodes").click()
    screen.locator(".node header a", has_text="node-4").click()
    expect(screen.locator("#detail")).to_contain_text("Requested and allocatable resources")
    check_shown(screen, "Cycle")
    screen.locator("#detail [data-close-panel]").first.click()
    check_shown(screen, "Nodes")
    expect(screen.locator(".node header a", has_text="node-4")).to_be_focused()

    # A wide page has no tabs, and shows everything.
    screen.set_viewport_size({"width": 1280, "height": 720})
    for section in SECTIONS.values():
        expect(screen.locator(f".page > {section}")).to_be_visible()
    expect(screen.locator("[role=tabpanel]")).to_have_count(0)
    expect(screen.get_by_role("tab")).to_have_count(0)
    expect(screen.get_by_role("region", name="Nodes")).to_be_visible()


def wait_for_story_on_board(screen: Page) -> None:
    expect(screen.locator(".node .pod.victim")).to_have_count(1)
    expect(screen.locator(".node .pod.running", has_text="small")).to_be_visible()


def test_a_question_stays_visible_beside_the_parts_that_it_asks_about(screen: Page, live: Open) -> None:
    screen.set_viewport_size(PHONE)
    sandbox = live(URGENT, node("node-1", "4"))
    screen.locator("#t-predict").click()
    check_shown(screen, "Cycle")
    screen.get_by_role("button", name="Pause and begin").click()
    expect(screen.locator("#predict")).to_contain_text("No pod waits in activeQ")
    write.create(sandbox, [pod("a-small", "1"), pod("z-urgent", "2", priorityClassName="urgent")])
    question = screen.get_by_role("region", name="Question")
    expect(question).to_contain_text("Which pod is scheduled next?")
    submit = question.get_by_role("button")
    expect(submit).to_be_disabled()
    screen.get_by_role("tab", name="Queue").click()
    in_sight(question)
    screen.locator("#lane-activeQ .chip", has_text="urgent").click()
    in_sight(question)
    check_shown(screen, "Queue")
    violations = Violations(screen)
    violations.look("question")
    assert violations.found == []
    submit.click()
    check_shown(screen, "Cycle")
    expect(screen.locator("#predict .outcome")).to_be_visible()
    expect(question).to_contain_text("Which nodes pass the filters")
    expect(submit).to_be_enabled()


def test_the_notice_of_a_failed_click_hides_no_control(page: Page, sandbox: Sandbox) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"/s/{sandbox.name}/")
    expect(page.locator("#connection")).to_have_text("live")
    page.route("**/clock/", lambda route: route.abort())
    run = page.locator("#t-run")
    run.click()
    in_sight(page.locator("#undone"))
    expect(page.locator("#undone")).to_contain_text("got no answer")
    # Playwright clicks only what is not covered.
    page.unroute("**/clock/")
    run.click()
    expect(page.locator("#undone")).to_be_empty()
