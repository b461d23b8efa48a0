"""Frames in a browser: they change the changed parts only, and a hidden tab gets none."""

import pytest
from playwright.sync_api import Page, expect
from websockets.sync.client import connect

from schedviz.api import write
from schedviz.loop.doorbell import ring
from tests.amounts import long_but_first
from tests.waiting import PATIENCE

from .conftest import Open, eventually_in, node, pod
from .test_connection import places

pytestmark = pytest.mark.browser

HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""

COUNT_EVENTS = """() => {
  window.events = [];
  for (const each of ["beforeCleanupElement", "oobAfterSwap", "beforeProcessNode", "load"])
    document.addEventListener(`htmx:${each}`, ({ target, type }) => {
      if (target.closest("#s-nodes, #s-log, #cycle, .lane")) events.push(type);
    }, true);
}"""
"""Notes the events that htmx sends for elements of the parts of frames."""

LATE = """(seconds) => {
  document.getElementById("frame").dataset.waited = seconds;
  document.dispatchEvent(new CustomEvent("htmx:wsAfterMessage"));
}"""
"""A frame that has waited for so many seconds."""

HOLD_SHOWN = """() => {
  window.came = [];
  document.addEventListener("htmx:wsBeforeMessage", ({ detail }) => {
    if (detail.message.startsWith('<div id="frame"')) came.push(detail.message);
  });
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    if (data.includes('"shown"')) window.sayShown = () => send.call(this, data);
    else send.call(this, data);
  };
}"""
"""The page does not say that it has shown a frame, as one that needs long for it. ``sayShown()`` says it."""


def test_a_page_has_one_socket_however_often_it_goes_back_to_live(screen: Page, live: Open) -> None:
    """Of two, each would send a frame that the other has sent, for ever. A page that goes back to live before
    it was connected gets all of its parts."""
    screen.add_init_script(
        """window.sockets = [];
        window.WebSocket = class extends WebSocket {
          constructor(url) { super(url); sockets.push(this); }
        };"""
    )
    sandbox = live(node("node-1"))
    again = "document.body.dispatchEvent(new CustomEvent('live'))"
    for _ in range(2):
        screen.evaluate(f"{again}; {again}; {again}")
        expect(screen.locator("#connection")).to_have_text("live")
    write.create(sandbox, [node("node-2")])
    expect(screen.locator(".node")).to_have_count(2)
    eventually_in(
        screen,
        lambda: screen.evaluate("sockets.filter((each) => each.readyState < 2).length") == 1,
        "the other sockets are closed",
    )


