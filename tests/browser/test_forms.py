"""Creating and changing things: errors beside their fields, YAML, nodes, the keyboard, no scripts."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from schedviz.api import write
from schedviz.loop.clock import pause
from schedviz.store import Meta, Store
from tests.clocks import pass_time
from tests.waiting import eventually

from .conftest import Open, eventually_in, hold_first, node, pod

pytestmark = pytest.mark.browser

FRAME_SHOWN = """() => document.dispatchEvent(new CustomEvent("htmx:wsAfterMessage"))"""


def test_a_usual_pod_takes_two_clicks(screen: Page, live: Open) -> None:
    live(node("node-1"))
    screen.get_by_role("link", name="+ Pod").first.click()
    screen.get_by_role("button", name="Create").click()
    expect(screen.locator(".node .pod")).to_have_count(1)


def test_errors_are_shown_beside_their_fields_until_they_are_corrected(screen: Page, live: Open) -> None:
    live(node("node-1"))
    opener = screen.get_by_role("link", name="+ Pod").first
    opener.click()
    dialog = screen.locator("#dialog")
    dialog.get_by_label("Name", exact=True).fill("Not A Name")
    dialog.get_by_label("CPU request").fill("-2")
    # By key: the response to the filled-in field may move the button while the mouse is pressed on it.
    dialog.get_by_role("button", name="Create").press("Enter")
    expect(dialog.locator("#f-name-said .error")).to_contain_text("“not-a-name” would be valid.")
    expect(dialog.locator("#f-name-said .upstream")).to_contain_text("RFC 1123")
    expect(dialog.locator("#f-cpu-said .upstream")).to_contain_text("must be greater than or equal to 0")
    expect(dialog.get_by_label("Name", exact=True)).to_be_focused()
    expect(screen.locator(".chip")).to_have_count(0)
    dialog.get_by_label("Name", exact=True).fill("mended")
    dialog.get_by_label("CPU request").fill("2")
    expect(dialog.get_by_label("YAML")).to_have_value(re.compile("name: mended.*cpu: '2'", re.DOTALL))
    expect(dialog.locator(".error")).to_have_count(0)
    dialog.get_by_role("button", name="Create").click()
    expect(screen.locator(".node .pod", has_text="mended")).to_be_visible()
    expect(dialog).not_to_be_visible()
    expect(opener).to_be_focused()


def test_escape_closes_the_dialog_and_gives_the_focus_back(screen: Page, live: Open) -> None:
    live()
    opener = screen.locator("[popovertarget=t-more]")
    opener.click()
    screen.get_by_role("link", name="Create from YAML").click()
    expect(screen.locator("#id_yaml")).to_be_focused()
    screen.keyboard.press("Escape")
    expect(screen.locator("#dialog")).not_to_be_visible()
    expect(opener).to_be_focused()


def test_pasted_yaml_is_stored_whole_or_not_at_all(screen: Page, live: Open) -> None:
    live(node("node-1"))
    screen.keyboard.press("y")
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
    expect(screen.locator("#dialog .error")).to_contain_text("nodeSelektor")
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
    # The node lifecycle controller adds its taint a moment later, and removes it a moment after Uncordon.
    expect(card.locator(".taint")).to_contain_text("node.kubernetes.io/unschedulable:NoSchedule")
    panel.get_by_role("button", name="Uncordon").click()
    expect(card).not_to_contain_text("SchedulingDisabled")
    expect(card.locator(".taint")).to_have_count(0)
    panel.get_by_label("Taint", exact=True).fill("nonsense")
    panel.get_by_role("button", name="Taint").click()
    expect(screen.locator("#refused")).to_contain_text("key=value:Effect")
    panel.get_by_label("Taint", exact=True).fill("team=a:NoSchedule")
    panel.get_by_role("button", name="Taint").click()
    expect(card.locator(".taint")).to_contain_text("team=a:NoSchedule")
    panel.get_by_role("button", name="remove").click()
    expect(card.locator(".taint")).to_have_count(0)
    expect(panel.locator(".taint")).to_have_count(0)
    panel.get_by_label("Label", exact=True).fill("disk=ssd")
    panel.get_by_role("button", name="Label").click()
    expect(panel.get_by_role("cell", name="ssd")).to_be_visible()
    panel.get_by_role("button", name="Delete node").click()
    expect(screen.locator("#nodes")).to_contain_text("There are no nodes")
    expect(panel).to_be_empty()


def test_fields_and_yaml_are_kept_in_step(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1"))
    screen.keyboard.press("p")
    dialog = screen.locator("#dialog")
    yaml = dialog.get_by_label("YAML")
    dialog.get_by_label("Name", exact=True).fill("web")
    dialog.get_by_label("Create as", exact=True).select_option("Deployment")
    dialog.get_by_label("Copies").fill("2")
    expect(yaml).to_have_value(re.compile("kind: Deployment.*name: web.*replicas: 2", re.DOTALL))
    dialog.get_by_text("Where it may run").click()
    yaml.fill(yaml.input_value().replace("cpu: 500m", "cpu: '1'") + "      hostNetwork: true\n")
    yaml.press_sequentially("      nodeSelector: {disk: ssd}\n")
    expect(dialog.get_by_label("Node selector")).to_have_value("disk=ssd")
    expect(dialog.get_by_label("CPU request")).to_have_value("1")
    expect(yaml).to_be_focused()
    expect(dialog.locator("#yaml-said")).to_contain_text("1 more value is only in the YAML")
    good = yaml.input_value()
    yaml.fill(good + "  [")
    expect(dialog.locator("#yaml-said")).to_contain_text("not YAML")
    expect(dialog.get_by_label("CPU request")).to_have_value("1")
    yaml.fill(good.replace("hostNetwork", "hostNetwerk"))
    expect(dialog.locator("#yaml-said .error")).to_contain_text(
        "Line 23, column 7: spec.template.spec.hostNetwerk: There is no field “hostNetwerk” here."
    )
    yaml.fill(good)
    dialog.get_by_label("Node selector").fill("")
    dialog.get_by_label("Memory request").fill("1Gi")
    expect(yaml).to_have_value(re.compile("memory: 1Gi.*hostNetwork: true\n$", re.DOTALL))
    dialog.get_by_role("button", name="Create").click()
    expect(screen.locator(".node .pod.running")).to_have_count(2)
    assert sandbox.list("deployments.apps").items[0]["spec"]["template"]["spec"]["hostNetwork"] is True


def test_a_budget_is_created_holds_up_a_drain_and_is_edited(screen: Page, live: Open) -> None:
    web = pod("web-1")
    web["metadata"]["labels"] = {"app": "web"}
    live(node("node-1"), web, pod("batch-1"))
    expect(screen.locator(".node .pod.running")).to_have_count(2)
    screen.keyboard.press("b")
    dialog = screen.locator("#dialog")
    dialog.get_by_label("Name", exact=True).fill("keep-web")
    dialog.get_by_role("button", name="Create").click()
    expect(screen.locator("#budgets")).to_contain_text("keep-web")
    screen.locator(".node header a").click()
    panel = screen.locator("#detail")
    panel.get_by_role("button", name="Drain").click()
    expect(panel.locator(".drained .error")).to_contain_text(
        "The disruption budget keep-web needs 1 healthy pods"
    )
    expect(panel.locator(".drained")).to_contain_text("default/batch-1 evicted")
    expect(screen.locator(".node.cordoned")).to_be_visible()
    expect(screen.locator(".node .pod", has_text="batch")).to_have_count(0)
    screen.locator("[popovertarget=t-more]").click()
    screen.get_by_role("link", name="All objects").click()
    panel.get_by_role("link", name="PodDisruptionBudget").click()
    panel.get_by_role("link", name="Edit keep-web").click()
    expect(dialog.get_by_label("Name", exact=True)).to_have_js_property("readOnly", True)
    dialog.get_by_label("minAvailable", exact=True).fill("0")
    dialog.get_by_role("button", name="Save").click()
    expect(panel).to_contain_text("keep-web")
    expect(screen.locator("#budgets")).to_contain_text("1 disruption allowed")
    screen.locator(".node header a").click()
    panel.get_by_role("button", name="Drain").click()
    expect(panel.locator(".drained")).to_contain_text("default/web-1 evicted")
    expect(screen.locator(".node .pod")).to_have_count(0)
    panel.get_by_role("button", name="Try again").click()
    expect(panel.locator(".drained")).to_contain_text("The node is drained.")


def test_two_edits_of_one_object_at_the_same_time_are_merged(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1"))
    screen.locator(".node header a").click()
    screen.locator("#detail").get_by_role("link", name="Edit").click()
    dialog = screen.locator("#dialog")
    dialog.get_by_label("CPU", exact=True).fill("6")
    write.patch(sandbox, "nodes", "node-1", {"spec": {"unschedulable": True}})
    # The node lifecycle controller taints it. This other change would conflict with the second Save.
    eventually(lambda: (sandbox.get("nodes", "node-1") or {})["spec"].get("taints"), "the taint is there")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator(".changes")).to_contain_text("spec.unschedulable")
    expect(dialog.get_by_label("CPU", exact=True)).to_have_value("6")
    expect(dialog.get_by_label("YAML")).to_have_value(re.compile("unschedulable: true"))
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).not_to_be_visible()
    expect(screen.locator(".node.cordoned")).to_contain_text("/ 6")
    stored = sandbox.get("nodes", "node-1")
    assert stored is not None
    assert (stored["spec"]["unschedulable"], stored["status"]["allocatable"]["cpu"]) == (True, "6")


def test_the_scheduler_restarts_with_the_configuration_that_is_applied(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1"), node("node-2", cpu="8"), pod("first", nodeName="node-2"))
    screen.locator("[popovertarget=t-more]").click()
    screen.get_by_role("link", name="Scheduler configuration").click()
    dialog = screen.locator("#dialog")
    dialog.get_by_label("Scoring strategy").select_option("RequestedToCapacityRatio")
    expect(dialog.locator("#f-p0-shape")).to_contain_text("at least one point must be specified")
    dialog.get_by_label("Shape of RequestedToCapacityRatio").fill("0=0, 100=10")
    dialog.get_by_text("Score weights").click()
    weight = dialog.get_by_role("spinbutton", name="NodeResourcesBalancedAllocation")
    weight.fill("1000000000000000")
    expect(dialog.locator("#f-p0-NodeResourcesBalancedAllocation")).to_contain_text("not in valid range")
    weight.fill("1")
    dialog.get_by_text("Plugins", exact=True).click()
    dialog.get_by_role("checkbox", name="NodeResourcesBalancedAllocation").uncheck()
    expect(dialog.locator(".error")).to_have_count(0)
    expect(dialog.get_by_label("YAML")).to_have_value(
        re.compile("disabled:.*NodeResourcesBalancedAllocation", re.DOTALL)
    )
    dialog.get_by_role("button", name="Apply").click()
    expect(screen.locator(".log")).to_contain_text(
        "The scheduler restarts with another configuration: profiles"
    )
    expect(screen.locator(".log")).to_contain_text("(epoch 3)")
    write.create(sandbox, [pod("second")])
    expect(screen.locator(".node .pod.running", has_text="second")).to_be_visible()
    decision = sandbox.last_decision()
    assert decision is not None
    plugins = {scores.plugin for scores in decision.scores}
    assert "NodeResourcesFit" in plugins
    assert "NodeResourcesBalancedAllocation" not in plugins


def test_a_pod_is_deleted_and_leaves_after_its_grace_period(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1"), pod("web", terminationGracePeriodSeconds=3600))
    block = screen.locator(".node .pod.running", has_text="web")
    block.click()
    screen.get_by_role("button", name="Delete pod").click()
    expect(screen.locator(".node .pod.terminating")).to_be_visible()
    pass_time(sandbox, 3600)
    expect(screen.locator(".node .pod")).to_have_count(0)
    expect(screen.locator("#detail")).to_contain_text("no longer exists")


def test_a_panel_is_loaded_again_after_the_last_of_several_frames(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1"), pod("web", nodeName="node-1"))
    screen.locator(".node .pod.running", has_text="web").click()
    expect(screen.locator("#detail h3")).to_contain_text("web")
    pause(sandbox)
    expect(screen.get_by_role("button", name="Resume")).to_be_visible()
    for _ in range(2):  # the second one within a second of the first
        with screen.expect_request("**/pods/default/web/"):
            screen.evaluate(FRAME_SHOWN)


def test_everything_can_be_done_from_the_keyboard(screen: Page, live: Open) -> None:
    live()
    screen.keyboard.press("n")
    expect(screen.get_by_role("button", name="Create")).to_be_focused()
    screen.keyboard.press("Enter")
    expect(screen.locator(".node")).to_have_count(1)
    expect(screen.locator("#dialog")).not_to_be_visible()
    screen.keyboard.press("p")
    expect(screen.get_by_role("button", name="Create")).to_be_focused()
    screen.keyboard.press("Enter")
    expect(screen.locator(".node .pod.running")).to_have_count(1)
    expect(screen.locator("#dialog")).not_to_be_visible()
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


def test_the_focus_stays_when_the_focused_element_is_swapped(screen: Page, live: Open) -> None:
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
    screen.locator("#t-speed").select_option("10.0")
    # The select shows the new value before the server has it.
    eventually(lambda: sandbox.clock().speed == 10.0, "the speed is set")
    expect(screen.locator("#t-speed")).to_have_value("10.0")
    assert screen.locator(".clock").text_content() == shown
    screen.get_by_role("button", name="Resume").click()
    expect(screen.locator(".clock")).not_to_have_text(shown or "")


def test_forms_work_without_scripts(browser: Browser, stack: str, store: Store, sandbox_name: str) -> None:
    write.create_sandbox(store, Meta(sandbox_name), [node("node-1")])
    context = browser.new_context(base_url=stack, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"/s/{sandbox_name}/")
    page.get_by_role("link", name="+ Pod").first.click()
    page.get_by_label("CPU request").fill("lots")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#f-cpu-said .error")).to_be_visible()
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


def test_what_is_typed_while_a_form_is_being_refused_stays(screen: Page, live: Open) -> None:
    """Also if the step that has it is answered before."""
    live(node("node-1"))
    screen.get_by_role("link", name="+ Pod").first.click()
    dialog = screen.locator("#dialog")
    cpu, wrong = dialog.get_by_label("CPU request"), dialog.locator("#f-name-said .error")
    dialog.get_by_label("Name", exact=True).fill("Not A Name")
    expect(wrong).to_be_visible()
    held = hold_first(screen, "/new/pod/$", "POST")
    dialog.get_by_role("button", name="Create").press("Enter")
    eventually_in(screen, lambda: held, "the form is sent")
    cpu.fill("3")
    cpu.evaluate("(field) => { field.known = true; }")
    expect(dialog.get_by_label("YAML")).to_have_value(re.compile("cpu: '3'"))
    held[0].continue_()
    eventually_in(screen, lambda: not cpu.evaluate("(field) => field.known"), "the form comes back")
    expect(cpu).to_have_value("3")
    expect(dialog.get_by_label("YAML")).to_have_value(re.compile("cpu: '3'"))
    expect(wrong).to_be_visible()
