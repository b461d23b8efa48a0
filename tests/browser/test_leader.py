"""Leader election, shown and interrupted on the page, with two real workers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from schedviz.celery import WORKER_ARGUMENTS
from schedviz.loop.leadership import living_workers
from schedviz.store import Store
from tests.processes import CELERY, Process
from tests.waiting import eventually

from .conftest import Open, node, pod

pytestmark = pytest.mark.browser


@pytest.fixture
def second_worker(stack: str, store: Store, tmp_path: Path) -> Iterator[Process]:
    process = Process([*CELERY, *WORKER_ARGUMENTS], tmp_path / "log")
    eventually(lambda: process.alive() and len(living_workers(store)) >= 2, "a second worker lives")
    yield process
    process.stop()


@pytest.mark.long
def test_another_worker_leads_the_sandbox_after_its_leader_was_killed(
    screen: Page, live: Open, store: Store, second_worker: Process
) -> None:
    sandbox = live(node("node-1", "2"), pod("big", "3"))
    expect(screen.locator("#lane-unschedulable .chip")).to_have_count(1)
    before = sandbox.lease()
    assert before
    screen.locator("[popovertarget=t-more]").click()
    screen.get_by_role("link", name="Leader election").click()
    panel = screen.locator("#leader-panel")
    expect(panel.locator(".subject")).to_contain_text(before.holder)
    expect(panel).to_contain_text("standby")
    elections = panel.locator(".story li")
    expect(elections).not_to_have_count(0)
    had = elections.count()

    panel.get_by_role("button", name="Kill the leader").click()

    expect(elections.nth(had)).to_be_visible()
    after = sandbox.lease()
    assert after
    assert after.holder != before.holder
    assert after.epoch > before.epoch
    expect(panel.locator(".subject")).to_contain_text(after.holder)
    expect(screen.locator("#lead")).to_have_text(f"Leader: {after.holder}")
    expect(screen.locator("#log")).to_contain_text(f"{after.holder} became leader (epoch {after.epoch}).")
    expect(screen.locator("#lane-unschedulable .chip")).to_have_count(1)
