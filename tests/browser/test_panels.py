"""Open panels follow what others do, keep what the visitor does in them, and have addresses."""

import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
from django.urls import resolve
from playwright.sync_api import Page, Route, expect

from schedviz.api import removal, write
from schedviz.api.schedulers import switch_scheduler
from schedviz.loop.clock import pause
from schedviz.loop.leadership import end_lease
from schedviz.store import Sandbox, Store
from schedviz.web.objects import actions as object_actions
from simulator.api import Manifest
from simulator.apiserver import resources
from tests.simulator.lab import priority_class
from tests.web.test_panels import PANELS, STATIC

from .conftest import Open, eventually_in, node, pod
from .test_travel import SLIDER

pytestmark = pytest.mark.browser

GO = """href => document.body.dispatchEvent(
    new CustomEvent("schedviz:go", { detail: { panel: href } }))"""
LOW = "priorityclasses.scheduling.k8s.io/low"


Act = Callable[[Sandbox, Store], object]


class Change(NamedTuple):
    """What somebody else does while a panel is open."""

    panel: str
    before: str
    """A text of the panel at first."""
    act: Act
    after: str
    """A text of the panel then."""
    gone: str = ""
    """A text that it does not have then."""


def creation(manifest: Manifest) -> Act:
    return lambda at, _: write.create(at, [manifest])


def deletion(resource: str, key: str) -> Act:
    return lambda at, _: removal.delete(at, resource, key, grace_seconds=0)


def tainted(name: str) -> Manifest:
    return node(name) | {"spec": {"taints": [{"key": "team", "value": "a", "effect": "PreferNoSchedule"}]}}


def label_low(at: Sandbox, _: Store) -> None:
    object_actions.set_metadata(at, resources.PRIORITY_CLASSES, "low", "labels", ["seen=yes"])


def remove_taint(at: Sandbox, _: Store | None) -> None:
    object_actions.taint(at, "node-1", "team=a:PreferNoSchedule-")


GONE = "no longer exists"
NOTES: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "notes"}}

CHANGES = [
    Change("pods/default/web/", "on node-", deletion("pods", "default/web"), GONE),
    Change("pods/default/web/", GONE, creation(pod("web")), "on node-", GONE),
    Change("nodes/node-1/", "team=a", remove_taint, "no pods", "team=a"),
    Change("nodes/node-2/", "Cordon", deletion("nodes", "node-2"), GONE),
    Change("nodes/node-2/", GONE, creation(node("node-2")), "Cordon", GONE),
    Change("nodes/", "2 nodes", creation(node("node-3")), "3 nodes"),
    Change("objects/", "PriorityClass", creation(NOTES), "ConfigMap"),
    Change("objects/configmaps/", "notes", deletion("configmaps", "default/notes"), "extension-", "notes"),
    Change(f"objects/{LOW}/", "kind: PriorityClass", label_low, "seen: 'yes'"),
    Change(f"objects/{LOW}/", "seen: 'yes'", deletion("priorityclasses.scheduling.k8s.io", "low"), GONE),
    Change("pending/", "No pod is pending", creation(pod("huge", cpu="99")), "too little cpu"),
    Change("pending/", "too little cpu", deletion("pods", "default/huge"), "No pod is pending"),
    Change("leader/", "Kill the leader", lambda at, store: end_lease(store, at), "epoch 2"),
    Change("predict/", "Pause and begin", lambda at, _: pause(at), "Continue"),
    Change("outside/", "Stand down", lambda at, _: switch_scheduler(at, stands_down=True), "Schedule again"),
]


def test_every_panel_shows_what_others_change(screen: Page, live: Open, store: Store) -> None:
    assert {resolve(f"/s/x/{change.panel}").url_name for change in CHANGES} == PANELS - STATIC
    sandbox = live(tainted("node-1"), node("node-2"), priority_class("low", 1), pod("web", nodeName="node-2"))
    detail = screen.locator("#detail")
    for change in CHANGES:
        screen.evaluate(GO, f"/s/{sandbox.name}/{change.panel}")
        expect(detail).to_contain_text(change.before)
        change.act(sandbox, store)
        expect(detail).to_contain_text(change.after)
        if change.gone:
            expect(detail).not_to_contain_text(change.gone)
        expect(screen).to_have_url(re.compile(f"/s/{sandbox.name}/{change.panel}$"))


