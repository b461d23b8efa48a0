"""The page after a restart of the server, on small screens, with reduced motion, and with many nodes."""

import json
import re

import pytest
from playwright.sync_api import Browser, WebSocketRoute, expect

from schedviz.api import removal, write
from schedviz.loop.clock import pause, resume
from schedviz.store import Meta, Sandbox, Store
from simulator.api import Manifest
from tests.amounts import long_but_first

from .conftest import eventually_in, node, pod

pytestmark = pytest.mark.browser


def cluster(store: Store, name: str, manifests: list[Manifest]) -> Sandbox:
    return write.create_sandbox(store, Meta(name), manifests)


SIZES = [(390, 844), (1280, 720), (1440, 900)]


@pytest.mark.parametrize("size", long_but_first(SIZES), ids=["phone", "projector", "laptop"])
def test_no_element_overflows_at_any_window_size(
    browser: Browser, stack: str, store: Store, sandbox_name: str, size: tuple[int, int]
) -> None:
    width, height = size
    long = [pod(f"a-pod-with-a-very-long-name-that-does-not-end-{i}", "3") for i in range(4)]
    cluster(store, sandbox_name, [node("node-1"), node("a-node-with-a-long-name.example.internal"), *long])
    context = browser.new_context(base_url=stack, viewport={"width": width, "height": height})
    page = context.new_page()
    for path in (
        "/",
        f"/s/{sandbox_name}/",
        f"/s/{sandbox_name}/new/pod/",
        f"/s/{sandbox_name}/nodes/node-1/",
    ):
        page.goto(path)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width, path
    if width > 900:
        assert page.evaluate("document.scrollingElement.scrollHeight") <= height
    context.close()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_pods_are_animated_only_without_reduced_motion(
    browser: Browser, stack: str, store: Store, sandbox_name: str, motion: str
) -> None:
    sandbox = cluster(store, sandbox_name, [node("node-1")])
    context = browser.new_context(base_url=stack, reduced_motion=motion)
    page = context.new_page()
    page.goto(f"/s/{sandbox_name}/")
    expect(page.locator("#connection")).to_have_text("live")
    page.evaluate(
        "() => { window.flown = 0; window.read = 0; const animate = Element.prototype.animate;"
        "Element.prototype.animate = function (...how) { window.flown++;"
        "if (this.closest('#flight:not([aria-hidden=true])')) window.read++;"
        "return animate.apply(this, how); } }"
    )
    # Each pod is shown in a lane before it is on the node.
    pause(sandbox)
    write.create(sandbox, [pod(f"p{number}", "500m") for number in range(5)])
    expect(page.locator("#lane-activeQ .chip")).to_have_count(5)
    resume(sandbox)
    expect(page.locator(".node .pod.running")).to_have_count(5)
    assert (page.evaluate("window.flown") > 0) == (motion == "no-preference")
    assert page.evaluate("window.read") == 0, "the animated copy is hidden from assistive technology"
    expect(page.locator("#flight > *")).to_have_count(0)
    context.close()


def test_many_nodes_are_shown_as_a_grid_that_is_updated(
    browser: Browser, stack: str, store: Store, sandbox_name: str
) -> None:
    nodes = [node("large", "64"), *(node(f"node-{number}") for number in range(300))]
    sandbox = cluster(store, sandbox_name, nodes)
    page = browser.new_page(base_url=stack)
    page.goto(f"/s/{sandbox_name}/")
    expect(page.locator("#connection")).to_have_text("live")
    expect(page.locator("#grid canvas")).to_be_visible()
    cursor, tip = page.locator("#grid-cursor"), page.locator("#grid-tip")
    cursor.focus()
    page.keyboard.press("Home")
    expect(tip).to_contain_text("large: cpu 0 %")
    write.create(sandbox, [pod("web", nodeSelector={"none": "such"}), pod("other", "32")])
    expect(page.locator("#cycle")).to_contain_text("other")
    expect(page.locator("#cycle .matrix tbody tr").first).to_contain_text("and others, ")
    expect(tip).to_contain_text("large: cpu 50 %")
    expect(tip).to_contain_text("selected")
    # When a node before it is deleted, the node that is selected stays selected.
    page.keyboard.press("ArrowRight")
    expect(tip).to_contain_text("node-0: cpu")
    removal.delete(sandbox, "nodes", "large")
    expect(page.locator("#h-nodes")).to_contain_text("300 nodes")
    expect(tip).to_contain_text("node-0: cpu")
    page.keyboard.press("Enter")
    expect(page.locator("#detail [data-panel-title]")).to_contain_text("Node node-0")
    page.close()


def test_a_lost_frame_is_noticed_and_the_whole_page_is_requested(
    browser: Browser, stack: str, store: Store, sandbox_name: str
) -> None:
    sandbox = cluster(store, sandbox_name, [node("node-1")])
    page = browser.new_page(base_url=stack)
    lost: list[str] = []

    def lose_the_first_news(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            if "first" in str(message) and not lost:
                lost.append(str(message))
                # The server waits for what a page says of each frame.
                server.send(json.dumps({"shown": int(re.findall(r'data-seq="(\d+)"', str(message))[0])}))
            else:
                socket.send(message)

        server.on_message(pass_on)

    page.route_web_socket("**/live/*", lose_the_first_news)
    page.goto(f"/s/{sandbox_name}/")
    expect(page.locator("#connection")).to_have_text("live")
    write.create(sandbox, [pod("first", "3")])
    eventually_in(page, lambda: lost, "a frame is lost")
    write.create(sandbox, [pod("second", "3")])
    expect(page.locator("[data-uid]", has_text="second").first).to_be_visible()
    expect(page.locator(".node .pod", has_text="first")).to_be_visible()
    page.close()