def test_rows_change_in_place_in_the_order_that_was_chosen(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1", "2"), node("node-2", "8"), pod("first", "1"))
    matrix = screen.locator("#cycle .matrix")
    expect(matrix.locator("tbody tr.passed")).to_have_count(2)
    heading = matrix.locator("thead .sort").first
    heading.click()
    heading.click()
    assert matrix.locator("tbody th").all_inner_texts() == ["node-2", "node-1"]
    matrix.evaluate("(table) => { table.known = true; }")
    write.create(sandbox, [pod("second", "4")])
    expect(matrix.locator("tbody tr.out")).to_contain_text("node-1")
    expect(matrix.locator("tbody tr.out")).to_contain_text("Insufficient cpu")
    assert matrix.locator("tbody th").all_inner_texts() == ["node-2", "node-1"]
    assert matrix.evaluate("(table) => table.known")
    expect(heading).to_be_focused()


@pytest.mark.parametrize("reads_attributes", [True, False])
def test_numbers_of_elements_reach_their_styles(screen: Page, live: Open, reads_attributes: bool) -> None:
    """In browsers whose styles read attributes, and in the others by a script; after a frame, too."""
    if not reads_attributes:
        screen.add_init_script("CSS.supports = () => false")
    sandbox = live(node("node-1", "4"), pod("one", "1"))
    one, meter = (
        screen.locator(".node .pod", has_text="one"),
        screen.locator(".node .meter[data-share='25']"),
    )
    expect(one).to_have_css("flex-basis", "25%")
    expect(meter).to_have_css("background-size", "25% 100%")
    assert meter.evaluate("(each) => each.style.getPropertyValue('--share')") == (
        "" if reads_attributes else "25"
    )
    write.create(sandbox, [pod("two", "2")])
    expect(screen.locator(".node .pod", has_text="two")).to_have_css("flex-basis", "50%")
    expect(screen.locator(".node .meter[data-share='75']")).to_have_css("background-size", "75% 100%")
    expect(one).to_have_css("flex-basis", "25%")


def test_an_unchanged_line_stays_the_same_element(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1", "2"), pod("big", "3"))
    line = screen.locator("#log li", has_text="big is unschedulable")
    line.get_by_text("original message").click()
    line.evaluate("(element) => { element.known = true; }")
    screen.evaluate(COUNT_EVENTS)
    write.create(sandbox, [pod("small", "1")])
    expect(screen.locator("#log li", has_text="small bound to node-1.")).to_be_visible()
    assert line.evaluate("(element) => element.known")
    expect(line.locator("q")).to_be_visible()
    expect(line.get_by_text("original message")).to_be_focused()
    assert screen.evaluate("events") == [], "what htmx sends for each element takes as long as the swap"


def test_a_hidden_tab_gets_the_whole_page_when_it_is_seen_again(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1", "2"))
    screen.evaluate(
        "() => { window.after = []; document.body.addEventListener('frame',"
        " () => window.after.push(document.getElementById('frame').dataset.after)); }"
    )
    screen.evaluate(HIDE, True)
    write.create(sandbox, [pod("web", "1")])
    screen.evaluate(HIDE, False)
    expect(screen.locator(".node .pod.running")).to_be_visible()
    assert "0" in screen.evaluate("window.after")


def test_a_page_that_needs_long_for_a_frame_gets_the_newest_state_next(
    screen: Page, live: Open, stack: str
) -> None:
    """Frames that come meanwhile wait at the server, merged into one. A page without animation frames, as in
    an iframe out of sight, says what it shows, too."""
    screen.add_init_script(
        "window.requestAnimationFrame = () => 0; const wait = setTimeout;"
        " window.setTimeout = (run, ms) => wait(run, ms === 1000 ? 0 : ms);"
    )
    screen.add_init_script(f"({HOLD_SHOWN})()")
    sandbox = live(node("node-1"))
    eventually_in(screen, lambda: screen.evaluate("!!window.sayShown"), "the first frame is shown")
    with connect(f"{stack.replace('http', 'ws', 1)}/s/{sandbox.name}/live/?lang=en", origin=stack) as other:
        for name in ("node-2", "node-3", "node-4"):
            write.create(sandbox, [node(name)])
            while name not in str(other.recv(PATIENCE)):
                pass
    assert screen.evaluate("came.length") == 1
    screen.evaluate("sayShown()")
    expect(screen.locator(".node")).to_have_count(4)
    assert screen.evaluate("came.length") == 2


def test_a_page_whose_frames_come_late_says_that_it_is_catching_up(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1", "2"))
    state = screen.locator("#connection")
    write.create(sandbox, [pod("web", "1")])
    expect(screen.locator(".node .pod.running")).to_be_visible()
    screen.evaluate(LATE, 5)
    expect(state).to_have_text("catching up")
    # When no frame follows, the page shows the newest state.
    expect(state).to_have_text("live")


@pytest.mark.parametrize("width", long_but_first([1280, 1920]))
def test_a_page_whose_sandbox_is_late_says_so_and_keeps_its_layout(
    screen: Page, live: Open, width: int
) -> None:
    screen.set_viewport_size({"width": width, "height": 800})
    sandbox = live(node("node-1", "2"))
    state = screen.locator("#connection")

    def set_late(late: bool) -> None:
        """Set the clock late, as the loop does it. Nothing is due in this sandbox, so the loop is not
        woken."""
        clock = sandbox.clock()
        assert sandbox.set_clock(clock.judged(late=late), clock)
        ring(sandbox.name)

    eventually_in(screen, lambda: sandbox.progress()[0] == sandbox.version(), "the loop has done everything")
    before = places(screen)
    set_late(True)
    expect(state).to_have_text("catching up")
    expect(state.locator("span")).to_be_in_viewport(ratio=1)
    assert places(screen) == before
    # A frame that arrives in time does not change it.
    screen.evaluate(LATE, 0)
    expect(state).to_have_text("catching up")
    set_late(False)
    expect(state).to_have_text("live")


def test_a_frame_during_a_press_takes_no_click(screen: Page, live: Open) -> None:
    """The frame takes the pressed element away: it is shown when the press has ended, so that the link is
    followed."""
    sandbox = live(node("node-1", "2"), pod("big", "3"))
    link = screen.locator("#lane-unschedulable .chip a", has_text="big")
    expect(link).to_be_visible()
    screen.evaluate(
        "document.addEventListener('htmx:wsBeforeMessage', ({ detail }) => {"
        " window.came ||= detail.message.includes('node-2'); })"
    )
    # The press lasts as long as the frame takes to come, however slow the machine is.
    screen.evaluate(
        "() => { const wait = setTimeout;"
        " window.setTimeout = (run, ms) => wait(run, ms === 1000 ? 60000 : ms); }"
    )
    link.hover()
    screen.mouse.down()
    write.create(sandbox, [node("node-2", "4")])
    eventually_in(screen, lambda: screen.evaluate("window.came"), "the frame comes")
    screen.mouse.up()
    expect(screen.locator("#pod-panel")).to_contain_text("big")
    expect(screen.locator(".node .pod.running")).to_contain_text("big")