def test_an_act_while_the_panel_is_loaded_again_leaves_it_live(screen: Page, live: Open) -> None:
    """The act gives the request up. It counted as under way for ever."""
    sandbox = live(tainted("node-1"))
    detail, held = screen.locator("#detail"), []

    def hold_first(route: Route) -> None:
        if route.request.method == "GET" and not held:
            held.append(route)
        else:
            route.continue_()

    screen.evaluate(GO, f"/s/{sandbox.name}/nodes/node-1/")
    expect(detail).to_contain_text("team=a")
    screen.route(re.compile("/nodes/node-1/$"), hold_first)
    with screen.expect_request(re.compile("/nodes/node-1/$")):
        remove_taint(sandbox, None)
    detail.get_by_role("button", name="Cordon", exact=True).click()
    expect(detail.get_by_role("button", name="Uncordon", exact=True)).to_be_visible()
    object_actions.taint(sandbox, "node-1", "team=b:PreferNoSchedule")
    expect(detail).to_contain_text("team=b")


def test_what_a_visitor_does_in_a_panel_stays_when_it_changes(screen: Page, live: Open) -> None:
    sandbox = live(tainted("node-1"), pod("web"))
    detail = screen.locator("#detail")
    expect(screen.locator(".node .pod.running", has_text="web")).to_be_visible()

    # What is typed, with the focus, and how far the panel is scrolled.
    screen.locator(".node").get_by_role("link", name="node-1", exact=True).click()
    label = detail.get_by_label("Label")
    label.press_sequentially("tea")
    screen.evaluate("document.querySelector('.inspector .scroll').scrollTop = 60")
    object_actions.taint(sandbox, "node-1", "zone=b:NoSchedule")
    expect(detail).to_contain_text("zone=b:NoSchedule")
    expect(label).to_be_focused()
    screen.keyboard.type("m=a")
    expect(label).to_have_value("team=a")
    assert screen.evaluate("document.querySelector('.inspector .scroll').scrollTop") == 60

    # A refused act says why beside its form. Nothing moves, and what was typed stays, also in the other form.
    taint, breaks = detail.locator("#taint"), detail.get_by_role("button", name="Make node fail")
    refused = screen.locator("#refused")
    taint.fill("zone=b:Sometimes")
    boxes = [each.bounding_box() for each in (breaks, label)]
    detail.get_by_role("button", name="Taint", exact=True).click()
    expect(refused).to_contain_text("Sometimes")
    assert [each.bounding_box() for each in (breaks, label)] == boxes
    expect(refused).to_be_in_viewport(ratio=1)
    expect(taint).to_have_value("zone=b:Sometimes")
    taint.fill("zone=c:NoSchedule")
    expect(refused).to_be_hidden()
    taint.press("Enter")
    expect(detail.locator(".taints")).to_contain_text("zone=c:NoSchedule")
    expect(taint).to_have_value("")
    expect(label).to_have_value("team=a")

    # What is unfolded, and selected text, until it is not selected any more.
    screen.locator(".node .pod", has_text="web").click()
    detail.locator("#pod-printed-1 summary").click()
    detail.locator("#panel-yaml summary").click()
    expect(detail.locator("#pod-output-1")).to_contain_text("Node-Selectors:")
    object_actions.set_metadata(sandbox, resources.PODS, "default/web", "labels", ["seen=yes"])
    expect(detail.locator("#panel-yaml")).to_contain_text("seen: 'yes'")
    expect(detail.locator("#pod-printed-1")).to_have_attribute("open", "")
    expect(detail.locator("#pod-output-1")).to_contain_text("seen=yes")
    detail.locator("#panel-yaml h4").select_text()
    object_actions.set_metadata(sandbox, resources.PODS, "default/web", "labels", ["seen=twice"])
    expect(screen.locator("#log")).to_be_visible()
    assert screen.evaluate("getSelection().toString()").strip() == "YAML"
    screen.evaluate("getSelection().removeAllRanges()")
    expect(detail.locator("#panel-yaml")).to_contain_text("seen: twice")

    # A fold of the whole page, unfolded while an answer without its content is under way.
    pause(sandbox)
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if route.request.resource_type == "fetch" and not held:
            held.append(route)
        else:
            route.continue_()

    screen.route(re.compile("/pods/default/web/"), hold_first)
    screen.goto(f"/s/{sandbox.name}/pods/default/web/")
    expect(screen.locator("#connection")).to_have_text("live")
    eventually_in(screen, lambda: held, "the panel is refreshed")
    with screen.expect_request(re.compile("unfolded=pod-printed-1")):
        detail.locator("#pod-printed-1 summary").click()
    held[0].continue_()
    expect(detail.locator("#pod-output-1")).to_contain_text("seen=twice")


