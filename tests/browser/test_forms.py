"""Creating and changing things: errors beside their fields, YAML, nodes, the keyboard, no scripts."""

import pytest
from playwright.sync_api import Browser, Page, expect

from schedviz.api import write
from schedviz.store import Meta, Store

from .conftest import Open, node, pod

pytestmark = pytest.mark.browser


def test_a_usual_pod_takes_two_clicks(screen: Page, live: Open) -> None:
    live(node("node-1"))
    screen.get_by_role("link", name="+ Pod").first.click()
    screen.get_by_role("button", name="Create").click()
    expect(screen.locator(".node .pod")).to_have_count(1)


def test_errors_stand_beside_their_fields_until_they_are_mended(screen: Page, live: Open) -> None:
    live(node("node-1"))
    opener = screen.get_by_role("link", name="+ Pod").first
    opener.click()
    dialog = screen.locator("dialog")
    dialog.get_by_label("Name", exact=True).fill("Not A Name")
    dialog.get_by_label("CPU request").fill("-2")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.locator("#id_name_error")).to_contain_text("RFC 1123")
    expect(dialog.locator("#id_cpu_error")).to_contain_text("must be greater than or equal to 0")
    expect(dialog.get_by_label("Name", exact=True)).to_be_focused()
    expect(screen.locator(".chip")).to_have_count(0)
    dialog.get_by_label("Name", exact=True).fill("mended")
    dialog.get_by_label("CPU request").fill("2")
    expect(dialog.locator("#yaml-view")).to_contain_text("cpu: '2'")
    dialog.get_by_role("button", name="Create").click()
    expect(screen.locator(".node .pod", has_text="mended")).to_be_visible()
    expect(dialog).not_to_be_visible()
    expect(opener).to_be_focused()


def test_escape_closes_the_dialog_and_gives_the_focus_back(screen: Page, live: Open) -> None:
    live()
    opener = screen.get_by_role("link", name="YAML")
    opener.click()
    expect(screen.locator("#id_yaml")).to_be_focused()
    screen.keyboard.press("Escape")
    expect(screen.locator("dialog")).not_to_be_visible()
    expect(opener).to_be_focused()


def test_pasted_yaml_is_stored_whole_or_not_at_all(screen: Page, live: Open) -> None:
    live(node("node-1"))
    screen.get_by_role("link", name="YAML").click()
    good = """\
apiVersion: v1
kind: Pod
metadata: {name: first}
spec: {containers: [{name: main, image: app:1}]}
---
apiVersion: v1
kind: Pod
metadata: {name: second}
spec: {containers: [{name: main, image: app:1}], nodeSelector: {disk: ssd}}
"""
    text = screen.locator("#id_yaml")
    text.fill(good.replace("nodeSelector", "nodeSelektor"))
    screen.get_by_role("button", name="Create").click()
    expect(screen.locator("dialog .error")).to_contain_text("nodeSelektor")
    expect(text).to_have_value(good.replace("nodeSelector", "nodeSelektor"))
    expect(screen.locator("[data-uid]")).to_have_count(0)
    text.fill(good)
    screen.get_by_role("button", name="Create").click()
    expect(screen.locator(".node .pod", has_text="first")).to_be_visible()
    expect(screen.locator("#lane-unschedulable .chip", has_text="second")).to_be_visible()


def test_a_node_is_cordoned_tainted_and_deleted(screen: Page, live: Open) -> None:
    live(node("node-1"), pod("web"))
    card = screen.locator(".node")
    expect(card.locator(".pod.running")).to_be_visible()
    card.get_by_role("link", name="node-1").click()
    panel = screen.locator("#detail")
    panel.get_by_role("button", name="Cordon").click()
    expect(card).to_contain_text("SchedulingDisabled")
    panel.get_by_role("button", name="Uncordon").click()
    expect(card).not_to_contain_text("SchedulingDisabled")
    panel.get_by_label("Taint", exact=True).fill("nonsense")
    panel.get_by_role("button", name="Taint").click()
    expect(panel.locator(".error")).to_contain_text("key=value:Effect")
    panel.get_by_label("Taint", exact=True).fill("team=a:NoSchedule")
    panel.get_by_role("button", name="Taint").click()
    expect(card.locator(".taint")).to_contain_text("team=a:NoSchedule")
    panel.get_by_role("button", name="remove").click()
    expect(card.locator(".taint")).to_have_count(0)
    panel.get_by_role("button", name="Delete node").click()
    expect(screen.locator("#nodes")).to_contain_text("No nodes yet")
    expect(panel).to_be_empty()


