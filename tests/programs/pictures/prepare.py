"""Prepares what the pictures show: the demo at a preemption, an imported cluster, a question, a
comparison."""

import json
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, expect

from tests.dumps import as_list, cluster
from tests.programs.pictures.shots import GANGS, QUESTION, REAL, Places, open_sandbox
from tests.real_cluster import real_cluster
from tests.waiting import eventually

UNSCHEDULABLE: Final = 3
"""Pods of the imported cluster that are tried before it is paused again."""


def prepare(page: Page, folder: Path) -> Places:
    """folder: for temporary files."""
    preemptor, seq = stop_demo_at_a_preemption(page)
    bring(page, folder, REAL, as_list(real_cluster()))
    bring(page, folder, QUESTION, as_list(cluster()))
    for scenario, seconds in GANGS.items():
        play(page, scenario, seconds)
    return Places(
        preemptor=preemptor,
        pending=first_pending(page),
        past=f"/s/demo/at/{seq}/",
        comparison=compare(page),
    )


def stop_demo_at_a_preemption(page: Page) -> tuple[str, int]:
    """Pause the demo while victims terminate. Returns the panel of the preemptor, and the number of the trace
    event with which it was nominated."""
    open_sandbox(page, "/s/demo/")
    page.locator(".node .pod-area .pod.victim").first.wait_for()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Resume").wait_for()
    lines = page.request.get("/s/demo/trace").text().splitlines()
    nominated = [event for event in map(json.loads, lines) if event["type"] == "Nominated"][-1]
    return f"/s/demo/pods/{nominated['pod']}/", nominated["seq"]


def bring(page: Page, folder: Path, name: str, dump: str) -> None:
    """Import a cluster."""
    file = folder / f"{name}.json"
    file.write_text(dump)
    page.goto("/bring/")
    page.locator("#dump").set_input_files(file)
    page.locator("input[name=name]").fill(name)
    page.locator("button[name=do][value=create]").click()
    expect(page).to_have_url(f"/s/{name}/imported/")


def play(page: Page, scenario: str, seconds: int) -> None:
    """Create a sandbox of a scenario, with its name, and let simulated time pass."""
    made = page.request.post("/api/sandboxes", data={"name": scenario, "scenario": scenario, "paused": True})
    assert made.ok, made.text()
    run = {"until": "time", "for": f"{seconds}s"}
    assert page.request.post(f"/api/sandboxes/{scenario}/run", data=run).ok
    eventually(
        lambda: page.request.get(f"/api/sandboxes/{scenario}").json()["paused"],
        "the scenario is played",
        60.0,
    )


def first_pending(page: Page) -> str:
    """Let the imported cluster run until some pods were tried, and pause it; the panel of one of them."""
    open_sandbox(page, f"/s/{REAL}/")
    page.get_by_role("button", name="Resume").click()
    page.locator("#lane-unschedulable .chip").nth(UNSCHEDULABLE - 1).wait_for()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Resume").wait_for()
    found: list[dict[str, Any]] = page.request.get(f"/s/{REAL}/api/v1/pods").json()["items"]
    tried = next(
        each for each in found if "conditions" in each["status"] and not each["spec"].get("nodeName")
    )
    return f"/s/{REAL}/pods/{tried['metadata']['namespace']}/{tried['metadata']['name']}/"


def compare(page: Page) -> str:
    """Compare the two schedulers that the form proposes; the address of the result."""
    page.goto("/compare/")
    page.locator("form button.primary").click()
    page.locator("#h-figures").wait_for()
    return page.url
