"""Pods that wait on Permit, approved and rejected by buttons."""

import re

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from schedviz.api import write
from schedviz.loop.clock import MIN_SPEED, set_speed
from schedviz.store import Meta, Store
from simulator.api import Manifest
from simulator.plugins.gang import GROUP, SIZE

from .conftest import eventually_in, node, pod

pytestmark = pytest.mark.browser

CONFIG: Manifest = {"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Gang"}]}}}]}


def member(name: str) -> Manifest:
    made = pod(name)
    made["metadata"] |= {"labels": {GROUP: "train"}, "annotations": {SIZE: "5"}}
    return made


def test_waiting_pods_are_approved_and_rejected(screen: Page, store: Store, sandbox_name: str) -> None:
    sandbox = write.create_sandbox(
        store, Meta(sandbox_name, config=CONFIG), [node("n", "8"), member("a"), member("b")]
    )
    screen.goto(f"/s/{sandbox_name}/")
    lane = screen.locator("#lane-waiting")
    expect(lane.locator(".chip")).to_have_count(2)
    expect(lane).to_contain_text("waits for Gang")
    set_speed(sandbox, MIN_SPEED)  # so that no pod's timeout expires
    expect(lane.locator(".ring")).to_have_count(2)
    expect(lane.locator("[data-until]").first).to_have_text(re.compile(r"^\d\d s$"))

    # A frame removes the button before the response arrives. The response is put into the page nevertheless.
    answers: list[tuple[Route, APIResponse]] = []
    screen.route("**/permit/", lambda route: answers.append((route, route.fetch())))
    screen.get_by_role("button", name="Approve default/a").click()
    expect(screen.locator(".node .pod", has_text="a")).to_have_count(1)
    expect(lane.locator(".chip")).to_have_count(1)
    eventually_in(screen, lambda: answers, "the answer comes")
    [(route, answer)] = answers
    route.fulfill(response=answer)
    expect(screen.locator("#acted-line")).to_contain_text("kubectl annotate pod a")
    screen.unroute("**/permit/")

    screen.get_by_role("button", name="Reject default/b").click()
    expect(screen.locator("#log")).to_contain_text("b is unschedulable: 1 rejected by hand.")
    store.delete(sandbox.name)
    expect(screen.locator("#connection")).to_have_text("deleted")
