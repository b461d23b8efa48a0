"""An idea: the element that shows it, its page and its live example."""

import pytest
from playwright.sync_api import Page, expect

from schedviz.web.ideas import texts as ideas

from .conftest import Open, node, pod
from .test_accessibility import Violations

pytestmark = pytest.mark.browser


def test_an_idea_opens_from_an_element_that_shows_it_and_its_page_has_a_live_example(
    screen: Page, live: Open
) -> None:
    live(node("node-1"), node("node-2"), pod("web"))
    # The page shows no explanations until Help is pressed. Then each is beside its element, and links to the
    # idea.
    explained, help_button = screen.locator("a.idea.explained:visible"), screen.locator("#help")
    expect(screen.locator("a.idea:visible")).to_have_count(0)
    violations = Violations(screen)
    screen.keyboard.press("h")
    expect(help_button).to_have_attribute("aria-pressed", "true")
    for name in ("queue", "priority", "score", "filter"):
        shown = screen.locator(f"a.idea.explained[href='/ideas/{name}/']:visible")
        expect(shown).to_contain_text(ideas.ideas()[name].says)
    violations.look("help", "#main")
    screen.reload()
    expect(help_button).to_have_attribute("aria-pressed", "true")
    screen.keyboard.press("Escape")
    expect(explained).to_have_count(0)
    help_button.click()
    screen.keyboard.press("?")
    expect(screen.locator("#keys kbd").first).to_be_visible()
    screen.keyboard.press("?")
    expect(screen.locator("#keys kbd").first).not_to_be_visible()
    screen.locator(".queue > .titled a.idea").click()
    expect(screen.get_by_role("heading", level=1)).to_have_text("The queue")
    violations.look("idea")
    screen.get_by_role("button", name="Start the example").click()
    frame = screen.frame_locator("iframe[title='Live example: the queue']")
    expect(frame.locator("#connection")).to_have_text("live")
    expect(frame.locator("#lane-activeQ .chip")).to_have_count(2)
    expect(frame.locator("#lane-gated .chip")).to_have_count(1)
    expect(frame.locator(".nodes")).to_be_hidden()
    for _ in range(2):
        frame.get_by_role("button", name="Finish cycle").click()
        expect(frame.get_by_role("button", name="Finish cycle")).to_be_enabled()
    expect(frame.locator("#lane-unschedulable .chip")).to_contain_text("1 has too little cpu")
    violations.look("example")

    # The example runs to its end, and says so. Again starts it over. Next opens the next idea outside of the
    # frame.
    over = frame.get_by_text("The example has ended.")
    expect(over).to_have_count(0)
    frame.locator("#t-speed").select_option("100.0")
    frame.get_by_role("button", name="Resume").click()
    expect(over).to_be_visible()
    violations.look("ended")
    with screen.expect_navigation():
        frame.get_by_role("button", name="Start again").click()
    expect(frame.locator("#lane-activeQ .chip")).to_have_count(2)
    expect(frame.locator("#connection")).to_have_text("live")
    expect(over).to_have_count(0)
    frame.locator("#t-speed").select_option("100.0")
    frame.get_by_role("button", name="Resume").click()
    frame.get_by_role("link", name="Next: filtering").click()
    expect(screen.get_by_role("heading", level=1)).to_have_text("Filtering")
    screen.go_back()
    expect(frame.locator("#connection")).to_have_text("live")
    for width in (320, 640):
        screen.set_viewport_size({"width": width, "height": 640})
        assert screen.evaluate("document.scrollingElement.scrollWidth") <= width
    screen.get_by_role("link", name="Open the whole page").click()
    expect(screen.locator("#connection")).to_have_text("live")
    expect(screen.locator("#nodes")).to_be_visible()
    expect(screen.locator("#lane-gated .chip")).to_have_count(1)
    assert violations.found == []
