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

from .conftest import Open, eventually_in, hold_first, node, pod
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
MISSING = "There is no"
NOTES: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "notes"}}

CHANGES = [
    Change("pods/default/web/", "on node-", deletion("pods", "default/web"), GONE),
    Change("pods/default/web/", GONE, creation(pod("web")), "on node-", GONE),
    Change("nodes/node-1/", "team=a", remove_taint, "no pods", "team=a"),
    Change("nodes/node-2/", "Cordon", deletion("nodes", "node-2"), MISSING),
    Change("nodes/node-2/", MISSING, creation(node("node-2")), "Cordon", MISSING),
    Change("nodes/", "2 nodes", creation(node("node-3")), "3 nodes"),
    Change("objects/", "PriorityClass", creation(NOTES), "ConfigMap"),
    Change("objects/configmaps/", "notes", deletion("configmaps", "default/notes"), "extension-", "notes"),
    Change(f"objects/{LOW}/", "kind: PriorityClass", label_low, "seen: 'yes'"),
    Change(f"objects/{LOW}/", "seen: 'yes'", deletion("priorityclasses.scheduling.k8s.io", "low"), MISSING),
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
    detail = screen.locator("#detail")
    screen.evaluate(GO, f"/s/{sandbox.name}/nodes/node-1/")
    expect(detail).to_contain_text("team=a")
    hold_first(screen, "/nodes/node-1/$")
    with screen.expect_request(re.compile("/nodes/node-1/$")):
        remove_taint(sandbox, None)
    detail.get_by_role("button", name="Cordon", exact=True).click()
    expect(detail.get_by_role("button", name="Uncordon", exact=True)).to_be_visible()
    object_actions.taint(sandbox, "node-1", "team=b:PreferNoSchedule")
    expect(detail).to_contain_text("team=b")

    # One that is refused: what the request would have shown is asked for again.
    screen.unroute_all()
    pause(sandbox)
    hold_first(screen, "/nodes/node-1/$")
    with screen.expect_request(re.compile("/nodes/node-1/$")):
        object_actions.taint(sandbox, "node-1", "team=c:PreferNoSchedule")
    detail.locator("#taint").fill("team=c:Sometimes")
    detail.get_by_role("button", name="Taint", exact=True).click()
    expect(detail).to_contain_text("team=c")


def test_an_answer_that_comes_late_leaves_what_was_opened_and_typed_meanwhile(
    screen: Page, live: Open
) -> None:
    sandbox = live(node("node-1"), node("node-2"), pod("web"))
    base, detail, form = f"/s/{sandbox.name}/", screen.locator("#detail"), screen.locator("dialog[open]")
    title, new_pod = detail.locator("[data-panel-title]"), screen.locator(".create a[href$='/new/pod/']")
    asked: list[str] = []
    screen.on("request", lambda request: asked.append(f"{request.method} {request.url}"))

    def release(held: list[Route]) -> None:
        with screen.expect_response(held[0].request.url):
            held[0].continue_()
        screen.evaluate("true")

    def held_by(act: Callable[[], object], address: str, method: str = "POST") -> list[Route]:
        held = hold_first(screen, address, method)
        act()
        eventually_in(screen, lambda: held, address)
        return held

    # An act in a panel. Meanwhile the next one is typed, and a form is opened: by a double click, once.
    screen.evaluate(GO, f"{base}nodes/node-1/")
    taint = detail.locator("#taint")
    taint.fill("team=a:NoSchedule")
    act = held_by(lambda: taint.press("Enter"), "/taint/$")
    taint.fill("zone=b:NoSchedule")
    opened = held_by(new_pod.dblclick, "/new/pod/$", "GET")
    release(opened)
    form.locator("#id_name").fill("typed")
    release(act)
    expect(detail.locator(".taints")).to_contain_text("team=a")
    expect(taint).to_have_value("zone=b:NoSchedule")
    expect(form.locator("#id_name")).to_have_value("typed")
    assert sum(each.endswith("/new/pod/") and each.startswith("GET") for each in asked) == 1

    # A step of the form, while its YAML is edited. Both changes stay.
    yaml = form.locator("#id_yaml")
    expect(yaml).to_have_value(re.compile("name: typed"))
    step = held_by(lambda: form.locator("#id_name").fill("other"), "/new/pod/$")
    yaml.fill(yaml.input_value() + "metadata: {labels: {seen: 'yes'}}\n")
    release(step)
    expect(yaml).to_have_value(re.compile("seen: 'yes'"))

    # A form that is refused after it was closed, while another one is open.
    form.locator("#id_cpu").fill("much")
    refusal = held_by(lambda: form.locator("button.primary").click(), "/new/pod/$")
    screen.keyboard.press("Escape")
    expect(form).to_have_count(0)
    screen.keyboard.press("n")
    form.locator("#id_name").fill("node-9")
    release(refusal)
    expect(form.locator("#id_name")).to_have_value("node-9")
    screen.keyboard.press("Escape")
    expect(form).to_have_count(0)

    # The next command, which is typed while one runs.
    screen.keyboard.press("/")
    line = form.locator("#command-text")
    line.fill("get nodes")
    run = held_by(lambda: line.press("Enter"), "/command/$")
    line.fill("get pods")
    release(run)
    expect(form.locator("#command-said")).to_contain_text("node-1")
    expect(line).to_have_value("get pods")
    screen.keyboard.press("Escape")
    screen.keyboard.press("Escape")
    expect(form).to_have_count(0)

    # The deletion of what a panel shows, while another panel is opened, and when it was.
    for name, is_open in (("node-2", False), ("node-1", True)):
        screen.evaluate(GO, f"{base}nodes/{name}/")
        expect(title).to_contain_text(name)
        deletion = held_by(lambda: detail.get_by_role("button", name="Delete node").click(), "/delete/$")
        panel = hold_first(screen, "/objects/$") if not is_open else []
        screen.evaluate(GO, f"{base}objects/")
        if not is_open:
            eventually_in(screen, lambda at=panel: at, "the panel is asked for")
        else:
            expect(title).to_contain_text("All objects")
        release(deletion)
        expect(screen.locator(".node", has_text=name)).to_have_count(0)
        if not is_open:
            release(panel)
        expect(title).to_contain_text("All objects")


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
    held = hold_first(screen, "/pods/default/web/")
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