def test_a_pod_is_deleted_and_leaves_after_its_grace_period(screen: Page, live: Open) -> None:
    live(node("node-1"), pod("web", terminationGracePeriodSeconds=2))
    block = screen.locator(".node .pod.running", has_text="web")
    block.click()
    screen.get_by_role("button", name="Delete pod").click()
    expect(screen.locator(".node .pod.terminating")).to_be_visible()
    expect(screen.locator(".node .pod")).to_have_count(0)
    expect(screen.locator("#detail")).to_contain_text("is gone")


def test_everything_can_be_done_from_the_keyboard(screen: Page, live: Open) -> None:
    live()
    screen.keyboard.press("n")
    expect(screen.get_by_role("button", name="Create")).to_be_focused()
    screen.keyboard.press("Enter")
    expect(screen.locator(".node")).to_have_count(1)
    expect(screen.locator("dialog")).not_to_be_visible()
    screen.keyboard.press("p")
    expect(screen.get_by_role("button", name="Create")).to_be_focused()
    screen.keyboard.press("Enter")
    expect(screen.locator(".node .pod.running")).to_have_count(1)
    expect(screen.locator("dialog")).not_to_be_visible()
    screen.locator(".node .pod").focus()
    screen.keyboard.press("Enter")
    expect(screen.locator("#detail h3")).to_be_focused()
    screen.keyboard.press("Escape")
    expect(screen.locator(".node .pod")).to_be_focused()
    screen.locator(".mark").last.focus()
    screen.keyboard.press("Enter")
    expect(screen.locator("#detail")).to_contain_text("Scheduling cycle 1")
    screen.keyboard.press("Escape")
    screen.locator("h1").click()
    screen.keyboard.press("Space")
    expect(screen.get_by_role("button", name="Resume")).to_be_visible()
    screen.keyboard.press("Space")
    expect(screen.get_by_role("button", name="Pause")).to_be_visible()


def test_the_focus_outlives_the_swap_of_what_has_it(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1"), pod("web"))
    block = screen.locator(".node .pod.running", has_text="web")
    block.focus()
    write.create(sandbox, [pod("second")])
    expect(screen.locator(".node .pod.running")).to_have_count(2)
    expect(block).to_be_focused()


def test_the_clock_stops_and_runs_faster(screen: Page, live: Open) -> None:
    sandbox = live()
    screen.get_by_role("button", name="Pause").click()
    expect(screen.get_by_role("button", name="Resume")).to_be_visible()
    shown = screen.locator(".clock").text_content()
    screen.get_by_label("Speed").select_option("10.0")
    expect(screen.get_by_label("Speed")).to_have_value("10.0")
    assert screen.locator(".clock").text_content() == shown
    screen.get_by_role("button", name="Resume").click()
    expect(screen.locator(".clock")).not_to_have_text(shown or "")
    assert sandbox.clock().speed == 10.0


def test_without_scripts_the_pages_do_the_same(
    browser: Browser, stack: str, store: Store, sandbox_name: str
) -> None:
    write.create_sandbox(store, Meta(sandbox_name), [node("node-1")])
    context = browser.new_context(base_url=stack, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/s/{sandbox_name}/")
    page.get_by_role("link", name="+ Pod").first.click()
    page.get_by_label("CPU request").fill("lots")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#id_cpu_error")).to_be_visible()
    page.get_by_label("CPU request").fill("1")
    page.get_by_label("Name", exact=True).fill("web")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("[data-uid]", has_text="web").first).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.locator(".node header a").click()
    page.get_by_role("button", name="Cordon").click()
    expect(page.locator(".node.cordoned")).to_be_visible()
    context.close()
    store.delete(sandbox_name)
