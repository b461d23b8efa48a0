"""The keys of the page, the list of them, and clicks: static/js/registry.js."""

import re

import pytest
from playwright.sync_api import Page, expect

from schedviz.api import write
from schedviz.loop.clock import pause
from schedviz.store import Meta, Store
from tests.clocks import at_rest

from .conftest import Open, node, pod

pytestmark = pytest.mark.browser

# The keys of the existing controls, from the registry and from the attribute aria-keyshortcuts.
KEYS = """
async () => {
  const { listShortcuts } = await import(document.querySelector("script[src$='/sandbox.js']").src);
  const labelled = [...document.querySelectorAll("[aria-keyshortcuts]")];
  return {
    registered: listShortcuts().map(({ key, control }) => `${labelled.indexOf(control)} ${key}`).sort(),
    labelled: labelled.map((control, at) => `${at} ${control.getAttribute("aria-keyshortcuts")}`).sort(),
    acting: listShortcuts().filter(({ acts }) => acts).map(({ key }) => key),
  };
}
"""

TIME = ["Space", ";", ".", ",", "g", "u"]
TRAVEL = ["{", "[", "]", "}"]


def check_keys(screen: Page, expected: list[str]) -> None:
    """The registered keys are those of the controls' attributes, no two controls have the same one at once,
    and the list on the page has the expected ones."""
    keys = screen.evaluate(KEYS)
    assert keys["registered"] == keys["labelled"]
    assert len(keys["acting"]) == len(set(keys["acting"]))
    screen.locator("[popovertarget=keys]").click()
    expect(screen.locator("#keys kbd")).to_have_text(expected)
    for name in screen.locator("#keys dd").all_inner_texts():
        assert name.strip()
    screen.locator("[popovertarget=keys]").click()


def forms_of(urls: list[str]) -> list[str]:
    return [found[1] for url in urls if (found := re.search(r"/s/[^/]+/(new/.*|command/)$", url))]


def test_the_list_of_keys_has_the_keys_of_enabled_controls(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1", "2"), pod("big", "8"))
    expect(screen.locator("#lane-unschedulable .chip")).to_be_visible()
    check_keys(screen, [*TIME, "p", "c", "n", "b", "y", "/", "h", "?", "f", "t", "v", *TRAVEL])
    screen.locator("#lane-unschedulable .chip a").click()
    expect(screen.locator("#suppose-ask")).to_be_visible()
    check_keys(screen, [*TIME, "p", "c", "n", "b", "y", "/", "h", "?", "f", "t", "v", "w", *TRAVEL])
    pause(sandbox)
    at_rest(sandbox)
    screen.goto(f"/s/{sandbox.name}/at/{sandbox.trace_head()}/")
    expect(screen.locator("#past")).to_be_visible()
    expect(screen.locator("#connection")).to_have_text("live")
    check_keys(screen, ["l", "h", "?", "f", "t", "v", *TRAVEL, "Space"])


def test_the_list_of_keys_has_the_keys_of_the_grid(screen: Page, store: Store, sandbox_name: str) -> None:
    write.create_sandbox(store, Meta(sandbox_name), [node(f"n-{number}") for number in range(70)])
    screen.goto(f"/s/{sandbox_name}/")
    expect(screen.locator("#connection")).to_have_text("live")
    expect(screen.locator("#grid")).to_be_visible()
    grid = ["-", "+", "0"]
    check_keys(screen, [*TIME, "p", "c", "n", "b", "y", "/", "h", "?", "f", "t", "v", *grid, *TRAVEL])
    store.delete(sandbox_name)
    expect(screen.locator("#connection")).to_have_text("deleted")


def test_keys_do_nothing_in_text_and_with_modifiers(screen: Page, live: Open) -> None:
    live(node("node-1"))
    urls: list[str] = []
    screen.on("request", lambda request: urls.append(request.url))
    filter_field = screen.locator("#q")
    filter_field.focus()
    screen.keyboard.type("pcnb/y")
    expect(filter_field).to_have_value("pcnb/y")
    screen.keyboard.press("Escape")
    expect(filter_field).to_have_value("")
    expect(filter_field).not_to_be_focused()
    for key in ("Alt+p", "Control+b", "Meta+y", "Control+/"):
        screen.keyboard.press(key)
    screen.locator("#grouping").focus()
    screen.keyboard.press("c")
    screen.locator("h1").click()
    # A request by one of the keys above would have been sent before this one.
    screen.keyboard.press("n")
    expect(screen.locator("#dialog-title")).to_have_text("New Node")
    assert forms_of(urls) == ["new/node/"]


def test_an_open_dialog_takes_all_keys_and_escape_first(screen: Page, live: Open) -> None:
    live(node("node-1"))
    screen.locator(".node header a").click()
    panel, dialog = screen.locator("#node-panel"), screen.locator("#dialog")
    expect(panel).to_be_visible()
    screen.keyboard.press("p")
    expect(screen.locator("#dialog-title")).to_have_text("New Pod")
    expect(dialog).to_be_visible()
    urls: list[str] = []
    screen.on("request", lambda request: urls.append(request.url))
    # The keys of the page do not act while the dialog is open, for any focused element.
    screen.locator("#dialog-title").click()
    screen.evaluate("document.activeElement.blur()")
    screen.keyboard.press("n")
    screen.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()
    expect(panel).to_be_visible()
    screen.keyboard.press("c")
    expect(screen.locator("#dialog-title")).to_have_text("New PriorityClass")
    expect(dialog).to_be_visible()
    assert forms_of(urls) == ["new/priorityclass/"]
    screen.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()
    screen.locator("h1").click()
    screen.keyboard.press("Escape")
    expect(panel).to_have_count(0)


def test_space_opens_a_menu_that_has_the_focus_and_does_not_pause(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1"))
    screen.locator("[popovertarget=t-more]").focus()
    screen.keyboard.press("Space")
    expect(screen.get_by_role("link", name="All objects")).to_be_visible()
    assert not sandbox.clock().paused
    screen.locator("h1").click()
    expect(screen.get_by_role("link", name="All objects")).not_to_be_visible()
    screen.keyboard.press("Space")
    expect(screen.get_by_role("button", name="Resume")).to_be_visible()
    assert sandbox.clock().paused


def test_arrow_keys_move_along_the_timeline(screen: Page, live: Open) -> None:
    live(node("node-1"), pod("one"), pod("two"))
    marks = screen.locator("#marks > .mark")
    expect(marks).to_have_count(2)
    expect(marks.last).to_have_js_property("tabIndex", 0)
    expect(marks.first).to_have_js_property("tabIndex", -1)
    marks.last.focus()
    screen.keyboard.press("ArrowLeft")
    expect(marks.first).to_be_focused()
    screen.keyboard.press("ArrowRight")
    expect(marks.last).to_be_focused()


def test_a_click_with_a_modifier_is_left_to_the_browser(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1"))
    with screen.context.expect_page() as opened:
        screen.locator(".node header a").click(modifiers=["ControlOrMeta"])
    expect(opened.value).to_have_url(re.compile(rf"/s/{sandbox.name}/nodes/node-1/$"))
    opened.value.close()
    expect(screen.locator("#detail")).to_be_empty()
