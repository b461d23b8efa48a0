"""The page when something it depends on is away: the server, its stream, Redis, workers, the sandbox."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from schedviz.api import write
from schedviz.celery import WORKER_ARGUMENTS
from schedviz.store import Meta, Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from schedviz.up.programs import SERVER
from tests.processes import Process, answers
from tests.waiting import eventually

from .conftest import Open, eventually_in, node, pod

pytestmark = pytest.mark.browser

NOT_LIVE = "disconnected"
ASK_GUIDE = "htmx.trigger('#guide', 'ask')"


def serve(port: int, log: Path) -> Process:
    process = Process(["-m", SERVER, f"--port={port}"], log)
    eventually(lambda: process.alive() and answers(f"http://127.0.0.1:{port}/healthz"), "the server answers")
    return process


def places(page: Page) -> list[object]:
    """The places of all controls and fields, and of each section of the page."""
    found: list[object] = page.evaluate(
        """() => [...document.querySelectorAll(".bar > *, .bar :is(button, a, select), .page > section")]
            .filter((each) => each.checkVisibility())
            .map((each) => [each.tagName, each.id, each.getBoundingClientRect().toJSON()])"""
    )
    return found


def clock(page: Page) -> str:
    return page.locator("[data-clock]").inner_text()


def expect_the_clock_to_stand(page: Page) -> None:
    """The clock shows the same time until the page asks again which process is away."""
    stands = clock(page)
    with page.expect_request("**/readyz"):
        pass
    assert clock(page) == stands


def test_a_page_without_its_server_stops_its_clock_keeps_its_layout_and_reconnects(
    browser: Browser, worker: Process, store: Store, sandbox_name: str, tmp_path: Path
) -> None:
    port = free_port()
    server = serve(port, tmp_path / "first")
    sandbox = write.create_sandbox(store, Meta(sandbox_name), [node("node-1")])
    page = browser.new_page(base_url=f"http://127.0.0.1:{port}")
    page.goto(f"/s/{sandbox_name}/")
    expect(page.locator("#connection")).to_have_text("live")
    before = places(page)
    server.kill()
    expect(page.locator("#connection")).to_have_text(NOT_LIVE)
    expect(page.locator("#away")).to_contain_text("The web server does not answer.")
    assert places(page) == before
    expect_the_clock_to_stand(page)
    write.create(sandbox, [node("node-2")])
    server = serve(port, tmp_path / "second")
    expect(page.locator("#connection")).to_have_text("live")
    expect(page.locator("#away")).to_be_empty()
    expect(page.locator(".node")).to_have_count(2)
    page.close()
    server.stop()


CHECKS = """
  window.checks = [];
  const every = setInterval;
  window.setInterval = (run, ms) => { if (ms === 1000) checks.push(run); return every(run, ms); };
