"""The bar at the top: nothing in it is cut off, its menus fit and close, and a branch links to its parent."""

import pytest
from django.conf import settings
from playwright.sync_api import Locator, Page, expect

from tests.browser.language import choose_language, wait_until_live

from .conftest import Open, node, pod
from .test_accessibility import CUT

pytestmark = pytest.mark.browser

CLIPPED = """() => [...document.querySelectorAll(".bar *")]
    .filter(each => each.checkVisibility() && getComputedStyle(each).clipPath === "none")
    .filter(each => !each.closest(".logo, [popover]"))
    .filter(each => each.scrollWidth > each.clientWidth + 1 && each.clientWidth
        || each.getBoundingClientRect().right > innerWidth
        || each.getBoundingClientRect().bottom > innerHeight)
    .map(each => each.outerHTML.slice(0, 120))"""
"""The elements of the bar that are cut off."""


def test_the_bar_shows_every_name_in_full(screen: Page, live: Open, sandbox_name: str) -> None:
    parent = live(node("node-1", "2"), pod("web", "1"))
    name = f"{sandbox_name[:40]}-a-branch-with-a-very-long-name-of-63-letters"[:63]
    expect(screen.locator(".node .pod.running")).to_have_count(1)
    screen.goto(f"/s/{parent.name}/at/{parent.trace_head()}/branch/")
    screen.locator("#branch-name").fill(name)
    screen.get_by_role("button", name="Branch").click()
    expect(screen.locator("#connection")).to_have_text("live")
    for language, _ in settings.LANGUAGES:
        choose_language(screen, language)
        wait_until_live(screen)
        for width in (320, 390, 768, 1024, 1280, 1440, 1920):
            screen.set_viewport_size({"width": width, "height": 720})
            expect(screen.locator("h1")).to_have_text(name)
            assert screen.evaluate(CLIPPED) == [], (language, width)
            assert screen.evaluate(CUT) == [], (language, width)
            if width >= 1280:
                controls = [
                    screen.locator(f".bar {each}").bounding_box() for each in (".transport", ".create")
                ]
                middles = [box["y"] + box["height"] / 2 for box in controls if box]
                assert max(middles) - min(middles) < 3, f"more than one line at {width}"
    screen.set_viewport_size({"width": 1280, "height": 720})
    screen.get_by_role("link", name=parent.name).click()
    expect(screen.locator("h1")).to_have_text(parent.name)
    expect(screen.locator("#past")).to_be_visible()


@pytest.mark.parametrize("size", [(1280, 720), (390, 480)], ids=["projector", "phone"])
def test_menus_fit_the_window_and_close(screen: Page, live: Open, size: tuple[int, int]) -> None:
    width, height = size
    screen.set_viewport_size({"width": width, "height": height})
    live(node("node-1"))

    def fits(content: Locator) -> None:
        expect(content).to_be_visible()
        box = content.bounding_box()
        assert box
        assert box["x"] >= 0, box
        assert box["y"] >= 0, box
        assert box["x"] + box["width"] <= width, box
        assert box["y"] + box["height"] <= height, box

    openers = screen.locator("[popovertarget]:visible")
    ids = [each.get_attribute("popovertarget") for each in openers.all()]
    assert {"t-more", "t-until"} <= {*ids}
    for each in ids:
        opener, content = screen.locator(f"[popovertarget={each}]"), screen.locator(f"#{each}")
        opener.click()
        fits(content)
        screen.keyboard.press("Escape")
        expect(content).to_be_hidden()
        expect(opener).to_be_focused()
        # Escape closes the menu first, for any focused element, and then a panel.
        opener.click()
        screen.evaluate("document.activeElement.blur()")
        screen.keyboard.press("Escape")
        expect(content).to_be_hidden()
        opener.click()
        screen.locator("h1").click()
        expect(content).to_be_hidden()
    # Another menu closes the open one.
    screen.locator("[popovertarget=t-until]").click()
    screen.locator("[popovertarget=t-more]").click()
    expect(screen.locator(":popover-open")).to_have_count(1)
