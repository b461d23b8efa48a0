"""The questions Why? and What if? on the real stack: asked in a pod's panel, answered by a job runner."""

import re

import pytest
from playwright.sync_api import Page, expect

from schedviz.api import removal, write
from schedviz.store import Store
from tests.processes import Process
from tests.waiting import eventually

from .conftest import Open, node, pod
from .test_accessibility import URGENT, Violations

pytestmark = pytest.mark.browser


def test_a_pending_pod_shows_suggestions_and_one_of_them_is_applied(
    screen: Page, live: Open, store: Store, job_runner: Process
) -> None:
    tainted = node("node-2", "8")
    tainted["spec"] = {"taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}
    sandbox = live(node("node-1", "4"), tainted, pod("small", "1"), pod("big", "6"), pod("huge", "99"))
    violations = Violations(screen)
    # All have been tried: no frame takes the place of what is clicked.
    expect(screen.locator("#lane-unschedulable .chip")).to_have_count(2)
    screen.locator("#lane-unschedulable .chip a", has_text="big").click()
    expect(screen.locator("#detail [data-panel-title]")).to_contain_text("big")
    section = screen.locator("#pod-panel .suppose")
    expect(section.get_by_role("button")).to_have_text("Find the smallest changes")
    screen.keyboard.press("w")
    first = section.locator(".offers li").first
    expect(first).to_contain_text("Add a toleration for team=a:NoSchedule to the pod")
    expect(first).to_contain_text("Then it is bound to node-2, the only node that fits.")
    expect(section).to_contain_text("Remove the taint team=a:NoSchedule from node-2.")
    expect(section).to_contain_text("Request less cpu: 3 instead of 6.")
    violations.look("what if", "#detail")

    # Applied in a branch, the suggestion does not change this sandbox.
    first.get_by_role("button", name="Try in a branch").click()
    screen.wait_for_url(re.compile(rf"/s/{sandbox.name}-b1/pods/default/big/"))
    expect(screen.locator("#pod-panel .headline.scheduled")).to_contain_text("node-2")
    there = store.sandbox(f"{sandbox.name}-b1").get("pods", "default/big")
    assert there
    assert there["spec"]["nodeName"] == "node-2"
    here = sandbox.get("pods", "default/big")
    assert here
    assert "nodeName" not in here["spec"]

    # Applied, the suggestion has the predicted result. The answer is still shown.
    screen.goto(f"/s/{sandbox.name}/pods/default/big/")
    store.delete(f"{sandbox.name}-b1")
    screen.locator(".suppose .offers li", has_text="Request less cpu").get_by_role(
        "button", name="Apply"
    ).click()
    expect(screen.locator("#pod-panel .headline.scheduled")).to_contain_text("node-1")
    follow_up = screen.locator("#pod-panel .follow-up")
    expect(follow_up).to_contain_text(re.compile(r"Applied at [\d:.]+:\s+Request less cpu: 3 instead of 6\."))
    expect(follow_up).to_contain_text(re.compile(r"big was bound to node-1 at [\d:.]+\."))
    made = sandbox.get("pods", "default/big")
    assert made
    assert made["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "3"

    # The panel of the bound pod says why this node was chosen and no other.
    screen.locator("#pod-panel").get_by_role("link", name="Why this node?").click()
    expect(screen.locator("#why")).to_contain_text("node-2 was filtered out by TaintToleration.")
    violations.look("why refused", "#detail")

    # While no job runner takes it, the question waits in its queue, and can be stopped.
    screen.goto(f"/s/{sandbox.name}/pods/default/huge/")
    with job_runner.halted():
        screen.locator("#suppose-ask").click()
        section = screen.locator("#pod-panel .suppose")
        expect(section.get_by_role("progressbar")).to_be_visible()
        expect(section).to_contain_text("waiting to start")
        violations.look("in line", "#detail")
        with screen.expect_response(lambda answer: answer.request.method == "POST"):
            section.get_by_role("button", name="Stop").click()
    expect(section).to_contain_text("Stopped before the end.")
    screen.locator("#suppose-ask").click()
    expect(screen.locator(".suppose")).to_contain_text("changes tried")
    assert violations.found == []


def test_the_page_says_that_a_change_helped_another_pod(
    screen: Page, live: Open, job_runner: Process
) -> None:
    sandbox = live(node("node-1", "4"), pod("old", "3"))
    eventually(lambda: (sandbox.get("pods", "default/old") or {"spec": {}})["spec"].get("nodeName"), "bound")
    write.create(sandbox, [pod("first", "3"), pod("big", "4")])
    screen.locator("#lane-unschedulable .chip a", has_text="big").click()
    screen.locator("#suppose-ask").click()
    offers = screen.locator("#pod-panel .offers li")
    deletion = offers.filter(has_text="Delete the pod old")
    expect(deletion).to_contain_text(
        "1 other pod would fit there, too. It is before this one in the order of activeQ: first."
    )
    expect(offers.filter(has_text="Request less cpu")).not_to_contain_text("would fit there, too")

    deletion.get_by_role("button", name="Apply").click()
    follow_up = screen.locator("#pod-panel .follow-up.failed")
    expect(follow_up).to_contain_text(
        re.compile(r"Applied at [\d:.]+:\s+Delete the pod old \(priority 0\)\.")
    )
    expect(follow_up).to_contain_text("It did not help: 1 has too little cpu")
    expect(follow_up).to_contain_text("Bound to node-1 since then: first.")


def test_a_bound_pod_has_its_scores_side_by_side_and_an_evicted_one_what_would_have_saved_it(
    screen: Page, live: Open, job_runner: Process
) -> None:
    sandbox = live(URGENT, node("node-1", "4"), node("node-2", "8"), node("node-3", "1"), pod("web", "1"))
    violations = Violations(screen)
    running = screen.locator(".node .pod.running")
    expect(running).to_have_text(re.compile("web"))
    write.create(sandbox, [pod("later", "1"), pod("huge", "99")])
    expect(running).to_have_count(2)
    expect(screen.locator("#lane-unschedulable .chip")).to_have_count(1)
    running.filter(has_text="web").click()

    # The whole page shows the moment of the decision and nothing later.
    screen.locator("#pod-panel").get_by_role("link", name="Why this node?").click()
    why = screen.locator("#why")
    expect(why).to_contain_text(re.compile(r"node-2 is ahead by \d+"))
    expect(why.locator("tr.decides, .rule")).not_to_have_count(0)
    expect(why).to_be_in_viewport()
    expect(screen.locator("#past")).to_be_visible()
    moment = screen.url
    assert re.search(r"/at/\d+/cycles/\d+/", moment)
    expect(screen.locator(".node .pod", has_text="later")).to_have_count(0)
    expect(screen.locator(".queue .chip", has_text="huge")).to_have_count(0)
    expect(screen.locator(".verdict.chosen")).to_have_count(1)
    expect(screen.locator('.node[data-node="node-2"] .verdict')).to_have_class(re.compile("chosen"))
    violations.look("why", "#detail")
    why.get_by_label("instead of").select_option("node-3")
    expect(why.locator("thead")).to_contain_text("node-3")
    expect(screen.locator("#past")).to_be_visible()
    expect(screen).to_have_url(f"{moment}&other=node-3")
    screen.keyboard.press("Escape")
    expect(running).to_have_count(2)

    removal.delete(sandbox, "pods", "default/later", grace_seconds=0)
    removal.delete(sandbox, "pods", "default/huge")
    removal.delete(sandbox, "nodes", "node-3")
    removal.delete(sandbox, "nodes", "node-2")
    removal.delete(sandbox, "pods", "default/web", grace_seconds=0)
    write.create(sandbox, [pod("victim", "3")])
    eventually(
        lambda: (sandbox.get("pods", "default/victim") or {"spec": {}})["spec"].get("nodeName"), "bound"
    )
    write.create(sandbox, [pod("checkout", "3", priorityClassName="urgent")])
    eventually(lambda: not sandbox.get("pods", "default/victim"), "the victim is gone")
    screen.goto(f"/s/{sandbox.name}/pods/default/victim/")
    part = screen.locator("#detail .why")
    expect(part).to_contain_text("checkout preempted pods on node-1.")
    expect(part).to_contain_text("Its priority, 0, is lower than that of checkout, 1")
    part.get_by_role("button", name="Find out").click()
    expect(part).to_contain_text("This pod has priority 1000 instead of 0.")
    expect(part).to_contain_text("The preemptor requests less: cpu 1 instead of 3.")
    violations.look("evicted", "#detail")
    assert violations.found == []
