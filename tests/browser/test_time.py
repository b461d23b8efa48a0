"""Time from the page: stepping through a cycle, and running until something happens; by keys and by mouse."""

import re

import pytest
from playwright.sync_api import Page, expect

from schedviz.loop.clock import pause, set_speed
from tests.amounts import long_but_first

from .conftest import Open, eventually_in, hold_first, node, pod

pytestmark = pytest.mark.browser


def test_a_cycle_is_stepped_by_key_and_the_page_shows_what_is_known_so_far(screen: Page, live: Open) -> None:
    sandbox = live(node("small", "2"), node("large", "8"))
    expect(screen.locator("#t-next")).to_be_disabled()
    expect(screen.locator("#t-cycle")).to_be_disabled()
    expect(screen.locator(".stands")).to_have_count(0)
    screen.keyboard.press(" ")
    expect(screen.locator(".stands")).to_have_text("paused")
    expect(screen.locator("#t-next")).to_have_text("Start next pod")
    expect(screen.locator("#t-cycle")).to_have_text("Finish cycle")
    # After a step that changes nothing the page says why, until the next act.
    screen.locator("#t-event").click()
    expect(screen.locator("#idle")).to_have_text("Nothing to do: no pod waits and no timer is set.")
    live_pod(screen, "web")
    # Two steps at once: the second waits for the answer to the first, while a frame gives another button the
    # focus back.
    held = hold_first(screen, "/clock/$", "POST")
    screen.locator("#t-event").focus()
    for _ in range(2):
        screen.keyboard.press(".")
    eventually_in(screen, lambda: held, "the first step is asked for")
    set_speed(sandbox, 2.0)
    expect(screen.locator("#t-speed")).to_have_value("2.0")
    held[0].continue_()
    for point in ("Filter", "PreScore", "Score", "Reserve", "PreBind", "Bind"):
        if point != "Filter":
            screen.keyboard.press(".")
        expect(screen.locator("#t-next")).to_have_text(f"Next: {point}")
        if point == "Filter":
            expect(screen.locator("#idle")).to_be_empty()
            expect(screen.locator(".pipe .current")).to_have_text("Filter")
            expect(screen.locator(".pipe .done")).to_have_text("PreFilter")
            expect(screen.locator("#cycle .headline")).to_have_text("web is being scheduled. Next: Filter.")
            expect(screen.locator("#cycle .matrix")).to_have_count(0)
            expect(screen.get_by_role("link", name="Pin this cycle")).to_have_count(0)
        if point == "PreScore":
            expect(screen.locator("#cycle .matrix tbody")).to_contain_text("fits")
            expect(screen.locator("#cycle .scores")).to_have_count(0)
    expect(screen.locator("#cycle .scores .win th")).to_have_text("large")
    expect(screen.locator(".node .pod.running, .node .pod.starting")).to_have_count(0)
    screen.keyboard.press(".")
    expect(screen.locator(".node .pod", has_text="web")).to_be_visible()
    expect(screen.get_by_role("link", name="Pin this cycle")).to_be_visible()
    assert sandbox.clock().paused


def live_pod(screen: Page, name: str) -> None:
    """Create a pod on the page, so that the page shows it before the next step."""
    screen.keyboard.press("p")
    screen.get_by_label("Name", exact=True).fill(name)
    screen.get_by_role("button", name="Create").click()
    expect(screen.locator(".queue .chip", has_text=name)).to_be_visible()
    # The pod may appear before the form's response arrives. Until then the dialog is open and takes the keys.
    expect(screen.locator("dialog[open]")).to_have_count(0)


def test_a_run_stops_when_the_pod_is_bound(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1", "2"))
    pause(sandbox)
    expect(screen.locator("#t-run")).to_have_text(re.compile("Resume"))
    live_pod(screen, "first")
    live_pod(screen, "second")
    screen.keyboard.press("u")
    screen.get_by_label("Pod", exact=True).fill("first")
    screen.get_by_role("button", name="is bound").click()
    expect(screen.locator("#t-until")).to_be_hidden()
    expect(screen.locator(".node .pod", has_text="first")).to_be_visible()
    expect(screen.locator("#t-run")).to_have_text(re.compile("Resume"))
    expect(screen.locator(".queue .chip", has_text="second")).to_be_visible()
    screen.keyboard.press("u")
    screen.get_by_role("button", name="nothing is pending").click()
    expect(screen.locator(".node .pod", has_text="second")).to_be_visible()
    expect(screen.locator("#t-run")).to_have_text(re.compile("Resume"))
    assert not sandbox.queue_places()


@pytest.mark.parametrize("width", long_but_first([360, 390, 768, 1280]))
def test_the_bar_fits_every_width(screen: Page, live: Open, width: int) -> None:
    pause(live(node("node-1", "2"), pod("web", "1")))
    screen.set_viewport_size({"width": width, "height": 720})
    expect(screen.locator("#t-next")).to_be_enabled()
    screen.keyboard.press("u")
    expect(screen.get_by_role("button", name="the next preemption")).to_be_in_viewport()
    assert screen.evaluate("document.documentElement.scrollWidth") <= width
