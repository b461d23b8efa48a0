"""What the home page and a live page cost a browser with an empty cache: ``make pages``.

It counts the requests of each page, their bytes on the wire (headers and bodies, as they came) and the time
to its first paint, in a headless Chromium on loopback, and ends with 1 where an aim is missed. The numbers
are in docs/BENCHMARKS.md.
"""

import statistics
import sys
import tempfile
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any, Final, NamedTuple

from playwright.sync_api import Browser, Page, expect, sync_playwright

from schedviz.up.embedded_redis import free_port
from tests import chromium
from tests.processes import Process, answers
from tests.waiting import PATIENCE, eventually

RUNS: Final = 15
REQUESTS: Final = 8
KILOBYTES: Final = 90
PAINT_MS: Final = 300
SCENARIO: Final = "online-vs-offline"

CONNECTED: Final = "#connection.ok"
"""The state of a live page that gets frames: "live", or "catching up" where the machine is slow."""
PAINT: Final = "performance.getEntriesByName('first-contentful-paint')"


class Arrival(NamedTuple):
    """A page that a browser with an empty cache opened. ``requests``: with websockets. ``kilobytes``: of the
    responses; ``frames``: of the websocket's frames until then."""

    requests: int
    kilobytes: float
    frames: float

    def __str__(self) -> str:
        return (
            f"{self.requests} requests, {self.kilobytes:.1f} kB on the wire, {self.frames:.1f} kB of frames"
        )


class Wire:
    """What a page asks for over the network: ``urls`` of requests and websockets, the ids of the requests
    ``under_way``, and ``bytes`` received in responses, and in ``frames`` of websockets. The browser does not
    say how long a frame is on the wire; it is compressed again here, as the server does."""

    def __init__(self, page: Page) -> None:
        self.urls: list[str] = []
        self.under_way: set[str] = set()
        self.bytes = self.frames = 0
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.requestWillBeSent", self._begin)
        session.on("Network.webSocketCreated", lambda event: self.urls.append(event["url"]))
        session.on("Network.loadingFinished", self._add)
        session.on("Network.loadingFailed", lambda event: self.under_way.discard(event["requestId"]))
        session.on("Network.webSocketFrameReceived", self._add_frame)

    def _begin(self, event: dict[str, Any]) -> None:
        self.under_way.add(event["requestId"])
        self.urls.append(event["request"]["url"])

    def _add(self, event: dict[str, Any]) -> None:
        self.under_way.discard(event["requestId"])
        self.bytes += int(event["encodedDataLength"])

    def _add_frame(self, event: dict[str, Any]) -> None:
        data = event["response"]["payloadData"]
        is_text = event["response"]["opcode"] == 1
        self.frames += len(zlib.compress(data.encode() if is_text else b64decode(data)))


def arrive(page: Page, path: str) -> tuple[Arrival, list[str]]:
    """Open a page in a context that has opened none yet, and wait until it is complete (a live page:
    connected). Returns what it cost, and the URLs. A live page goes on to ask whether something has changed,
    which is no part of that: the more, the slower the machine is."""
    wire = Wire(page)
    page.goto(path, wait_until="load")
    if path.startswith("/s/"):
        expect(page.locator(CONNECTED)).to_be_visible()
    # The favicon is asked for after the page is loaded.
    eventually(lambda: page.evaluate("true") and any("favicon" in url for url in wire.urls), "the favicon")
    opened, urls = set(wire.under_way), _without_repeated(wire.urls)
    eventually(lambda: page.evaluate("true") and not opened & wire.under_way, "the responses")
    return Arrival(len(urls), wire.bytes / 1000, wire.frames / 1000), urls


def first_paint(page: Page) -> float:
    """Return the ms to the first paint of content, since the navigation began."""
    page.wait_for_function(f"{PAINT}.length")
    return float(page.evaluate(f"{PAINT}[0].startTime"))


def _without_repeated(urls: list[str]) -> list[str]:
    """Without the repeated questions of a live page, whose fields say what it shows."""
    asked = [url.partition("?")[0] for url in urls]
    return [url for place, url in enumerate(urls) if "?" not in url or asked[place] not in asked[:place]]


def main() -> int:
    path = chromium.find()
    if path is None:
        print(chromium.missing(), file=sys.stderr)
        return 1
    expect.set_options(timeout=PATIENCE * 1000)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        environment = {"PORT": str(port), "DATA_DIR": folder, "REDIS_URL": ""}
        process = Process(["manage.py", "up"], Path(folder) / "log", environment)
        try:
            eventually(lambda: process.alive() and answers(f"{url}/readyz"), "the start", PATIENCE)
            browser = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
            missed = [
                measure(browser, url, name, place)
                for name, place in (("home", "/"), ("live", start(browser, url)))
            ]
            browser.close()
        finally:
            process.stop()
    return int(any(missed))


def start(browser: Browser, url: str) -> str:
    """Start a scenario. The path of its page."""
    page = open_page(browser, url)
    page.goto("/")
    page.locator(f'form:has([name=scenario][value="{SCENARIO}"]) button').first.click()
    expect(page.locator(CONNECTED)).to_be_visible()
    path = page.url.removeprefix(url)
    page.context.close()
    return path


def open_page(browser: Browser, url: str) -> Page:
    context = browser.new_context(base_url=url, viewport={"width": 1280, "height": 720}, locale="en")
    return context.new_page()


def measure(browser: Browser, url: str, name: str, path: str) -> bool:
    """Open the page RUNS times, each in a context of its own, whose cache is empty. Whether an aim is
    missed."""
    found, paints = [], []
    for _ in range(RUNS):
        page = open_page(browser, url)
        found.append(arrive(page, path)[0])
        paints.append(first_paint(page))
        page.context.close()
    most = Arrival(
        max(each.requests for each in found),
        max(each.kilobytes for each in found),
        max(each.frames for each in found),
    )
    paint, all_paints = statistics.median(paints), ", ".join(f"{each:.0f}" for each in paints)
    print(f"{name}: {most}, first paint {paint:.0f} ms (of {RUNS}: {all_paints})", flush=True)
    return most.requests > REQUESTS or most.kilobytes > KILOBYTES or paint > PAINT_MS


if __name__ == "__main__":
    sys.exit(main())
