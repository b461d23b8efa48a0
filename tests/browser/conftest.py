"""Pages of the real stack in a real Chromium."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import ConsoleMessage, Page, Route, expect

from schedviz.api import write
from schedviz.store import Meta, Sandbox, Store
from simulator.api import Manifest
from tests.waiting import PATIENCE, eventually

expect.set_options(timeout=PATIENCE * 1000)

Open = Callable[..., Sandbox]

LEFT = r"htmx:(sendAbort|afterRequest), "
"""htmx logs these two for a request whose page is left before the answer. A request that fails logs others:
``htmx:sendError`` or the status."""


def node(name: str, cpu: str = "4") -> Manifest:
    amounts = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": amounts},
    }


def pod(name: str, cpu: str = "1", **spec: object) -> Manifest:
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 3, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def eventually_in(page: Page, look: Callable[[], object], what: str) -> None:
    """Wait for a result of the page's event handlers in this process. Playwright calls them only while a call
    to the page waits."""
    eventually(lambda: page.evaluate("true") and look(), what)


def hold_first(page: Page, address: str, method: str = "GET") -> list[Route]:
    """Hold the first request of the page's scripts for an address (a regular expression): it is then in the
    list. The others go on."""
    held: list[Route] = []

    def take(route: Route) -> None:
        request = route.request
        if held or request.resource_type not in ("fetch", "xhr") or request.method != method:
            route.fallback()
        else:
            held.append(route)

    page.route(re.compile(address), take)
    return held


@pytest.fixture
def screen(page: Page) -> Iterator[Page]:
    """A page whose console must have no error."""
    violations: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and not re.match(LEFT, message.text):
            violations.append(message.text)

    page.on("console", note)
    yield page
    assert violations == []


@pytest.fixture
def live(screen: Page, store: Store, sandbox_name: str) -> Open:
    """Opens the live page of a new sandbox with these manifests, and waits until it is live. The sandbox is
    deleted when the page is closed: an open page may ask for what is deleted, and log the 404."""

    def show(*manifests: Manifest) -> Sandbox:
        sandbox = write.create_sandbox(store, Meta(sandbox_name, pace=100_000), manifests)
        screen.goto(f"/s/{sandbox_name}/")
        expect(screen.locator("#connection")).to_have_text("live")
        return sandbox

    return show
