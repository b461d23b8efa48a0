"""The live page of a sandbox whose scheduler stands down: the example of docs/GUEST.md binds the pods, and
then the sandbox's own scheduler schedules the remaining pods."""

import subprocess
import sys

import pytest
from playwright.sync_api import Page, expect

from schedviz.api import schedulers, write
from tests.api.test_guest import EXAMPLE

from .conftest import Open, node, pod
from .test_accessibility import Violations

pytestmark = pytest.mark.browser


def switch(page: Page) -> None:
    page.locator("[popovertarget=t-more]").click()
    page.get_by_role("link", name="Scheduler configuration").click()
    page.locator("#stand-down-do").click()
    expect(page.locator("#dialog")).to_be_hidden()


def test_an_outside_scheduler_binds_what_waits_in_its_lane(screen: Page, live: Open, stack: str) -> None:
    sandbox, violations = live(node("node-1", "4")), Violations(screen)
    lane, log = screen.locator("#lane-outside"), screen.locator("#log")
    expect(lane).to_be_hidden()
    switch(screen)
    expect(lane).to_contain_text("stands down")
    expect(lane).to_contain_text("Pause does not hold an outside one")
    write.create(sandbox, [pod("first"), pod("second"), pod("large", "8")])
    expect(lane.locator(".chip")).to_have_count(3)
    expect(screen.locator("#cycle-acts li")).to_have_count(0)
    expect(screen.locator("#hint-do")).to_have_text("Connect a scheduler")
    expect(screen.locator("#lane-activeQ .chip")).to_have_count(0)

    url = f"{stack}/s/{sandbox.name}"
    with subprocess.Popen(
        [sys.executable, EXAMPLE, url, "default-scheduler"], stdout=subprocess.DEVNULL
    ) as guest:
        try:
            expect(log).to_contain_text("Outside scheduler default-scheduler bound first to node-1.")
            expect(lane.locator(".chip")).to_have_count(1)
            expect(lane.locator(".latency")).to_contain_text("last 2 bindings")
        finally:
            guest.terminate()
    screen.locator("#log a", has_text="second").first.click()
    expect(screen.locator("#outside")).to_contain_text("bound to node-1 after")
    expect(screen.locator("#pod-panel")).to_contain_text("Running")
    violations.look("lane", "#lane-outside")
    violations.look("panel", "#pod-panel")

    switch(screen)
    expect(screen.locator("#lane-unschedulable .chip")).to_contain_text("large")
    expect(lane.locator(".chip")).to_have_count(0)
    assert violations.found == []


def test_the_controls_of_cycles_are_shown_only_while_the_scheduler_schedules(
    screen: Page, live: Open
) -> None:
    sandbox, violations = live(node("node-1", "4"), pod("large", "8")), Violations(screen)
    verdict = screen.locator("#nodes .verdict", has_text="Insufficient cpu")
    expect(verdict).to_be_visible()
    schedulers.switch_scheduler(sandbox, stands_down=True)
    expect(screen.locator("#t-outside")).to_be_visible()
    expect(screen.locator("#t-predict")).to_have_count(0)
    expect(verdict).to_have_count(0)
    expect(screen.locator("#lane-activeQ")).to_be_hidden()
    expect(screen.locator("#cycle-outside")).to_contain_text("Last cycle of this sandbox's scheduler: 1")
    violations.look("acts", "#s-cycle")

    screen.keyboard.press("g")
    screen.keyboard.press(".")
    screen.locator("#t-outside").press("Enter")
    panel = screen.locator("#outside-panel")
    expect(panel).to_contain_text("all pods wait until a scheduler outside of schedviz binds them")
    violations.look("connect", "#outside-panel")
    panel.locator("#outside-switch").press("Enter")
    expect(panel.locator("#outside-switch")).to_have_text("Stand down")
    expect(screen.locator("#t-predict")).to_be_visible()
    expect(screen.locator("#lane-unschedulable .chip")).to_contain_text("large")

    screen.locator("#panel-back").click()
    schedulers.switch_scheduler(sandbox, stands_down=True)
    screen.locator("#outside-end").click()
    expect(screen.locator("#cycle-title")).to_contain_text("Scheduling cycle")
    assert violations.found == []
