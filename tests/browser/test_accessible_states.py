"""axe-core on the states of the page that need several steps."""

import re

import pytest
from playwright.sync_api import Page, expect

from schedviz.api import write
from tests.amounts import long_but_first
from tests.browser.language import choose_language, wait_until_live
from tests.processes import Process
from tests.waiting import eventually

from .conftest import Open, node, pod
from .test_accessibility import Violations, story, wait_for_story

pytestmark = pytest.mark.browser

LANGUAGES = ("en", "de", "zh-hans")


def read_in(screen: Page, language: str) -> None:
    choose_language(screen, language)
    wait_until_live(screen)


@pytest.mark.long
@pytest.mark.sampled
@pytest.mark.parametrize("language", long_but_first(LANGUAGES))
def test_axe_finds_nothing_in_the_table_the_play_and_the_projector_view(
    screen: Page, live: Open, language: str
) -> None:
    violations = Violations(screen)
    live(*story())
    wait_for_story(screen)
    read_in(screen, language)

    screen.keyboard.press("t")
    table = screen.locator("#detail #node-table")
    expect(table.locator("tbody tr")).to_have_count(4)
    violations.look("table", "#detail")
    table.get_by_role("searchbox").fill("node-1")
    expect(table.locator("tbody tr")).to_have_count(1)
    violations.look("table, searched", "#detail")
    table.get_by_role("searchbox").fill("nowhere")
    expect(table.locator("tbody tr", has_text="node-")).to_have_count(0)
    violations.look("table, nothing found", "#detail")
    table.locator("[data-panel-title]").focus()
    screen.keyboard.press("Escape")
    expect(table).not_to_be_visible()

    # Each step changes the panel and the card on the board.
    screen.locator(".mark.preempting").first.click()
    scenes = screen.locator("#play .scene")
    expect(scenes.first).to_be_visible()
    steps = scenes.count()
    assert steps > 1
    violations.look("step 1", "#main")
    for number in range(2, steps + 1):
        screen.locator("#play [data-go=on]").click()
        expect(scenes.nth(number - 1)).to_be_visible()
        violations.look(f"step {number}", "#main")
    screen.keyboard.press("Escape")
    expect(screen.locator("#play")).to_have_count(0)

    screen.keyboard.press("v")
    expect(screen.locator("body")).to_have_class(re.compile(r"\bprojector\b"))
    violations.look("projector")
    assert violations.found == []


@pytest.mark.long
@pytest.mark.sampled
@pytest.mark.parametrize("language", long_but_first(LANGUAGES))
def test_axe_finds_nothing_in_the_follow_up_of_a_change_that_did_not_help(
    screen: Page, live: Open, job_runner: Process, language: str
) -> None:
    violations = Violations(screen)
    sandbox = live(node("node-1", "4"), pod("old", "3"))
    read_in(screen, language)
    eventually(lambda: (sandbox.get("pods", "default/old") or {"spec": {}})["spec"].get("nodeName"), "bound")
    write.create(sandbox, [pod("first", "3"), pod("big", "4")])
    screen.locator("#lane-unschedulable .chip a", has_text="big").click()
    screen.locator("#suppose-ask").click()
    deletion = screen.locator("#pod-panel .offers li", has_text="old").filter(
        has_text="first"
    )  # the other pod
    expect(deletion).to_be_visible()
    violations.look("offers", "#detail")
    deletion.get_by_role("button").first.click()
    expect(screen.locator("#pod-panel .follow-up.failed")).to_contain_text("node-1")
    violations.look("it did not help", "#detail")
    assert violations.found == []
