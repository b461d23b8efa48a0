"""A pod is created, and the page shows the scheduler's work without a reload."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from schedviz.api import write
from schedviz.loop.clock import pause, resume, step
from schedviz.store import Store
from simulator.trace import Nominated
from tests.clocks import at_rest

from .conftest import Open, node, pod

pytestmark = pytest.mark.browser

CYCLES_AT_MOST = 100
"""Until the first preemption of a scenario that is about preemption."""


@pytest.fixture(autouse=True)
def never_reloads(screen: Page) -> Iterator[None]:
    """A mark on the page that a reload would take away."""
    yield
    if screen.evaluate("window.marked !== undefined"):
        assert screen.evaluate("window.marked")


def test_a_pod_created_by_a_form_preempts_a_pod_of_lower_priority(screen: Page, live: Open) -> None:
    sandbox = live(
        node("node-1", "2"),
        node("node-2", "2"),
        pod("batch-1", "2", nodeName="node-1"),
        pod("batch-2", "2", nodeName="node-2"),
    )
    screen.evaluate("window.marked = true")
    expect(screen.locator(".node .pod.running")).to_have_count(2)
    pause(sandbox)

    screen.get_by_text("More", exact=True).first.click()
    screen.get_by_role("link", name="+ PriorityClass").click()
    screen.get_by_label("Name", exact=True).fill("urgent")
    screen.get_by_label("Value", exact=True).fill("1000")
    screen.get_by_role("button", name="Create").click()
    expect(screen.locator("#dialog")).not_to_be_visible()
    expect(screen.locator("#legend")).to_contain_text("urgent")

    screen.get_by_role("link", name="+ Pod").first.click()
    screen.get_by_label("Name", exact=True).fill("checkout")
    screen.get_by_label("CPU request").fill("1500m")
    screen.get_by_label("PriorityClass").select_option("urgent")
    screen.get_by_role("button", name="Create").click()

    # The queue, the verdicts, the choice.
    expect(screen.locator(".queue .chip", has_text="checkout")).to_be_visible()
    step(sandbox, "cycle")
    cycle = screen.locator("#cycle")
    expect(cycle.locator(".headline")).to_have_text(
        re.compile(r"checkout fits no node\. Its victims are on node-[12]\.")
    )
    expect(cycle.locator(".matrix tbody tr")).to_have_count(2)
    expect(cycle.locator(".matrix tbody tr").first).to_contain_text("Insufficient cpu")
    expect(cycle.locator(".ladder tbody tr")).to_have_count(2)
    expect(cycle.locator(".rule.decided")).to_be_visible()

    # The victim ends, and its resources stay reserved.
    victim = screen.locator(".node .pod.victim")
    expect(victim).to_have_count(1)
    expect(victim.locator(".left")).to_have_text(re.compile(r"^\d\.\d s$"))
    expect(screen.locator(".node .pod.nominated", has_text="checkout")).to_be_visible()
    expect(screen.locator("#log")).to_contain_text("evicted from")
    resume(sandbox)

    # The preemptor is bound and runs.
    expect(screen.locator(".node .pod.running", has_text="checkout")).to_be_visible()
    expect(screen.locator(".node .pod.victim")).to_have_count(0)
    expect(screen.locator(".queue .chip")).to_have_count(0)
    expect(screen.locator("#log")).to_contain_text("checkout bound to node-")
    expect(screen.locator(".mark.preempting")).to_have_count(1)
    expect(screen.locator(".mark.bound")).to_have_count(1)

    # The preemption has a permalink.
    screen.locator("#cycle .earlier a").click()
    expect(screen.locator("#detail .ladder .win")).to_contain_text("batch-")
    expect(screen.locator("#cycle")).not_to_be_visible()

    # The preemption is played step by step, by keys, by buttons and automatically, on the card of the node at
    # that moment.
    play, card = screen.locator("#play"), screen.locator(".node.stage")
    expect(play.locator(".scene:visible")).to_contain_text("is removed. checkout fits now.")
    expect(card.locator(".pod[data-place=removed]", has_text="batch")).to_be_visible()
    expect(card.locator(".play-badge")).to_have_text("it fits")
    expect(play.locator(".actors:visible")).to_have_count(0)
    play.get_by_role("button", name="Next").click()
    expect(card.locator(".pod[data-place=victim][data-now]", has_text="batch")).to_be_visible()
    expect(card.locator(".play-badge")).to_have_text("it does not fit")
    screen.keyboard.press("ArrowRight")
    expect(play.locator(".scene:visible")).to_contain_text("1 other candidate: ")
    play.get_by_role("button", name="Last step").click()
    expect(play.locator(".scene:visible")).to_contain_text("waits until the victim has terminated: batch-")
    expect(play.locator("[data-step]")).to_have_text("4 / 4")
    play.get_by_role("button", name="Play", exact=True).click()
    expect(play.locator("[data-step]")).to_have_text("1 / 4")
    screen.keyboard.press("End")
    expect(play.locator("[data-go=run]")).to_have_attribute("aria-pressed", "false")
    screen.keyboard.press("Home")
    expect(play.locator("[data-step]")).to_have_text("1 / 4")
    # The panel says what happened later.
    expect(screen.locator("#detail .later")).to_contain_text(
        re.compile(r"checkout was bound to node-[12] in cycle")
    )
    # Unpinned, the board is live and has no marks.
    screen.keyboard.press("Escape")
    expect(screen.locator(".stage, .playing, .pod[data-place]")).to_have_count(0)
    expect(screen.locator(".node .pod.running", has_text="checkout")).to_be_visible()
    expect(screen.locator("#cycle")).to_be_visible()


def test_a_scenario_shows_a_preemption_without_any_act(screen: Page, store: Store) -> None:
    screen.goto("/")
    screen.get_by_role("button", name="Start Online services and batch jobs", exact=True).click()
    expect(screen.locator(".node")).to_have_count(6)
    sandbox = store.sandbox(screen.url.rstrip("/").rpartition("/")[2])
    for _ in range(CYCLES_AT_MOST):
        step(sandbox, "cycle")
        at_rest(sandbox)
        if any(isinstance(event, Nominated) for _, event in sandbox.trace_tail(100)):
            break
    expect(screen.locator(".node .pod.victim").first).to_be_visible()
    expect(screen.locator(".mark.preempting").first).to_be_visible()
    store.delete(sandbox.name)
    expect(screen.locator("#connection")).to_have_text("deleted")


def test_scores_are_shown_raw_normalised_and_weighted(screen: Page, live: Open) -> None:
    live(node("small", "2"), node("large", "8"), pod("web"))
    scores = screen.locator("#cycle .scores")
    winner = scores.locator("tbody tr").first
    expect(winner).to_have_class("win")
    expect(winner.locator("th")).to_have_text("large")
    place = scores.locator("thead th").all_inner_texts().index("NodeResourcesFit") - 1
    fit = winner.locator("td").nth(place)
    expect(fit).to_have_text(re.compile(r"^\s*\d+\s*\d+→\d+\s*$"))
    expect(winner.locator("td.total")).to_have_text(re.compile(r"^\s*\d+\s*$"))

    # The arithmetic of a cell has an address. Rows are sorted by a column.
    fit.locator("a").click()
    shown = screen.locator("#arithmetic")
    expect(shown).to_contain_text(
        "(allocatable 8000m \u2212 requested 1000m) \u00d7 100 / allocatable 8000m = 87"
    )
    expect(shown).to_contain_text("times the weight")
    held = screen.locator("#detail .scores")
    held.get_by_role("button", name="node", exact=True).click()
    expect(held.locator("thead th").first).to_have_attribute("aria-sort", "ascending")
    names = held.locator("tbody th").all_inner_texts()
    assert names == sorted(names)
    held.get_by_role("button", name="node", exact=True).press("Enter")
    assert held.locator("tbody th").all_inner_texts() == names[::-1]


def test_the_panel_of_an_unschedulable_pod_says_why_and_what_it_waits_for(screen: Page, live: Open) -> None:
    live(node("node-1", "2"), pod("big", "3"))
    chip = screen.locator("#lane-unschedulable .chip")
    expect(chip).to_contain_text("1 has too little cpu")
    line = screen.locator("#log li", has_text="big is unschedulable: 1 has too little cpu.")
    expect(line.locator("q")).not_to_be_visible()
    line.get_by_text("original message").click()
    expect(line.locator("q")).to_contain_text("0/1 nodes are available: 1 Insufficient cpu.")
    expect(chip).to_contain_text("waits for NodeResourcesFit")
    expect(screen.locator(".node .verdict")).to_have_text("Insufficient cpu")
    screen.locator("#informer-strip summary").click()
    expect(screen.locator("#informer > li")).to_have_count(4)
    expect(screen.locator("#informer > li").last).to_contain_text("big")
    chip.get_by_role("link").click()
    expect(screen.locator("#detail")).to_contain_text("Conditions")
    expect(screen.locator("#detail")).to_contain_text(
        "At the last attempt node-1 lacked least (cpu: needs 3, free 2 of 2)."
    )
    # The queue is searched for such pods every 30 s, and moves those that have waited for 5 min.
    expect(screen.locator("#detail [data-exact]")).to_have_text(re.compile(r"^[3-5] min( \d+ s)?$"))
    expect(screen.locator("#detail .attempts tr").last).to_contain_text("1 has too little cpu")
    expect(screen.locator("#detail .moves tr").last).to_contain_text("activeQ")
    expect(screen.locator("#detail .moves")).to_have_css("display", "table")
    screen.locator("#panel-yaml summary").click()
    expect(screen.locator("#detail pre.yaml")).to_contain_text("kind: Pod")


def test_every_created_pod_appears_on_the_page(screen: Page, live: Open) -> None:
    sandbox = live(node("node-1", "100"))
    names = {f"pod-{number}" for number in range(15)}
    for name in sorted(names):
        write.create(sandbox, [pod(name, "100m")])
    expect(screen.locator(".node .pod.running")).to_have_count(15)
    assert {*screen.locator(".node .pod .name").all_text_contents()} == names
