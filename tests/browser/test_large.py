"""Thousands of nodes on the real page: smooth while pods are bound, within reach of keyboard and filter."""

import statistics
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocket, expect

from schedviz.api import write
from schedviz.store import Meta, Sandbox, Store
from simulator.api import Change, Manifest
from tests.waiting import eventually

from .conftest import node, pod

pytestmark = pytest.mark.browser

NODES = 5_000
PODS = 15_000
BATCH = 5_000
"""Objects in a commit."""
FRAME_MS = 1000 / 30
BLOCKED_MS = 200
SHARED = 2
"""A task takes so much longer where other tests have the second core."""
BYTES_AT_MOST = 100_000
"""Of one frame, most of them the log and the timeline; the whole page has four times as many."""


def stored(manifest: Manifest, **labels: str) -> Manifest:
    metadata = {
        **manifest["metadata"],
        "namespace": "default",
        "uid": manifest["metadata"]["name"],
        "labels": labels,
    }
    if manifest["kind"] == "Node":
        del metadata["namespace"]
    return {**manifest, "metadata": metadata}


@pytest.fixture
def cluster(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    """Committed directly: by way of the API it would take a minute."""
    sandbox = store.create(Meta(sandbox_name, pace=100_000))
    nodes = [stored(node(f"node-{number:04}", "8"), tier=f"t{number % 4}") for number in range(NODES)]
    pods = [
        stored(pod(f"web-{number}", nodeName=f"node-{number % NODES:04}", priority=number % 3 * 100))
        | {"status": {"phase": "Running"}}
        for number in range(PODS)
    ]
    changes = [Change("nodes", each["metadata"]["name"], each, 0) for each in nodes]
    changes += [Change("pods", f"default/{each['metadata']['name']}", each, 0) for each in pods]
    for start in range(0, len(changes), BATCH):
        sandbox.commit(changes[start : start + BATCH])
    yield sandbox
    store.delete(sandbox_name)


def test_thousands_of_nodes_stay_smooth_while_pods_are_bound(screen: Page, cluster: Sandbox) -> None:
    """The best of three tries counts, as other tests share the machine; frames hold the same on any."""
    sizes: list[int] = []

    def count(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: sizes.append(len(frame)))

    screen.on("websocket", count)
    screen.goto(f"/s/{cluster.name}/")
    expect(screen.locator("#summary")).to_contain_text("5\u202f000 nodes", timeout=60_000)
    grid = screen.locator("#grid")
    expect(grid).to_be_visible()
    assert screen.locator(".nodes *").count() < 1_500
    eventually(lambda: cluster.progress()[0] >= cluster.version(), "the worker has read it all", 60)

    tries = []
    for attempt in range(3):
        sizes.clear()
        write.create(cluster, [pod(f"new-{attempt}-{number}", "100m") for number in range(60)])
        found = screen.evaluate(SCROLL_AND_ZOOM, 3000)
        tries.append((statistics.median(found["gaps"]), max(found["blocked"], default=0)))
        assert sizes, "frames arrive meanwhile"
        assert max(sizes) < BYTES_AT_MOST
        if tries[-1][0] <= FRAME_MS and tries[-1][1] <= BLOCKED_MS:
            break
    print("\nframes of the grid, median ms and longest task ms:", [tuple(map(round, each)) for each in tries])
    assert min(median for median, _ in tries) <= FRAME_MS
    assert min(longest for _, longest in tries) <= SHARED * BLOCKED_MS

    # One after the other by keys, what it is in words, and its panel.
    screen.keyboard.press("0")
    cursor, tip = screen.locator("#grid-cursor"), screen.locator("#grid-tip")
    cursor.focus()
    screen.keyboard.press("Home")
    expect(tip).to_contain_text("node-0000: cpu 3")
    screen.keyboard.press("ArrowRight")
    expect(cursor).to_have_attribute("aria-label", tip.inner_text())
    expect(tip).to_contain_text("node-0001: cpu")
    screen.keyboard.press("Enter")
    expect(screen.locator("#detail")).to_contain_text("web-5001")
    small = height(screen)
    for _ in range(8):
        screen.keyboard.press("+")
    eventually(lambda: height(screen) > 3 * small, "the cells are larger")

    # What is far down is found, and the rest fades.
    screen.keyboard.press("f")
    screen.keyboard.type("web-14999")
    expect(screen.locator("#found .count")).to_have_text("1 pod, 0 nodes")
    expect(screen.locator("#found a")).to_have_text("web-14999")
    assert screen.locator("#found").get_attribute("data-bright") is not None
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


SCROLL_AND_ZOOM = """
(lasts) => new Promise((done) => {
  const pane = document.querySelector("#grid .pane");
  const box = pane.getBoundingClientRect();
  const began = performance.now();
  const frames = [];
  const blocked = [];
  const observer = new PerformanceObserver((list) => {
    for (const each of list.getEntries()) blocked.push(each.duration);
  });
  observer.observe({ type: "longtask" });
  function step(now) {
    frames.push(now);
    if (frames.length % 10 === 0) {
      const deltaY = (now - began) % 1500 < 900 ? -120 : 120;
      const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
      const wheel = { deltaY, ctrlKey: true, cancelable: true, bubbles: true, ...at };
      pane.dispatchEvent(new WheelEvent("wheel", wheel));
    } else {
      pane.scrollTop += 30;
    }
    if (now - began < lasts) { requestAnimationFrame(step); return; }
    observer.disconnect();
    done({ gaps: frames.slice(1).map((each, index) => each - frames[index]), blocked });
  }
  requestAnimationFrame(step);
})
"""


def test_a_filter_fades_the_rest_and_stays_in_the_address(
    screen: Page, store: Store, sandbox_name: str
) -> None:
    nodes = [stored(node(f"node-{number}", "4"), pool="ab"[number % 2]) for number in range(4)]
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
    expect(screen.locator(".zone > h3 span").first).to_contain_text("2 nodes · 1 pod · cpu 12")
    screen.reload()
    expect(screen.locator("#connection")).to_have_text("live")
    expect(screen.locator("#q")).to_have_value("web -is:pending")
    expect(screen.locator(".zone > h3 b")).to_have_text(["a", "b"])
    expect(screen.locator(".node.faded")).to_have_count(3)
    screen.locator("#q").focus()
    screen.locator("#found a").click()
    expect(screen.locator("#detail h3 code")).to_have_text("web-1")
    screen.locator("#q").fill("is:tired")
    expect(screen.locator("#found .error")).to_contain_text("is: knows pending")
    screen.locator("#q").press("Escape")
    expect(faded).to_have_count(0)
    assert "q=" not in screen.url

    # The table behind the drawing, in the order of a column, and from a row to its panel.
    screen.keyboard.press("t")
    table = screen.locator("#node-table")
    expect(table.locator("tbody tr")).to_have_count(4)
    table.get_by_role("link", name="limits").first.click()
    expect(table.locator("[aria-sort=descending]")).to_have_text("cpu limits")
    row = table.locator("tbody tr").first
    expect(row.locator("td.n").nth(1)).to_have_text("6")
    row.get_by_role("link").click()
    expect(screen.locator("dialog")).not_to_be_visible()
    expect(screen.locator("#detail .rooms tbody tr").first).to_contain_text("cpu1634")
    store.delete(sandbox_name)