"""
AFTER_CHECKS = """(count) => {
  document.dispatchEvent(new CustomEvent("htmx:wsBeforeMessage", { detail: { message: "beat" } }));
  const now = Date.now;
  Date.now = () => now() + 60_000;
  for (let each = 0; each < count; each++) for (const check of checks) check();
  Date.now = now;
  return document.getElementById("connection").textContent.trim();
}"""
"""A beat has come. So many checks, a minute later, until the next message."""


def test_a_page_that_was_busy_for_a_minute_is_not_disconnected(screen: Page, live: Open) -> None:
    """It takes the messages of that time after the check that was due."""
    screen.add_init_script(CHECKS)
    live(node("node-1"))
    assert screen.evaluate(AFTER_CHECKS, 1) == "live"
    assert screen.evaluate(AFTER_CHECKS, 6) == NOT_LIVE
    expect(screen.locator("#connection")).to_have_text("live")


@pytest.mark.long
def test_the_page_notices_an_open_stream_on_which_nothing_arrives(
    browser: Browser, stack: str, store: Store, sandbox_name: str
) -> None:
    sandbox = write.create_sandbox(store, Meta(sandbox_name), [node("node-1")])
    page = browser.new_page(base_url=stack)
    silent: list[bool] = []
    passed: list[str | bytes] = []

    def pass_on(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def to_page(message: str | bytes) -> None:
            if not silent:
                passed.append(message)
                socket.send(message)

        server.on_message(to_page)

    page.route_web_socket("**/live/*", pass_on)
    page.goto(f"/s/{sandbox_name}/")
    expect(page.locator("#connection")).to_have_text("live")
    # Nothing happens in this sandbox, but the server sends a message from time to time.
    eventually_in(page, lambda: "beat" in passed, "a beat comes")
    silent.append(True)
    expect(page.locator("#connection")).to_have_text(NOT_LIVE)
    expect(page.locator("#away")).to_contain_text("but the server answers")
    expect_the_clock_to_stand(page)
    silent.clear()
    write.create(sandbox, [pod("web")])
    expect(page.locator("#connection")).to_have_text("live")
    expect(page.locator("#away")).to_be_empty()
    page.close()


@pytest.mark.long
def test_pages_say_whether_redis_or_the_workers_do_not_respond_and_recover_automatically(
    browser: Browser, tmp_path: Path
) -> None:
    redis_port, port = free_port(), free_port()
    url = f"redis://:secret@127.0.0.1:{redis_port}/0"
    with lock(tmp_path) as held:
        redis = EmbeddedRedis.start(tmp_path, held, redis_port, "secret")
        environment = {"REDIS_URL": url}
        server = Process(["-m", SERVER, f"--port={port}"], tmp_path / "server", environment)
        eventually(lambda: server.alive() and answers(f"http://127.0.0.1:{port}/healthz"), "it answers")
        store = Store(url)
        store.create(Meta("watched"))
        live, front = (browser.new_page(base_url=f"http://127.0.0.1:{port}") for _ in range(2))
        live.goto("/s/watched/")
        trouble, connection = live.locator("#trouble"), live.locator("#connection")
        expect(trouble).to_contain_text("No worker is running")
        expect(connection).to_have_text(NOT_LIVE)
        before = places(live)
        redis.stop()
        expect(trouble).to_contain_text("Redis does not answer")
        assert places(live) == before
        # A request that fails meanwhile does not remove the notice.
        live.route("**/guide/*", lambda route: route.abort())
        with live.expect_event("requestfailed"):
            live.evaluate(ASK_GUIDE)
        expect(trouble).to_contain_text("Redis does not answer")
        live.unroute("**/guide/*")
        live.evaluate(ASK_GUIDE)
        expect(trouble).to_contain_text("All sandboxes are stored in Redis.")
        live.locator("h1").click()
        expect(trouble).to_contain_text("This page continues automatically")
        # A click that was not carried out stays told until the next one, also when all answers again.
        live.locator("#t-run").click()
        expect(live.locator("#undone")).to_have_text("“Pause” was not carried out. Try it again later.")
        answer = front.goto("/")
        assert answer is not None
        assert answer.status == 503
        expect(front.locator("h1")).to_have_text("Redis does not answer")
        redis = EmbeddedRedis.start(tmp_path, held, redis_port, "secret")
        expect(trouble).to_contain_text("No worker is running")
        expect(front.get_by_role("link", name="Open watched")).to_be_visible()
        celery = ["-m", "celery", "--app=schedviz", "--quiet", *WORKER_ARGUMENTS]
        first_worker = Process(celery, tmp_path / "worker", environment)
        expect(trouble).to_be_empty()
        expect(connection).to_have_text("live")
        live.locator("h1").click()
        expect(live.locator("#undone")).to_contain_text("“Pause” was not carried out.")
        live.locator("#t-run").click()
        expect(live.locator("#undone")).to_be_empty()
        expect(live.locator("#t-run")).to_contain_text("Resume")
        for page in (live, front):
            page.close()
        first_worker.stop()
        server.stop()
        store.close()
        redis.stop()


def test_the_page_of_a_deleted_sandbox_disables_its_controls_and_links_to_the_home_page(
    screen: Page, live: Open, store: Store
) -> None:
    sandbox = live(node("node-1"))
    screen.keyboard.press("p")
    expect(screen.locator("#dialog")).to_be_visible()
    store.delete(sandbox.name)
    gone = screen.get_by_role("dialog", name="This sandbox was deleted")
    expect(gone).to_be_visible()
    expect(screen.locator("#dialog")).to_be_hidden()
    expect(screen.locator("#connection")).to_have_text("deleted")
    for _ in range(3):
        screen.keyboard.press("Escape")
    expect(gone).to_be_visible()
    link = gone.get_by_role("link", name="All sandboxes")
    screen.locator("#t-run").evaluate("(button) => button.focus()")
    expect(screen.locator("#t-run")).not_to_be_focused()
    link.click()
    expect(screen).to_have_url("/")
