"""A first visit: from the home page to a preemption that the visitor causes, and to its explanation."""

import re

import pytest
from playwright.sync_api import Page, expect

from schedviz.store import Store
from schedviz.web import examples
from simulator.trace import Bound

from .test_accessibility import Violations

pytestmark = pytest.mark.browser

CLICKS_AT_MOST = 5
SECONDS_AT_MOST = 60
"""Simulated time from the opening of the example until the pod is bound."""

COUNT = """
addEventListener("click", (event) => {
  if (event.isTrusted) sessionStorage.setItem("clicks", Number(sessionStorage.getItem("clicks")) + 1);
}, true);
"""

SHIFTS = """
window.shifted = { all: 0, standard: 0, sources: [] };
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries()) {
    shifted.all += value;
    if (!hadRecentInput) shifted.standard += value;
    shifted.sources.push([value, ...sources.map(({ node }) => node?.id || node?.className)]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""
SHIFT_AT_MOST = 0.1
"""What the standard (Cumulative Layout Shift) calls good. It leaves out what moves within half a second after
an input, and takes the worst five seconds. Each step of the guide is a click, so nearly all would be left
out: the test asserts the stricter sum of all shifts on a page, with those after clicks."""

PRIMARY = """
() => [...document.querySelectorAll(".btn, .transport button")].filter((each) => {
  const ground = document.createElement("i");
  ground.style.background = "var(--accent)";
  document.body.append(ground);
  const accent = getComputedStyle(ground).backgroundColor;
  ground.remove();
  return each.checkVisibility() && getComputedStyle(each).backgroundColor === accent;
}).map((each) => each.textContent.trim())
"""
"""The texts of the buttons in the colour of the primary action."""


def test_a_first_visitor_causes_a_preemption_with_five_clicks_and_reads_why(
    screen: Page, store: Store
) -> None:
    violations = Violations(screen)
    screen.add_init_script(COUNT)
    screen.add_init_script(SHIFTS)

    def nothing_moved() -> None:
        shifted = screen.evaluate("shifted")
        assert shifted["standard"] <= shifted["all"] < SHIFT_AT_MOST, shifted

    screen.goto("/")
    assert screen.evaluate(PRIMARY) == ["Cause a preemption"]
    screen.get_by_role("button", name="Cause a preemption").click()
    expect(screen.locator("#connection")).to_have_text("live")
    expect(screen.get_by_role("button", name="Resume")).to_be_visible()  # it is paused
    opened = int(screen.locator("[data-clock]").get_attribute("data-sim") or 0)
    box, hint = screen.locator("#guide"), screen.locator("#hint")
    expect(box).to_contain_text("Goal")
    expect(hint).not_to_be_visible()
    assert screen.evaluate(PRIMARY) == ["Create your pod"], "empty panels have no primary action"
    box.get_by_role("link", name="Create your pod").click()
    expect(screen.get_by_label("Name", exact=True)).to_have_value("my-pod")
    expect(screen.get_by_label("PriorityClass")).to_have_value("important")
    screen.get_by_role("button", name="Create").click()

    # The pod is marked in the queue, in its cycle and on its node.
    expect(screen.locator("#lane-activeQ .chip[data-own='your pod']")).to_contain_text("my-pod")
    expect(box.locator("[aria-current=step]")).to_have_text("queue")
    violations.look("in the queue", "#guide")
    box.get_by_role("button", name="Run the next scheduling cycle").click()
    expect(box.locator("[aria-current=step]")).to_have_text("cycle")
    expect(box).to_contain_text("The scheduler chose node-2 and evicts batch")
    expect(screen.locator("#cycle .subject a[data-own]")).to_have_text("my-pod")
    box.get_by_role("button", name="Run until my-pod is bound").click()
    expect(box).to_contain_text("You did it. batch was evicted from node-2, because my-pod fitted no node")
    expect(box).to_contain_text("Rule 2 decided")
    expect(screen.locator(".node .pod[data-own='your pod']")).to_contain_text("my-pod")
    assert int(screen.evaluate("sessionStorage.getItem('clicks')")) <= CLICKS_AT_MOST
    trace = store.sandbox(screen.url.split("/s/")[1].split("/")[0]).trace_tail(1000)
    bound = [event.t for _, event in trace if isinstance(event, Bound) and event.pod == "default/my-pod"]
    assert len(bound) == 1
    assert opened < bound[0] < opened + SECONDS_AT_MOST * 1_000_000
    assert screen.evaluate(PRIMARY) == ["Next: PodDisruptionBudgets"]
    nothing_moved()
    violations.look("the end", "#guide")

    # The pod is marked after a reload, too. The open panel has the only primary action.
    screen.reload()
    expect(screen.locator("#connection")).to_have_text("live")
    expect(screen.locator(".node .pod[data-own='your pod']")).to_contain_text("my-pod")
    box.get_by_role("link", name="See why, step by step").click()
    expect(screen.locator("#detail .headline")).to_contain_text("my-pod fits no node. Its victims are on ")
    expect(screen.locator("#play .scene:visible")).to_contain_text("removed")
    nothing_moved()
    assert len(screen.evaluate(PRIMARY)) == 1
    for width in (320, 390):
        screen.set_viewport_size({"width": width, "height": 844})
        assert screen.evaluate("document.scrollingElement.scrollWidth") <= width
    screen.set_viewport_size({"width": 1280, "height": 720})
    expect(screen.locator("body.past .moment-bar")).to_be_visible()
    expect(box.get_by_role("button", name="Start again")).to_be_visible()

    # The box links to the next example, also at the past moment. It is removed when the visitor does
    # something else.
    screen.reload()
    expect(screen.locator("body.past .moment-bar")).to_be_visible()
    box.get_by_role("button", name="Next: PodDisruptionBudgets").click()
    expect(box).to_contain_text("PodDisruptionBudget")
    expect(screen.locator("#connection")).to_have_text("live")
    screen.keyboard.press("c")
    screen.get_by_label("Name", exact=True).fill("other")
    screen.get_by_role("button", name="Create").click()
    expect(box.locator(".guide")).to_have_count(0)
    expect(hint).to_be_visible()

    # A visitor who closes the hints gets no more of them.
    hint.get_by_role("button", name="Hide hints").click()
    expect(hint).not_to_be_visible()
    screen.reload()
    expect(screen.locator("#connection")).to_have_text("live")
    expect(hint).not_to_be_visible()

    # The menu starts every example over.
    screen.locator("[popovertarget=t-more]").click()
    screen.get_by_role("link", name="Start over…").click()
    with screen.expect_navigation():
        screen.get_by_role("button", name="Start over", exact=True).click()
    expect(box).to_contain_text("PodDisruptionBudget")
    expect(screen.locator("#connection")).to_have_text("live")
    for meta in store.sandboxes():
        if examples.is_example(meta):
            store.delete(meta.name)
    expect(screen.locator("#connection")).to_have_text(re.compile("deleted"))
    assert violations.found == []