def test_the_address_has_the_panel_and_back_forward_and_reload_keep_it(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1"), pod("web"))
    base, detail = f"/s/{sandbox.name}/", screen.locator("#detail")
    expect(screen.locator(".node .pod.running", has_text="web")).to_be_visible()
    title, banner = detail.locator("[data-panel-title]"), screen.locator("#past")

    def at(path: str, shown: str) -> None:
        expect(screen).to_have_url(re.compile(f"{base}{path}$"))
        expect(title).to_contain_text(shown)

    screen.locator(".node").get_by_role("link", name="node-1", exact=True).click()
    at("nodes/node-1/", "Node node-1")
    detail.locator("#node-pods").get_by_role("link", name="web").click()
    at("pods/default/web/", "Pod web")
    screen.keyboard.press("Escape")
    expect(screen).to_have_url(re.compile(f"{base}$"))
    screen.go_back()
    at("pods/default/web/", "Pod web")
    screen.go_back()
    at("nodes/node-1/", "Node node-1")
    screen.reload()
    at("nodes/node-1/", "Node node-1")
    screen.go_forward()
    at("pods/default/web/", "Pod web")

    # The fields of a panel, and those of the page.
    screen.locator("#q").fill("web")
    expect(screen).to_have_url(re.compile(r"pods/default/web/\?q=web$"))
    screen.evaluate(GO, f"{base}objects/pods/")
    detail.get_by_label("Part of a name").fill("none")
    at(r"objects/pods/\?name=none&q=web", "Pod 0 of 1")
    screen.reload()
    at(r"objects/pods/\?name=none&q=web", "Pod 0 of 1")
    expect(screen.locator("#q")).to_have_value("web")
    screen.locator("#q").fill("")
    screen.locator("#as-table").click()
    at("nodes/", "Nodes")
    detail.get_by_role("link", name="cpu", exact=True).first.click()
    expect(screen).to_have_url(re.compile(rf"{base}nodes/\?sort=-?cpu$"))
    expect(detail.locator("[aria-sort]")).to_have_count(1)
    screen.go_back()
    at("nodes/", "Nodes")

    # Past moments: the panel goes with the page, and is in its address.
    screen.locator(SLIDER).press("Home")
    at("at/1/nodes/", "Nodes")
    screen.evaluate(GO, f"{base}objects/")
    at("at/1/objects/", "All objects")
    screen.go_back()
    at("at/1/nodes/", "Nodes")
    expect(banner).to_be_visible()
    # Its own panel is not replaced by the live one when something happens.
    write.create(sandbox, [node("node-2")])
    screen.go_back()
    at("nodes/", "Nodes")
    expect(banner).to_be_hidden()
    expect(detail).to_contain_text("2 nodes")
    screen.go_forward()
    at("at/1/nodes/", "Nodes")
    expect(detail).to_contain_text("1 node")
    screen.reload()
    at("at/1/nodes/", "Nodes")
    expect(banner).to_be_visible()
    # One that has no past goes back to live.
    screen.evaluate(GO, f"{base}download/")
    at("download/", "Download")
    expect(banner).to_be_hidden()
    expect(screen.locator(".node")).to_have_count(2)


@pytest.mark.parametrize("clicked_first", [False, True])
def test_a_click_while_the_page_goes_to_a_moment_opens_its_panel_there(
    screen: Page, live: Open, clicked_first: bool
) -> None:
    """The open panel is shown at the moment, too, and took the place of the one that was clicked."""
    sandbox = live(node("node-1"), pod("web"))
    base = f"/s/{sandbox.name}/"
    held: list[Route] = []
    expect(screen.locator(".node .pod.running", has_text="web")).to_be_visible()
    screen.locator("#as-table").click()
    title = screen.locator("#detail [data-panel-title]")
    expect(title).to_contain_text("Nodes")

    def hold(route: Route) -> None:
        held.append(route)

    # The moment, or the panel, waits until both were asked for.
    slow = f"{base}objects/$" if clicked_first else f"{base}at/1/$"
    screen.route(re.compile(slow), hold)
    if clicked_first:
        screen.evaluate(GO, f"{base}objects/")
        eventually_in(screen, lambda: held, "the panel was asked for")
        screen.locator(SLIDER).press("Home")
    else:
        screen.locator(SLIDER).press("Home")
        eventually_in(screen, lambda: held, "the moment was asked for")
        screen.route(re.compile(f"{base}at/1/objects/$"), hold)
        screen.evaluate(GO, f"{base}objects/")
        eventually_in(screen, lambda: held[1:], "the panel was asked for")
        held[0].continue_()
        screen.unroute_all()
    expect(screen).to_have_url(re.compile(f"{base}at/1/objects/$"))
    expect(title).to_contain_text("All objects")
    expect(screen.locator("#past")).to_be_visible()
