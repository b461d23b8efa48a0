"""A real cluster is imported, shown, started and exported again."""

import gzip
import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from schedviz.store import Store
from tests.dumps import SECRET, as_list, cluster
from tests.waiting import eventually

from .test_accessibility import Violations

pytestmark = pytest.mark.browser


def test_a_cluster_is_imported_started_and_exported(
    screen: Page, store: Store, sandbox_name: str, tmp_path: Path
) -> None:
    violations = Violations(screen)
    dump = tmp_path / "cluster.json.gz"
    dump.write_bytes(gzip.compress(as_list(cluster()).encode()))
    screen.goto("/")
    # Before the page's scripts are loaded, the form would be sent without them.
    with screen.expect_navigation():
        screen.get_by_role("link", name="Import a cluster").click()
    screen.get_by_role("button", name="Create sandbox").click()
    expect(screen.get_by_role("alert")).to_have_text("Choose a file, or paste the text.")
    screen.get_by_label("File").set_input_files(dump)
    screen.get_by_label("Name of the sandbox").fill(sandbox_name)
    screen.get_by_role("button", name="Preview").click()
    expect(screen.locator("#outcome")).to_contain_text("13 of 19 objects, of 6 kinds")
    expect(screen.locator("#outcome")).to_contain_text("nothing is stored yet")
    violations.look("looked at")
    for width in (320, 390):
        screen.set_viewport_size({"width": width, "height": 720})
        assert screen.evaluate("document.scrollingElement.scrollWidth") <= width
    screen.set_viewport_size({"width": 1280, "height": 720})

    screen.get_by_role("button", name="Create sandbox").click()
    expect(screen.locator("#imported-panel")).to_contain_text("paused")
    expect(screen.locator("#connection")).to_have_text("live")
    expect(screen.locator(".node")).to_have_count(3)
    expect(screen.locator(".node", has_text="gke-main-pool-1").locator(".pod.running")).to_have_count(2)
    expect(screen.locator("#lane-activeQ .chip")).to_contain_text("waits")
    violations.look("taken over", "#detail")
    screen.locator("#panel-back").click()

    screen.locator("[popovertarget=t-more]").click()
    screen.get_by_role("link", name="Download").click()
    expect(screen.locator("#download-panel")).to_be_visible()
    violations.look("download", "#detail")
    taken: dict[str, bytes] = {}
    for name in ("Objects (JSON)", "Manifests (YAML)", "Picture (SVG)", "PNG", "Trace (JSON Lines)"):
        with screen.expect_download() as waited:
            screen.locator("#download-panel").get_by_text(name, exact=True).click()
        path = tmp_path / waited.value.suggested_filename
        waited.value.save_as(path)
        taken[path.name.removeprefix(sandbox_name)] = path.read_bytes()
    assert not [name for name, content in taken.items() if SECRET.encode() in content]
    assert len(json.loads(taken[".objects.json"])["items"]) > 13
    assert taken[".nodes.png"].startswith(b"\x89PNG")
    assert b"gke-main-pool-1" in taken[".nodes.svg"]
    assert store.sandbox(sandbox_name).clock().paused, "nothing has changed"

    screen.keyboard.press("Escape")
    screen.locator("#pending a").click()
    pending = screen.locator("#pending-panel")
    expect(pending).to_contain_text("wait for their turn in activeQ")
    violations.look("pending pods", "#detail")
    pending.get_by_role("button", name="Try every pending pod once").click()
    expect(screen.locator("#lane-unschedulable .chip[data-uid=uid-waits]")).to_be_visible()
    expect(pending.locator(".cause").first).to_contain_text("unschedulable")
    expect(pending).not_to_contain_text("wait for their turn")
    eventually(lambda: store.sandbox(sandbox_name).clock().paused, "only the attempts were made")
    with screen.expect_download() as waited:
        screen.evaluate(f"location.href = '/s/{sandbox_name}/recording'")
    recording = tmp_path / "recording.jsonl.gz"
    waited.value.save_as(recording)
    screen.goto("/bring/")
    screen.get_by_label("File").set_input_files(recording)
    screen.get_by_label("Name of the sandbox").fill(f"{sandbox_name[:50]}-2")
    screen.get_by_role("button", name="Create sandbox").click()
    expect(screen.locator("#connection")).to_have_text("live")
    expect(screen.locator(".node")).to_have_count(3)
    assert violations.found == []
