"""An imported cluster of 30 nodes and 200 pods with the names of a cloud: it is readable at every size."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from simulator.api import Manifest
from tests.dumps import as_list
from tests.real_cluster import NODES, real_cluster

pytestmark = pytest.mark.browser

IN_SIGHT = """() => {
  const { top, bottom } = document.querySelector(".nodes .scroll").getBoundingClientRect();
  const cards = [...document.querySelectorAll(".node")].map((each) => each.getBoundingClientRect());
  const end = Math.min(bottom, innerHeight) + 1;
  return cards.filter((card) => card.top >= top - 1 && card.bottom <= end).length;
}"""
"""The number of cards that can be seen whole."""
CUT = """(names) => [...document.querySelectorAll(names)]
  .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
  .map((each) => each.textContent)"""
"""The texts of these elements that are wider than the elements."""
HEIGHTS = """() => [".legends", "#s-queue"].map((name) =>
  document.querySelector(name).getBoundingClientRect().height)"""
OUT_OF_SIGHT = """() => [...document.querySelectorAll(".budgets li")].filter((each) => {
  const number = each.querySelector("span").getBoundingClientRect();
  return !number.width || number.right > each.getBoundingClientRect().right + 1;
}).length"""
"""The number of budgets whose number cannot be seen."""
SHORTENED = """(names) => [...document.querySelectorAll(names)]
  .filter((each) => each.scrollHeight > each.clientHeight + 1)
  .map((each) => each.textContent)"""
NODE_NAMES = ".node header > a, .scores tbody th, .matrix tbody th"
ALL_NAMES = f"{NODE_NAMES}, .chip .name > span, .pipe span, .zone > h3 b, .roomy .verdict"


def budgets() -> Iterator[Manifest]:
    for app in ("checkout", "cart", "catalog", "payments-reconciliation-worker"):
        name = {"name": f"{app}-disruption-budget-eu-west-1", "namespace": "shop"}
        spec = {"minAvailable": "80%", "selector": {"matchLabels": {"app": app}}}
        yield {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": name, "spec": spec}


def too_large() -> Iterator[Manifest]:
    """Yield pods that fit on no node, and are scheduled before the others."""
    for end in ("x2x7q", "9bz4k"):
        container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": "100"}}}
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"payments-reconciliation-worker-7d9f8b6c5-{end}", "namespace": "shop"},
            "spec": {"containers": [container], "priorityClassName": "business-critical", "priority": 10**6},
        }


@pytest.mark.long
def test_a_real_cluster_is_readable_at_every_size(screen: Page, sandbox_name: str, tmp_path: Path) -> None:
    dump = tmp_path / "cluster.json"
    dump.write_text(as_list([*real_cluster(), *budgets(), *too_large()]))
    screen.goto("/bring/")
    screen.locator("input[type=file]").set_input_files(dump)
    screen.locator("input[name=name]").fill(sandbox_name)
    screen.locator("button[name=do][value=create]").click()
    expect(screen.locator("#connection")).to_have_text("live")
    screen.goto(f"/s/{sandbox_name}/")
    expect(screen.locator("#connection")).to_have_text("live")
    expect(screen.locator(".node")).to_have_count(NODES)
    name = screen.locator(".node header > a").first
    expect(name).to_have_text(re.compile(r"^10-\d+$"))
    expect(name).to_have_attribute("title", re.compile(r"^ip-10-0-10-\d+\.eu-west-1\.compute\.internal$"))
    expect(screen.locator("#summary")).to_contain_text("ip-10-0-….eu-west-1.compute.internal")
    expect(screen.locator(".chip .gen").first).to_have_text(re.compile(r"^(-\w+)?-\w{5}$"))

    expect(screen.locator(".budgets li")).to_have_count(4)

    # A cycle that scores: the winner is the first row, and its name and total are visible.
    screen.keyboard.press("Space")
    expect(screen.locator("#t-run")).to_have_text(re.compile("Pause"))
    expect(screen.locator("#cycle .scores")).to_be_visible()
    screen.keyboard.press("Space")
    expect(screen.locator("#t-run")).to_have_text(re.compile("Resume"))
    expect(screen.locator(".chip .why b").first).to_contain_text("too little cpu")
    for width, height, whole in ((1280, 720, NODES), (1920, 1080, NODES), (390, 844, 0)):
        screen.set_viewport_size({"width": width, "height": height})
        assert screen.evaluate(CUT, f"{NODE_NAMES}, .caption") == [], f"at {width}"
        if whole:
            legends, queue = screen.evaluate(HEIGHTS)
            assert legends <= queue / 4 + 1, f"at {width}"
            assert screen.evaluate(OUT_OF_SIGHT) == 0, f"at {width}"
            # The deciding reason of a pod is whole: neither it nor what contains it is cut.
            assert screen.evaluate(SHORTENED, ".chip .why, .chip .why b") == [], f"at {width}"
            assert screen.evaluate(IN_SIGHT) == whole, f"at {width}"
            winner = screen.locator("#cycle .scores tbody tr").first
            table = screen.locator("#cycle .scored").bounding_box()
            total = winner.locator(".total").bounding_box()
            assert table
            assert total
            assert total["x"] + total["width"] <= table["x"] + table["width"] + 1

    # The view for a projector, which is kept after a reload.
    screen.set_viewport_size({"width": 1280, "height": 720})
    screen.keyboard.press("v")
    expect(screen.locator("#projector")).to_have_attribute("aria-pressed", "true")
    screen.reload()
    expect(screen.locator("#connection")).to_have_text("live")
    expect(screen.locator("body")).to_have_class(re.compile(r"\bprojector\b"))
    for gone in (".next", ".log", "#legend", ".nodes > .key"):
        expect(screen.locator(gone).first).not_to_be_visible()
    assert screen.evaluate(CUT, ALL_NAMES) == []
    assert screen.evaluate(IN_SIGHT) == NODES
    headings = screen.evaluate(
        "[...document.querySelectorAll('.zone > h3')].map((each) => each.clientHeight)"
    )
    assert max(headings) < 34, "one line"
    screen.get_by_role("button", name="Projector").click()
    expect(screen.locator(".log")).to_be_visible()
