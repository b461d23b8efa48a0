"""Past moments on the whole page, by mouse, keys and address; and a branch of a past moment."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from schedviz.api import removal, write
from schedviz.loop.clock import pause
from schedviz.store import Meta, Sandbox, Store
from simulator import trace
from tests.clocks import at_rest
from tests.processes import Process
from tests.simulator.lab import priority_class

from .conftest import Open, eventually_in, hold_first, node, pod

pytestmark = pytest.mark.browser

SLIDER = "#moment"

# How many pixels the middle of the thumb stands right of the middle of a mark, which a selector names,
# or without one right of the right end of the axis.
THUMB = """selector => {
    const slider = document.querySelector("#moment");
    const box = slider.getBoundingClientRect();
    const wide = parseFloat(getComputedStyle(slider).getPropertyValue("--thumb"));
    const thumb = box.left + wide / 2 + (box.width - wide) * slider.value / slider.max;
    if (!selector) return thumb - document.querySelector("#marks").getBoundingClientRect().right;
    const mark = document.querySelector(selector).getBoundingClientRect();
    return thumb - (mark.left + mark.right) / 2;
}"""


def seqs(sandbox: Sandbox, kind: type) -> list[int]:
    return [seq for seq, event in sandbox.trace(0) if isinstance(event, kind)]


def make_history(sandbox: Sandbox, live: Page) -> None:
    """Make a history: "web" is bound, "big" is unschedulable, "web" is deleted; then pause."""
    expect(live.locator(".node .pod.running", has_text="web")).to_be_visible()
    write.create(sandbox, [pod("big", "8")])
    expect(live.locator("#lane-unschedulable .chip", has_text="big")).to_be_visible()
    removal.delete(sandbox, "pods", "default/web")
    expect(live.locator(".node .pod")).to_have_count(0)
    pause(sandbox)
    at_rest(sandbox)
    expect(live.locator("#t-run")).to_have_text(re.compile("Resume"))


def test_the_oldest_moment_is_the_first_event_also_on_a_page_that_came_before_it(
    screen: Page, store: Store, sandbox_name: str, worker: Process
) -> None:
    slider, banner = screen.locator(SLIDER), screen.locator("#past")
    with worker.halted():
        sandbox = write.create_sandbox(store, Meta(sandbox_name, pace=100_000), [node("node-1", "2")])
        screen.goto(f"/s/{sandbox_name}/")
        # The page has a state: live, or, if it opens slowly, already without a worker that responds.
        expect(screen.locator("#connection")).to_have_class(re.compile(r"\b(ok|lost)\b"))
        assert sandbox.trace_head() == 0
        # There is no moment yet.
        slider.press("Home")
        screen.keyboard.press("[")
        expect(banner).to_be_hidden()
        expect(screen).to_have_url(re.compile(rf"/s/{sandbox.name}/$"))
        expect(slider).to_have_attribute("aria-valuetext", "live")

    write.create(sandbox, [pod("web")])
    expect(screen.locator(".node .pod.running", has_text="web")).to_be_visible()
    slider.press("Home")
    expect(screen).to_have_url(re.compile(rf"/s/{sandbox.name}/at/1/$"))
    expect(banner).to_contain_text("event 1 of")
    expect(screen.locator(".node .pod")).to_have_count(0)
    screen.keyboard.press("l")
    expect(banner).to_be_hidden()
    expect(screen.locator(".node .pod.running", has_text="web")).to_be_visible()


def test_the_whole_page_shows_the_moment_until_it_is_live_again(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1", "2"), pod("web"))
    make_history(sandbox, screen)
    base, head = f"/s/{sandbox.name}/", sandbox.trace_head()
    slider, banner = screen.locator(SLIDER), screen.locator("#past")
    expect(banner).to_be_hidden()
    expect(slider).to_have_attribute("aria-valuetext", "live")

    assert abs(screen.evaluate(THUMB)) < 1, "live is the right end"

    # The mouse drags the thumb from the right end to the left, and back to live.
    box = slider.bounding_box()
    assert box
    screen.mouse.move(box["x"] + box["width"] - 6, box["y"] + box["height"] / 2)
    screen.mouse.down()
    screen.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    expect(banner).to_be_visible()
    screen.mouse.move(box["x"] + 6, box["y"] + box["height"] / 2, steps=4)
    screen.mouse.up()
    expect(screen.locator(".node .pod")).to_have_count(0)
    expect(screen).to_have_url(re.compile(rf"{base}at/[1-3]/$"))
    slider.press("End")
    expect(banner).to_be_hidden()
    expect(slider).to_have_attribute("aria-valuetext", "live")
    slider.press("Home")
    expect(banner).to_contain_text("event 1 of")

    # Steps to the moment at which "web" was bound, and to that at which "big" failed, each with its address.
    for seq in (seqs(sandbox, trace.Bound)[0], seqs(sandbox, trace.Unschedulable)[0]):
        screen.keyboard.press("}")
        expect(screen).to_have_url(re.compile(rf"{base}at/{seq}/$"))
        expect(banner).to_contain_text(f"event {seq} of {head}")
        expect(slider).to_have_attribute("aria-valuetext", re.compile(rf"\d\d:\d\d:\d\d.*, event {seq}$"))
    expect(screen.locator(".node .pod", has_text="web")).to_be_visible()
    expect(screen.locator("#cycle .headline")).to_contain_text("big fits no node")
    expect(screen.locator("#log")).not_to_contain_text("deleted")
    slider.press("ArrowRight")
    expect(screen).to_have_url(re.compile(rf"{base}at/{seq + 1}/$"))
    expect(banner).to_contain_text(f"event {seq + 1} of {head}")
    slider.press("ArrowLeft")
    expect(screen).to_have_url(re.compile(rf"{base}at/{seq}/$"))
    expect(banner).to_contain_text(f"event {seq} of {head}")

    # Panels show the moment. Nothing can be changed, and later changes are not shown.
    screen.locator(".node .pod", has_text="web").click()
    expect(screen.locator("#pod-panel .title")).to_have_text("Pod web")
    expect(screen.locator("#pod-panel form")).to_have_count(0)
    write.create(sandbox, [node("node-2")])
    for key in ("n", ".", "u", "/"):
        screen.keyboard.press(key)
    expect(screen.locator("dialog[open]")).to_have_count(0)
    screen.keyboard.press("[")
    expect(banner).to_contain_text(f"event {seq - 1} of")
    expect(screen.locator("#detail [href*='/at/']").first).to_have_attribute(
        "href", re.compile(rf"^{base}at/{seq - 1}/")
    )
    expect(screen.locator(".node")).to_have_count(1)
    assert sandbox.clock().paused

    # The same after a reload. Then the history is played to its end, which is live.
    screen.reload()
    expect(banner).to_contain_text(f"event {seq - 1} of")
    expect(screen.locator(".node .pod", has_text="web")).to_be_visible()
    expect(screen.locator(".node")).to_have_count(1)
    screen.locator("#replay-speed").select_option("8")
    screen.locator("#replay").click()
    expect(banner).to_be_hidden()
    expect(screen).to_have_url(re.compile(rf"{base}pods/default/web/$"))
    expect(screen.locator(".node")).to_have_count(2)
    expect(screen.locator(".node .pod")).to_have_count(0)
    expect(screen.locator("#connection")).to_have_text("live")

    # The browser's Back button, and a key that shows the live page.
    screen.go_back()
    expect(banner).to_be_visible()
    screen.keyboard.press("{")
    expect(screen.locator(".node")).to_have_count(1)
    screen.keyboard.press("l")
    expect(screen.locator(".node")).to_have_count(2)
    expect(screen.get_by_role("button", name="Resume")).to_be_visible()


@pytest.mark.long
def test_a_pinned_cycle_puts_the_whole_page_at_the_moment_at_which_it_ended(screen: Page, live: Open) -> None:
    sandbox = live(
        node("node-1", "2"),
        node("node-2", "1"),
        priority_class("urgent", 1000),
        pod("batch", "2"),
    )
    expect(screen.locator(".node .pod.running", has_text="batch")).to_be_visible()
    write.create(sandbox, [pod("web", "2", priorityClassName="urgent")])
    expect(screen.locator(".node .pod.running", has_text="web")).to_be_visible()
    write.create(sandbox, [pod("late", "1")])
    expect(screen.locator(".node .pod", has_text="late")).to_be_visible()
    [nominated] = seqs(sandbox, trace.Nominated)
    base, banner, detail = f"/s/{sandbox.name}/", screen.locator("#past"), screen.locator("#detail")

    def at_the_moment() -> None:
        expect(banner).to_contain_text(f"event {nominated} of")
        expect(detail).to_contain_text("web fits no node. Its victims are on node-1.")
        expect(screen.locator(SLIDER)).to_have_attribute("aria-valuetext", re.compile(rf"event {nominated}$"))
        assert abs(screen.evaluate(THUMB, ".mark.preempting")) < 1, "the mark is at the cursor"
        expect(screen.locator(".node .pod")).to_have_count(1)
        expect(screen.locator(".node .pod.running", has_text="batch")).to_be_visible()
        expect(screen.locator(".queue .chip", has_text="web")).to_be_visible()
        expect(screen.locator(".verdict").first).to_have_text("nominated")
        expect(screen.locator("#log > li").first).to_have_attribute("data-seq", str(nominated))

    # From the live page, while time runs, and back.
    screen.locator(".mark.preempting").click()
    at_the_moment()
    expect(screen).to_have_url(re.compile(rf"{base}at/{nominated}/cycles/\d+/$"))
    screen.get_by_role("link", name="Unpin this cycle").click()
    expect(banner).to_be_hidden()
    expect(detail).to_be_empty()
    expect(screen.locator(".node .pod")).to_have_count(2)
    screen.go_back()
    at_the_moment()
    screen.reload()
    at_the_moment()

    # At another moment the cycle is not pinned. Unpinning at a past moment keeps that moment.
    screen.keyboard.press("]")
    expect(banner).to_contain_text(f"event {nominated + 1} of")
    expect(detail).to_be_empty()
    screen.locator("#cycle-title").get_by_role("link").click()
    at_the_moment()
    screen.keyboard.press("Escape")
    expect(banner).to_contain_text(f"event {nominated + 1} of")
    screen.keyboard.press("l")
    expect(banner).to_be_hidden()
    expect(screen.locator(".node .pod")).to_have_count(2)


def test_where_the_visitor_goes_while_a_moment_is_loaded_comes_first(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1", "2"), pod("web"))
    make_history(sandbox, screen)
    base, banner, mark = f"/s/{sandbox.name}/", screen.locator("#past"), screen.locator("#marks .mark")
    title, slider = screen.locator("#detail [data-panel-title]"), screen.locator(SLIDER)

    # A cycle is given up for a moment, for the present, for a panel.
    def given_up(act: Callable[[], object]) -> None:
        held = hold_first(screen, "/cycles/")
        mark.last.click()
        eventually_in(screen, lambda: held, "the cycle is asked for")
        with screen.expect_event("requestfailed"):
            act()

    given_up(lambda: slider.press("Home"))
    expect(banner).to_contain_text("event 1 of")
    given_up(lambda: screen.keyboard.press("l"))
    expect(banner).to_be_hidden()
    given_up(lambda: screen.locator("#as-table").click())
    expect(title).to_contain_text("Nodes")
    expect(banner).to_be_hidden()

    # A moment that comes after the cycle which was clicked later is not shown.
    held = hold_first(screen, f"{base}at/1/$")
    slider.press("Home")
    eventually_in(screen, lambda: held, "the moment is asked for")
    mark.last.click()
    expect(screen).to_have_url(re.compile("/cycles/"))
    with screen.expect_response(re.compile(f"{base}at/[2-9][0-9]*/$")):
        held[0].continue_()
    expect(banner).not_to_contain_text("event 1 of")
    expect(screen).to_have_url(re.compile("/cycles/"))
    expect(screen.locator("#detail")).to_contain_text("big")
    screen.get_by_role("link", name="Unpin this cycle").click()
    expect(banner).to_contain_text("event 1 of")


def test_a_branch_of_a_past_moment_continues_independently(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1", "2"), pod("web"))
    make_history(sandbox, screen)
    [bound, *_] = seqs(sandbox, trace.Bound)
    screen.goto(f"/s/{sandbox.name}/at/{bound}/")
    screen.get_by_role("link", name="Branch from here").click()
    name = f"{sandbox.name}-at-{bound}"
    expect(screen.get_by_label("Name", exact=True)).to_have_value(name)
    screen.get_by_role("button", name="Branch", exact=True).click()
    expect(screen).to_have_url(re.compile(rf"/s/{name}/$"))
    expect(screen.locator("#t-run")).to_have_text(re.compile("Resume"))
    expect(screen.locator(".node .pod", has_text="web")).to_be_visible()
    screen.locator("[popovertarget=about-sandbox]").click()
    screen.get_by_role("link", name=re.compile(f"^{sandbox.name} at .*, event {bound}$")).click()
    expect(screen).to_have_url(re.compile(rf"/s/{sandbox.name}/at/{bound}/$"))


def test_on_a_phone_the_axis_of_a_past_moment_is_visible_in_every_tab(screen: Page, live: Open) -> None:
    screen.set_viewport_size({"width": 390, "height": 844})
    live(node("node-1", "2"), pod("web"))
    expect(screen.locator(".node .pod.running", has_text="web")).to_be_visible()
    slider = screen.locator(SLIDER)
    expect(slider).to_be_hidden()
    screen.get_by_role("tab", name="Log").click()
    slider.press("Home")
    expect(screen.locator("#past")).to_contain_text("event 1 of")
    for name in ("Queue", "Nodes", "Cycle"):
        screen.get_by_role("tab", name=name).click()
        for control in (slider, screen.get_by_role("button", name="Next event")):
            # It is not covered by the bar of the past moment at the lower edge.
            control.click(trial=True)
            expect(control).to_be_in_viewport(ratio=1)
    slider.press("End")
    expect(screen.locator("#past")).to_be_hidden()
    expect(slider).to_be_hidden()
