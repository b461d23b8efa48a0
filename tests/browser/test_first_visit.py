"""A newcomer's way: from the home page to a preemption of their own, and to why it went as it did."""

import re

import pytest
from playwright.sync_api import Page, expect

from schedviz.store import Store

pytestmark = pytest.mark.browser

CLICKS_AT_MOST = 6

COUNT = """
addEventListener("click", (event) => {
  if (event.isTrusted) sessionStorage.setItem("clicks", Number(sessionStorage.getItem("clicks")) + 1);
}, true);
"""


def test_a_first_visitor_causes_a_preemption_with_six_clicks_at_most(screen: Page, store: Store) -> None:
    screen.add_init_script(COUNT)
    screen.goto("/")
    assert screen.locator(".btn.primary").count() == 1, "one obvious thing to begin with"
    screen.get_by_role("button", name="Cause a preemption").click()
    expect(screen.locator("#connection")).to_have_text("live")
    screen.get_by_role("link", name="Add a pod of high priority").click()
    expect(screen.get_by_label("Name", exact=True)).to_have_value("urgent-")
    screen.get_by_role("button", name="Create").click()
    expect(screen.locator("#log")).to_contain_text(re.compile(r"evicted from node-\d for urgent-"))
    hint = screen.locator("#hint")
    expect(hint).to_contain_text("your preemption")
    hint.get_by_role("link", name="See why, step by step").click()
    expect(screen.locator("#detail .headline")).to_contain_text(
        re.compile(r"urgent-\w+ fits no node\. Preemption makes room")
    )
    expect(screen.locator("#play .scene:visible")).to_contain_text("lifted off")
    assert int(screen.evaluate("sessionStorage.getItem('clicks')")) <= CLICKS_AT_MOST

    # Who wants no hints has none, from then on.
    hint.get_by_role("button", name="Hide hints").click()
    expect(hint).not_to_be_visible()
    screen.reload()
    expect(screen.locator("#connection")).to_have_text("live")
    expect(hint).not_to_be_visible()
    store.delete(screen.url.rstrip("/").rpartition("/")[2])
    expect(screen.locator("#connection")).to_have_text("sandbox deleted")
