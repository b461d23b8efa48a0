"""Buttons that interrupt the watch, make a node fail and set memory pressure; and a sandbox whose loop
failed."""

import pytest
from playwright.sync_api import Page, expect

from schedviz.api import schedulers, write
from schedviz.store import Meta, Store
from simulator.config.configuration import API_VERSION
from simulator.objects.conditions import condition_status
from simulator.objects.node_status import FAILED, PRESSURE
from tests.waiting import eventually

from .conftest import Open, node, pod

pytestmark = pytest.mark.browser


def test_buttons_cause_and_repair_failures_of_watch_and_node(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1"), pod("web"))
    expect(screen.locator("#log")).to_contain_text("web bound to node-1.")
    screen.locator("#informer-word").click()
    screen.get_by_role("button", name="Interrupt the watch").click()
    expect(screen.locator("#log")).to_contain_text("The watch was interrupted;")
    expect(screen.locator("#informer")).to_contain_text("2 lists")

    def annotations() -> dict[str, str]:
        found = sandbox.get("nodes", "node-1")
        assert found
        return dict(found["metadata"].get("annotations") or {})

    screen.goto(f"/s/{sandbox.name}/nodes/node-1/")
    panel = screen.locator("#node-panel")
    panel.get_by_role("button", name="Make node fail").click()
    expect(panel.get_by_role("button", name="Repair node")).to_be_visible()
    assert annotations()[FAILED] == "true"
    panel.get_by_role("button", name="Repair node").click()
    expect(panel.get_by_role("button", name="Make node fail")).to_be_visible()
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


def test_a_sandbox_whose_loop_failed_says_so_until_it_runs_again(
    screen: Page, store: Store, sandbox_name: str
) -> None:
    """The worker lacks the plugin that the configuration enables."""
    unknown = {"multiPoint": {"enabled": [{"name": "Elsewhere"}]}}
    config = {"apiVersion": API_VERSION, "kind": "KubeSchedulerConfiguration"}
    meta = Meta(sandbox_name, config={**config, "profiles": [{"plugins": unknown}]})
    sandbox = write.create_sandbox(store, meta, [node("node-1")])
    screen.goto(f"/s/{sandbox_name}/")
    banner = screen.locator("#failure")
    expect(banner).to_contain_text("The simulation of this sandbox failed: ConfigError: ")
    expect(banner).to_contain_text("Elsewhere")
    expect(banner).to_contain_text("It restarts at ")
    ready = screen.request.get("/readyz")
    assert ready.status == 200, "the others run"
    assert f"[!]sandboxes failed: {sandbox_name}\n" in ready.text()
    schedulers.configure(sandbox, config, ["profiles"])
    expect(banner).to_be_empty()
    assert sandbox_name not in screen.request.get("/readyz").text()
