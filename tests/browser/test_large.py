"""Thousands of nodes on the real page: it stays smooth while pods are bound, and keyboard and filter reach
each node."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocket, expect

from schedviz.api import write
from schedviz.store import Meta, Sandbox, Store
from schedviz.web.nodes.grid import run_lengths
from tests.programs import smooth
from tests.waiting import eventually

from .conftest import eventually_in, node, pod

pytestmark = pytest.mark.browser

NODES = 5_000
PODS = 15_000
BYTES_AT_MOST = 100_000
"""Bytes of one frame, most of them for the log and the timeline. The whole page has four times as many."""
MARKED = """
async (all) => {
  const { src } = document.querySelector("script[src$='/sandbox.js']");
  const { markedCodes } = await import(new URL("../js/cells.js", src));
  return all.map(markedCodes);
}
"""


@pytest.fixture
def cluster(store: Store, sandbox_name: str) -> Sandbox:
    return smooth.cluster(store, sandbox_name, NODES, PODS)


@pytest.mark.long
def test_thousands_of_nodes_stay_smooth_while_pods_are_bound(screen: Page, cluster: Sandbox) -> None:
    """The conditions of a smooth page, which hold on any machine: few elements, small frames, and no large
    part is replaced when a pod is bound. ``make smooth`` measures the page on an idle machine."""
    sizes: list[int] = []

    def count(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: sizes.append(len(frame)))

    screen.on("websocket", count)
    screen.goto(f"/s/{cluster.name}/")
    expect(screen.locator("#summary")).to_contain_text("5\u202f000 nodes")
    grid = screen.locator("#grid")
    expect(grid).to_be_visible()
    assert screen.locator(".nodes *").count() < 1_500
    eventually(lambda: cluster.progress()[0] >= cluster.version(), "the worker has read it all")
    # The whole page, and all that was written before, have come with the last of it.
    write.create(cluster, [pod("last", "100m")])
    expect(screen.locator("#log")).to_contain_text("last")

    sizes.clear()
    screen.locator("#grid").evaluate("element => { element.kept = true }")
    write.create(cluster, [pod(f"new-{number}", "100m") for number in range(60)])
    print(f"\nof the grid: {smooth.scroll_and_zoom(screen)}")
    eventually_in(screen, lambda: sizes, "frames arrive")
    assert max(sizes) < BYTES_AT_MOST
    assert screen.locator("#grid").evaluate("element => element.kept")

    # Small cells have a shade, and mark only verdicts that few nodes have. The legend does not explain pods.
    codes = ["AAAAAAAi!", "aaaaaaaA!", "aaaAAA??", "AAAA????"]
    assert screen.evaluate(MARKED, codes) == [".......i!", ".......A!", "......??", "....????"]
    screen.keyboard.press("0")
    expect(screen.locator(".ramp")).to_be_visible()
    expect(screen.locator(".pods-key")).not_to_be_visible()

    # Keys select one node after another, describe it in words, and open its panel.
    cursor, tip = screen.locator("#grid-cursor"), screen.locator("#grid-tip")
    cursor.focus()
    screen.keyboard.press("Home")
    expect(tip).to_contain_text("node-0000: cpu 1")
    screen.keyboard.press("ArrowRight")
    expect(cursor).to_have_attribute("aria-label", tip.inner_text())
    expect(tip).to_contain_text("node-0001: cpu")
    screen.keyboard.press("Enter")
    expect(screen.locator("#detail")).to_contain_text("web-5001")
    small = height(screen)
    for _ in range(8):
        screen.keyboard.press("+")
    eventually(lambda: height(screen) > 3 * small, "the cells are larger")

    # The filter finds a node far down, and fades the others.
    screen.keyboard.press("f")
    screen.keyboard.type("web-14999")
    expect(screen.locator("#found .count")).to_have_text("1 pod, 0 nodes")
    expect(screen.locator("#found a").first).to_have_text("web-14999")
    bright = json.loads(screen.locator("#found").get_attribute("data-bright") or "{}")
    assert bright["cells"] == run_lengths("." * (NODES - 1) + "+"), "only the last node stays bright"
    screen.locator("#grouping").select_option("tier")
    headings = screen.locator("#grid .heads > div")
    expect(headings).to_have_count(4)
    expect(headings.first).to_contain_text("1250 nodes")
    before = headings.first.inner_text()
    write.create(cluster, [pod("one-more", nodeName="node-0000")])
    expect(headings.first).not_to_have_text(before)
    assert len(set(headings.evaluate_all("all => all.map((each) => each.getBoundingClientRect().top)"))) == 4


def height(screen: Page) -> Any:
    return screen.evaluate("document.querySelector('#grid .pane').scrollHeight")


def test_a_filter_fades_other_nodes_and_is_kept_in_the_address(
    screen: Page, store: Store, sandbox_name: str
) -> None:
    nodes = [smooth.stored(node(f"node-{number}", "4"), pool="ab"[number % 2]) for number in range(4)]
    limited = pod("web-1", nodeName="node-0")
    limited["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "6"}
    pods = [limited, pod("db-1", nodeName="node-1"), pod("web-big", "9")]
    write.create_sandbox(store, Meta(sandbox_name, pace=100_000), [*nodes, *pods])
    screen.goto(f"/s/{sandbox_name}/")
    expect(screen.locator("#connection")).to_have_text("live")
    expect(screen.locator("#lane-unschedulable .chip")).to_be_visible()
    faded = screen.locator(".faded")

    # Requests, limits and free room of one node.
    cpu = screen.locator('[data-node="node-0"] .meters > div').first
    expect(cpu).to_contain_text("1 / 4")
    expect(cpu.locator("b")).to_have_text("3 free")
    expect(cpu.locator(".meter.over")).to_have_attribute("title", "limits 6")

    screen.keyboard.press("f")
    screen.keyboard.type("web -is:pending")
    expect(screen.locator("#found .count")).to_have_text("1 pod, 0 nodes")
    expect(screen.locator(".node.faded")).to_have_count(3)
    expect(screen.locator('[data-node="node-0"] .pod')).not_to_have_class("faded")
    expect(screen.locator("#lane-unschedulable .chip.faded")).to_have_count(1)
    assert "q=web+-is%3Apending" in screen.url
    write.create(store.sandbox(sandbox_name), [pod("late", nodeName="node-3")])
    expect(screen.locator(".pod.faded", has_text="late")).to_have_count(1)

    screen.locator("#grouping").select_option("pool")
    expect(screen.locator(".zone > h3 b")).to_have_text(["a", "b"])
    expect(screen.locator(".zone > h3 span").first).to_have_text(
        re.compile(r"^cpu.12.% .* · 1 pod · 2 nodes$")
    )
    screen.reload()
    expect(screen.locator("#connection")).to_have_text("live")
    expect(screen.locator("#q")).to_have_value("web -is:pending")
    expect(screen.locator(".zone > h3 b")).to_have_text(["a", "b"])
    expect(screen.locator(".node.faded")).to_have_count(3)
    screen.locator("#q").focus()
    screen.locator("#found a").first.click()
    expect(screen.locator("#detail h3 code")).to_have_text("web-1")

    # An object of any kind.
    screen.locator("#q").fill("system-")
    screen.get_by_role("link", name="“system-” in all kinds").click()
    screen.get_by_role("link", name="system-node-critical").click()
    expect(screen.locator("#detail h3")).to_contain_text("system-node-critical")
    screen.locator("#q").focus()
    screen.locator("#q").fill("is:tired")
    expect(screen.locator("#found .error")).to_contain_text("is: accepts pending")
    screen.locator("#q").press("Escape")
    expect(faded).to_have_count(0)
    assert "q=" not in screen.url

    # The table is beside the board. It is sorted by a column, and a row opens its panel.
    screen.keyboard.press("t")
    table = screen.locator("#detail #node-table")
    expect(table.locator("tbody tr")).to_have_count(4)
    expect(screen.locator("#dialog")).not_to_be_visible()
    expect(screen.locator(".node")).to_have_count(4)
    expect(table.locator("[data-panel-title]")).to_be_focused()
    search = table.get_by_role("searchbox")
    search.press_sequentially("node-0")
    expect(table.locator("tbody tr")).to_have_count(1)
    expect(table.locator("tbody td.n").first).to_have_text(re.compile(r"^25 %\s+1$"))
    expect(search).to_be_focused()
    write.create(store.sandbox(sandbox_name), [pod("more", nodeName="node-0")])
    expect(table.locator("tbody td.n").first).to_have_text(re.compile(r"^50 %\s+2$"))
    search.fill("")
    expect(table.locator("tbody tr")).to_have_count(4)
    table.get_by_role("link", name="limits").first.click()
    expect(table.locator("[aria-sort=descending]")).to_have_text("cpu limits")
    row = table.locator("tbody tr").first
    expect(row.locator("td.n").nth(3)).to_have_text("6")
    row.get_by_role("link").click()
    cells = screen.locator("#detail .rooms tbody tr").first.locator("td")
    expect(cells).to_contain_text(["2", "6", "2", "4", "50 %"])
    screen.get_by_role("link", name="All nodes").click()
    expect(table.locator("tbody tr")).to_have_count(4)
    screen.keyboard.press("Escape")
    expect(table).not_to_be_visible()

    # The table has an address. On a phone it is shown in the place of the cycle.
    screen.set_viewport_size({"width": 390, "height": 844})
    screen.goto(f"/s/{sandbox_name}/nodes/?sort=-cpu")
    expect(screen.locator("#connection")).to_have_text("live")
    cycle, sorted_by = screen.get_by_role("tab", name="Cycle"), table.locator("[aria-sort]")
    expect(cycle).to_have_attribute("aria-selected", "true")
    expect(sorted_by).to_have_text("cpu")
    screen.get_by_role("tab", name="Nodes").click()
    screen.locator("#as-table").click()
    expect(cycle).to_have_attribute("aria-selected", "true")
    expect(sorted_by).to_have_text("node")
