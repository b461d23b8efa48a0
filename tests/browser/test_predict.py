"""Predict, then reveal, on the real stack: alone, and in a room with a presenter."""

from http import HTTPStatus

import pytest
from playwright.sync_api import Browser, Page, expect

from schedviz.api import write

from .conftest import Open, node, pod
from .test_accessibility import URGENT, Violations

pytestmark = pytest.mark.browser


def test_a_chosen_guess_is_kept_when_frames_arrive(screen: Page, live: Open) -> None:
    sandbox = live(URGENT, node("node-1", "4"))
    screen.keyboard.press("g")
    screen.locator("#predict").get_by_role("button", name="Pause and begin").click()
    expect(screen.locator("#predict")).to_contain_text("No pod waits in activeQ")
    write.create(sandbox, [pod("a-small", "1"), pod("z-urgent", "2", priorityClassName="urgent")])
    chips = screen.locator("#lane-activeQ .chip")
    expect(chips).to_have_count(2)
    expect(screen.locator("#predict legend")).to_have_text("Which pod is scheduled next?")
    expect(screen.locator("#predict input[name=pick]")).to_have_count(2)
    chips.first.click()
    with screen.expect_response(lambda answer: "/predict/" in answer.url and answer.status == HTTPStatus.OK):
        write.create(sandbox, [{**URGENT, "metadata": {"name": "other"}, "value": 5}])
    expect(screen.locator("#predict input:checked")).to_have_attribute("value", "default/a-small")
    expect(screen.locator("#lane-activeQ .chip.picked")).to_contain_text("small")


def test_guesses_are_taken_before_each_decision_and_a_presenter_reveals(
    screen: Page, live: Open, browser: Browser, stack: str
) -> None:
    tainted = node("node-3", "8")
    tainted["spec"] = {"taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}
    running = [
        pod("low-1", "3", nodeName="node-1"),
        pod("low-2", "4", nodeName="node-2", priorityClassName="middle"),
    ]
    middle = {**URGENT, "metadata": {"name": "middle"}, "value": 10}
    sandbox = live(URGENT, middle, node("node-1", "4"), node("node-2", "4"), tainted, *running)
    violations = Violations(screen)
    panel = screen.locator("#predict")
    guess, go = panel.locator("#predict-guess"), panel.locator("#predict-go")

    # The key opens the mode, and Begin stops time. No pod is pending, so nothing is asked.
    screen.keyboard.press("g")
    panel.get_by_role("button", name="Pause and begin").click()
    expect(panel).to_contain_text("No pod waits in activeQ")
    assert sandbox.clock().paused
    write.create(sandbox, [pod("a-small", "1"), pod("z-urgent", "2", priorityClassName="urgent")])

    # The question is which pod is next. activeQ does not show the order, and a click on a pod chooses it.
    expect(panel.locator("legend")).to_have_text("Which pod is scheduled next?")
    chips = screen.locator("#lane-activeQ .chip")
    expect(chips).to_have_count(2)
    expect(chips.first).to_contain_text("small")
    expect(screen.locator("#lane-activeQ h3 span")).to_be_hidden()
    chips.first.click()
    expect(screen.locator("#lane-activeQ .chip.picked")).to_contain_text("small")
    expect(screen.locator("#pod-panel")).to_have_count(0)
    panel.locator("#about-pick-word-1").click()
    expect(panel.locator("#about-pick-1")).to_contain_text("activeQ")
    violations.look("asks", "#detail")
    guess.click()
    expect(panel.locator(".outcome.wrong .solution")).to_contain_text("Not quite. z-urgent")
    expect(panel.locator(".mistake")).to_contain_text(
        "activeQ compares priority first; size does not count: a-small has 0"
    )
    # Guess and answer are on the board, with a sign and a word. The frame may arrive after the panel.
    expect(chips).to_have_count(1)
    expect(chips).to_have_attribute("data-grade", "✗ not this one")
    expect(screen.locator("#lane-inFlight .chip")).to_have_attribute("data-grade", "→ the answer")

    # The question is which nodes pass. The answer by keyboard: none.
    expect(panel.locator("legend")).to_have_text("Which nodes pass the filters for z-urgent?")
    # The panel has the facts: what the pod requests, and what each node has.
    expect(panel.locator(".ask > fieldset > .given")).to_contain_text("requests 2 cpu")
    expect(panel.locator(".ask > fieldset > .given")).to_contain_text("tolerates none")
    expect(panel.locator(".choice").first).to_contain_text("free: 1 cpu, 109 pods")
    panel.locator("#about-pick-word-3").click()
    expect(panel.locator("#about-pick-3")).to_contain_text("taints team=a:NoSchedule")
    under_way = sandbox.under_way()
    assert under_way
    assert under_way.decision
    assert under_way.decision.pre_filter is None
    guess.focus()
    screen.keyboard.press("Enter")
    expect(panel.locator(".outcome.right")).to_contain_text("z-urgent fits no node")
    expect(panel.locator("#predict-title")).to_contain_text("1 / 2 right")
    violations.look("tells", "#detail")

    # A presenter hides the answers. Two visitors guess the victims. Nothing is decided before the answers are
    # revealed.
    panel.locator("#predict-audience-word").click()
    panel.get_by_role("button", name="Hide the answers").click()
    expect(go).to_have_text("Reveal")
    other = browser.new_context(base_url=stack, locale="en").new_page()
    other.goto(f"/s/{sandbox.name}/predict/")
    expect(other.locator("#connection")).to_have_text("live")
    theirs = other.locator("#predict")
    expect(theirs.locator("legend")).to_contain_text("Which pods are evicted for it")
    expect(theirs.locator("#predict-go")).to_have_count(0)
    other.locator(".node .pod", has_text="low-2").click()
    theirs.locator("#predict-guess").click()
    expect(theirs).to_contain_text("Your guess is submitted: low-2. The presenter reveals the answer.")
    expect(panel).to_contain_text("1 guess so far")
    other.locator("#t-next").click()
    expect(other.locator("#trouble")).to_contain_text("A presenter hides the answers")
    other.locator("#connection").click()
    expect(other.locator("#trouble")).to_be_empty()
    screen.locator(".node .pod", has_text="low-1").click()
    guess.click()
    expect(panel).to_contain_text("2 guesses so far")
    expect(screen.locator(".node .pod.victim")).to_have_count(0)
    go.click()
    expect(panel.locator(".outcome.right .solution")).to_contain_text("low-1")
    expect(theirs.locator(".outcome.wrong .solution")).to_contain_text("Not quite. low-1")
    expect(theirs.locator(".mistake")).to_contain_text("The rules do not choose node-2.")
    expect(other.locator(".node .pod", has_text="low-1")).to_have_attribute("data-grade", "→ the answer")
    expect(other.locator(".node .pod", has_text="low-2")).to_have_attribute("data-grade", "✗ not this one")
    expect(screen.locator(".node .pod", has_text="low-1")).to_have_attribute("data-grade", "✓ right")
    expect(theirs.locator(".histogram tr")).to_have_count(2)
    expect(theirs.locator("#predict-title")).to_contain_text("0 / 1 right")
    violations.look("tally", "#detail")
    other.context.close()

    # The presenter stops presenting, the score is reset, and the mode is closed: a click opens the pod's
    # panel again.
    panel.locator("#predict-release").click()
    expect(go).not_to_have_text("Reveal")
    panel.locator("#predict-reset").click()
    expect(panel.locator("#predict-title")).to_contain_text("0 / 0 right")
    screen.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    screen.locator(".node .pod").first.click()
    expect(screen.locator("#pod-panel")).to_be_visible()
    assert violations.found == []
