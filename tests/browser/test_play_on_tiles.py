"""With too many nodes for cards, a preemption is played on the tile of its node."""

import pytest
from playwright.sync_api import Page, expect

from schedviz.api import write
from simulator.trace import Nominated
from tests.waiting import eventually

from .conftest import Open, node, pod
from .test_accessibility import URGENT

pytestmark = pytest.mark.browser

NODES = 70
STAGE = "node-60"

LIGHTNESS = """() => {
  const canvas = document.querySelector("#grid canvas");
  const tile = document.querySelector(".stage-tile").getBoundingClientRect();
  const all = canvas.getBoundingClientRect();
  const scale = canvas.width / all.width;
  const x = (tile.left + tile.width / 2 - all.left) * scale;
  const y = (tile.top + tile.height / 2 - all.top) * scale;
  const [r, g, b] = canvas.getContext("2d").getImageData(x, y, 1, 1).data;
  return r + g + b;
}"""
"""The colour in the middle of the tile on which the step is shown."""


def test_the_tile_of_the_node_is_marked_and_changes_with_each_step(screen: Page, live: Open) -> None:
    classes = [
        {**URGENT, "metadata": {"name": name}, "value": value}
        for name, value in (("kept", URGENT["value"] + 1), ("second", 20), ("third", 10))
    ]
    names = [f"node-{number:02}" for number in range(NODES)]
    full = [
        pod(f"full-{name}", "2", nodeName=name, priorityClassName="kept") for name in names if name != STAGE
    ]
    lesser = [
        pod("a", "1", nodeName=STAGE, priorityClassName="second"),
        pod("b", "1", nodeName=STAGE, priorityClassName="third"),
        pod("c", "2", nodeName=STAGE),
    ]
    nodes = [node(name, "4" if name == STAGE else "2") for name in names]
    sandbox = live(URGENT, *classes, *nodes, *full, *lesser)
    eventually(lambda: sandbox.progress()[0] == sandbox.version(), "the worker has read it all")
    write.create(sandbox, [pod("checkout", "1500m", priorityClassName="urgent")])
    eventually(
        lambda: any(isinstance(event, Nominated) for _, event in sandbox.trace_tail(100)), "it is nominated"
    )
    expect(screen.locator("#grid")).to_be_visible()
    play, tile = screen.locator("#play"), screen.locator(".stage-tile")
    expect(tile).not_to_be_visible()
    to_play = screen.locator("#cycle .earlier a, #cycle-play a").first
    to_play.click()
    badge = tile.locator(".play-badge")
    expect(badge).to_have_text("it fits · removed: 3")
    expect(tile).to_be_in_viewport(ratio=1)
    expect(badge).to_be_in_viewport(ratio=1)
    expect(play.locator(".actors:visible")).to_have_count(1)
    light = [screen.evaluate(LIGHTNESS)]
    for tally in ("it fits · removed: 2", "it fits · removed: 1", "it does not fit · victims: 1"):
        play.get_by_role("button", name="Next").click()
        expect(badge).to_have_text(tally)
        screen.evaluate("() => new Promise(requestAnimationFrame)")
        light.append(screen.evaluate(LIGHTNESS))
    assert light[0] > light[1] > light[2] == light[3], "each pod that is put back makes it darker"
    screen.keyboard.press("Home")
    expect(badge).to_have_text("it fits · removed: 3")
    screen.keyboard.press("End")
    expect(play.get_by_role("button", name="Next")).to_have_attribute("aria-disabled", "true")
    expect(badge).to_have_text("it fits · victims: 1")
    screen.reload()
    expect(badge).to_have_text("it fits · removed: 3")
    expect(tile).to_be_in_viewport(ratio=1)
    screen.keyboard.press("Escape")
    expect(tile).not_to_be_visible()
    expect(screen.locator("#past")).not_to_be_visible()
    expect(screen.locator("#connection")).to_have_text("live")

    # The grid is so large that not all nodes are visible: the tile is scrolled into view.
    for _ in range(7):
        screen.keyboard.press("+")
    expect(screen.locator("#grid.detailed")).to_be_visible()
    to_play.click()
    expect(badge).to_have_text("it fits · removed: 3")
    expect(tile).to_be_in_viewport(ratio=1)
    expect(badge).to_be_in_viewport(ratio=1)
    assert screen.evaluate("document.querySelector('#grid .pane').scrollTop") > 0
