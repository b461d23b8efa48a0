"""A page whose scripts are still being loaded: clicks and choices made meanwhile are not lost."""

import re
import threading
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from schedviz.api import write
from schedviz.store import Meta, Sandbox, Store

from .conftest import eventually_in, node, pod

pytestmark = pytest.mark.browser

LoadScripts = Callable[[], None]


@pytest.fixture
def sandbox(store: Store, sandbox_name: str) -> Sandbox:
    return write.create_sandbox(store, Meta(sandbox_name), [node("node-1"), pod("web", nodeName="node-1")])


@pytest.fixture
def load_scripts(page: Page, sandbox: Sandbox) -> LoadScripts:
    """Opens the page of the sandbox without its scripts. Returns a function that loads them."""
    waiting: list[Route] = []
    allowed = threading.Event()

    def hold(route: Route) -> None:
        if allowed.is_set():
            route.continue_()
        else:
            waiting.append(route)

    def load() -> None:
        eventually_in(page, lambda: waiting, "the browser asks for the script")
        allowed.set()
        for route in waiting:
            route.continue_()
        expect(page.locator("#connection")).to_have_text("live")

    page.route("**/sandbox.js", hold)
    page.goto(f"/s/{sandbox.name}/", wait_until="commit")
    expect(page.locator(".node .pod", has_text="web")).to_be_visible()
    return load


def test_controls_without_an_effect_appear_with_the_scripts(page: Page, load_scripts: LoadScripts) -> None:
    names = ("[popovertarget=keys]", "[data-travel=earlier]", "#moment", "#t-speed")
    controls = [page.locator(each) for each in names]
    for control in controls:
        expect(control).to_be_hidden()
    load_scripts()
    for control in controls:
        expect(control).to_be_visible()


def test_links_and_forms_work_before_the_scripts(
    page: Page, load_scripts: LoadScripts, sandbox: Sandbox
) -> None:
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert sandbox.clock().paused
    page.get_by_role("link", name="+ Pod").first.click()
    expect(page).to_have_url(re.compile(rf"/s/{sandbox.name}/new/pod/$"))


def test_choices_made_before_the_scripts_are_loaded_take_effect(
    page: Page, load_scripts: LoadScripts
) -> None:
    page.locator("#q").fill("nothing-has-this-name")
    page.locator("#informer-strip summary").click()
    load_scripts()
    expect(page.locator(".node.faded")).to_have_count(1)
    expect(page).to_have_url(re.compile("q=nothing-has-this-name"))
    expect(page.locator("#informer > li").first).to_be_visible()
