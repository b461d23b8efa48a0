"""A watch that breaks, a node that fails and one that is short of memory: by button."""

import pytest
from playwright.sync_api import Page, expect

from simulator.objects.node_conditions import FAILED, PRESSURE, condition_status
from tests.waiting import eventually

from .conftest import Open, node, pod

pytestmark = pytest.mark.browser


def test_what_may_go_wrong_is_a_button_away(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1"), pod("web"))
    expect(screen.locator("#log")).to_contain_text("web bound to node-1.")
    screen.locator("#informer-word").click()
    screen.get_by_role("button", name="Break the watch").click()
    expect(screen.locator("#log")).to_contain_text("The watch broke;")
    expect(screen.locator("#informer")).to_contain_text("2 lists")

    def annotations() -> dict[str, str]:
        found = sandbox.get("nodes", "node-1")
        assert found
        return dict(found["metadata"].get("annotations") or {})

    screen.goto(f"/s/{sandbox.name}/nodes/node-1/")
    panel = screen.locator("#node-panel")
    panel.get_by_role("button", name="Break node").click()
    expect(panel.get_by_role("button", name="Mend node")).to_be_visible()
    assert annotations()[FAILED] == "true"
    panel.get_by_role("button", name="Mend node").click()
    expect(panel.get_by_role("button", name="Break node")).to_be_visible()
    assert FAILED not in annotations()

    panel.get_by_role("button", name="Set memory pressure").click()
    expect(panel.get_by_role("button", name="Clear memory pressure")).to_be_visible()
    assert annotations()[PRESSURE] == "memory"
    eventually(
        lambda: condition_status(sandbox.get("nodes", "node-1") or {}, "MemoryPressure") == "True",
        "its kubelet reports it",
    )
    panel.get_by_role("button", name="Clear memory pressure").click()
    expect(panel.get_by_role("button", name="Set memory pressure")).to_be_visible()
    assert PRESSURE not in annotations()
