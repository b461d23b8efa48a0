"""The command bar by keyboard, kubectl commands to copy, and the links to permalinks."""

import re

import pytest
from playwright.sync_api import Page, expect

from schedviz.loop.clock import pause

from .conftest import Open, node, pod
from .test_accessibility import URGENT, Violations

pytestmark = pytest.mark.browser


TEXTS = """
(element) => {
  window.texts = [];
  new MutationObserver(() => window.texts.push(element.textContent)).observe(element, { childList: true });
}
"""


# Escape is pressed after the new form was put into the dialog, before htmx has settled it.
CLOSE_AFTER_SWAP = """
() => {
  const body = document.getElementById("dialog-body");
  body.addEventListener("htmx:afterSwap", () => {
    if (!body.querySelector("h2")?.textContent.includes("node-1")) return;
    document.getElementById("dialog").close();
    const mark = () => setTimeout(() => (body.dataset.settled = "true"));
    body.addEventListener("htmx:afterSettle", mark, { once: true });
  });
}
"""


def test_the_command_bar_does_everything_that_the_page_does(screen: Page, live: Open) -> None:
    violations = Violations(screen)
    sandbox = live(URGENT, node("node-1"), node("node-2"))
    field, options, said = (screen.locator(f"#command-{part}") for part in ("text", "options", "said"))

    def run(line: str) -> None:
        field.fill(line)
        screen.keyboard.press("Enter")

    screen.keyboard.press("/")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-expanded", "true")

    # The arrow keys complete the line word by word.
    field.press_sequentially("create pod web --pri")
    expect(options.get_by_role("option")).to_have_count(1)
    screen.keyboard.press("ArrowDown")
    screen.keyboard.press("Enter")
    expect(field).to_have_value("create pod web --priority ")
    expect(options).to_contain_text("urgent")
    screen.keyboard.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", "command-option-1")
    violations.look("completions", "dialog[open]")
    screen.keyboard.press("Tab")
    expect(field).to_have_value("create pod web --priority urgent ")
    expect(field).to_be_focused()
    screen.keyboard.press("Enter")
    expect(said).to_contain_text("pod/web created")
    expect(field).to_have_value("")
    expect(screen.locator(".node .pod.running", has_text="web")).to_be_visible()

    run("cordon node-1")
    expect(said.locator(".shell")).to_have_text("kubectl cordon node-1")
    expect(screen.locator(".node.cordoned")).to_contain_text("node-1")
    expect(screen.locator("#acted-line")).to_have_text("kubectl cordon node-1")
    run("speed 1000")
    expect(said.locator(".error")).to_contain_text("from 0.1 to 100")
    expect(field).to_have_value("speed 1000")
    run("get nodes")
    expect(said.locator("pre").first).to_contain_text("Ready,SchedulingDisabled")
    violations.look("a table", "dialog[open]")

    # The history has the lines that were run.
    for line in ("get nodes", "speed 1000", "cordon node-1"):
        screen.keyboard.press("ArrowUp")
        expect(field).to_have_value(line)
    run("until nothing-pending")
    expect(said).to_contain_text("nothing-pending")
    run("describe pod web")
    expect(screen.locator("#dialog")).not_to_be_visible()
    expect(screen.locator("#detail h3")).to_contain_text("web")
    screen.keyboard.press("/")
    run("edit node node-1")
    expect(screen.locator("#dialog h2")).to_contain_text("node-1")
    screen.keyboard.press("Escape")
    screen.keyboard.press("/")
    run("theme dark")
    expect(screen.locator("html")).to_have_css("color-scheme", "dark")
    expect(screen.locator("#connection")).to_have_text("live")
    assert violations.found == []
    assert sandbox.get("pods", "default/web")


def test_a_dialog_that_is_closed_while_htmx_settles_its_next_form_stays_closed(
    screen: Page, live: Open
) -> None:
    live(node("node-1"))
    screen.keyboard.press("/")
    field = screen.locator("#command-text")
    expect(field).to_be_focused()
    screen.evaluate(CLOSE_AFTER_SWAP)
    field.fill("edit node node-1")
    screen.keyboard.press("Enter")
    expect(screen.locator("#dialog-body")).to_have_attribute("data-settled", "true")
    expect(screen.locator("#dialog")).not_to_be_visible()
    screen.keyboard.press("/")
    expect(field).to_be_focused()
    # One that is closed before the completions of what was typed are asked for: the time for that has passed
    # when a later one has.
    screen.evaluate(
        """async () => {
          const field = document.getElementById("command-text");
          field.dispatchEvent(new InputEvent("input", { bubbles: true }));
          document.getElementById("dialog").close();
          await new Promise((done) => setTimeout(done, 100));
        }"""
    )


def test_forms_and_pods_are_shown_as_kubectl_commands_and_the_log_links_to_permalinks(
    screen: Page, live: Open
) -> None:
    screen.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sandbox = live(URGENT, node("node-1", "2"), pod("batch", "2", nodeName="node-1"))
    expect(screen.locator(".node .pod.running")).to_have_count(1)

    expect(screen.locator("#acted")).to_be_hidden()

    # A form, ready to copy for kubectl; and the line above the log when it is done.
    screen.keyboard.press("p")
    screen.get_by_label("Name", exact=True).fill("web")
    screen.get_by_label("PriorityClass").select_option("urgent")
    screen.get_by_label("CPU request").fill("1")
    expect(screen.locator("#id_yaml")).to_have_value(re.compile("cpu: '?1'?\n"))
    screen.get_by_role("button", name="Create").click()
    acted = screen.locator("#acted")
    expect(acted).to_contain_text("kubectl apply -f -")
    button = acted.get_by_role("button", name="Copy")
    button.evaluate(TEXTS)
    button.click()
    expect(screen.locator("#announce")).to_have_text("copied")
    assert screen.evaluate("window.texts[0]") == "copied", "the button says so for some seconds"
    copied = screen.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("kubectl apply -f - <<'EOF'\napiVersion: v1\nkind: Pod\nmetadata:\n")
    assert copied.endswith("\nEOF")

    # The log links to the permalink. The page of the deleted victim says which pod preempted it.
    eviction = screen.locator("#log li", has_text="batch evicted from node-1 for web")
    expect(screen.locator(".node .pod.running", has_text="web")).to_be_visible()
    eviction.locator(".cycle-link").click()
    expect(screen.locator("#detail .headline")).to_contain_text(
        "web fits no node. Its victims are on node-1."
    )
    pause(sandbox)
    screen.goto(f"/s/{sandbox.name}/pods/default/batch/")
    gone = screen.locator("#detail")
    expect(gone).to_contain_text("Pod batch no longer exists.")
    expect(gone.locator(".headline")).to_contain_text("evicted from node-1 for web")
    violations = Violations(screen)
    violations.look("a gone pod", "#detail")
    gone.get_by_role("link", name="Why this pod, step by step").click()
    expect(screen.locator("#play .scene:visible")).to_contain_text("is removed")

    # What kubectl would print.
    screen.goto(f"/s/{sandbox.name}/pods/default/web/")
    panel = screen.locator("#pod-kubectl")
    panel.locator("summary", has_text="kubectl describe pod web").click()
    printed = panel.locator("#pod-output-1")
    expect(printed).to_contain_text(re.compile(r"^Name: +web$", re.MULTILINE))
    expect(printed).to_contain_text("0/1 nodes are available: 1 Insufficient cpu.")
    violations.look("kubectl", "#pod-kubectl")
    panel.get_by_role("button", name="Copy").last.click()
    assert screen.evaluate("navigator.clipboard.readText()") == "kubectl delete pod web"
    assert violations.found == []
