"""What the presenters make of manifests, lanes and decisions."""

import pytest
from django.utils.translation import gettext, override
from hypothesis import given
from hypothesis import strategies as st

from schedviz.store import Clock
from schedviz.web.clock import transport
from schedviz.web.cycle import cycle, preemption
from schedviz.web.log import sentences
from schedviz.web.nodes import board as nodes_panel
from schedviz.web.nodes import cards as nodes
from schedviz.web.page.screen import DEFAULT, Screen
from schedviz.web.past.timeline import Timeline
from schedviz.web.picture.picture import BUDGETS, NODES, PODS, PRIORITY_CLASSES, Picture
from schedviz.web.picture.priority import Ranks
from schedviz.web.queue import lanes as queue
from schedviz.web.reasons import messages as reasons
from schedviz.web.reasons.plugin_reasons import REASONS, card_text
from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import ShortNodeNames, using
from simulator import trace
from simulator.api import WatchEvent

from .samples import NOTHING_FITS, SCHEDULED, START, candidate, lane, node, pod, preempting

CLOCK = Clock(sim=START, wall=0.0)


@pytest.mark.parametrize(
    ("resource", "value", "text"),
    [
        ("cpu", 2000, "2"),
        ("cpu", 250, "0.25"),
        ("memory", 2**30, "1Gi"),
        ("memory", 1536 * 2**20, "1.5Gi"),
        ("memory", 1000, "1000"),
        ("nvidia.com/gpu", 3, "3"),
    ],
)
def test_amounts_are_short(resource: str, value: int, text: str) -> None:
    assert fmt.amount(resource, value) == text


@given(st.sets(st.integers(1, 10**9), min_size=1, max_size=12))
def test_ranks_follow_the_order_of_priorities(priorities: set[int]) -> None:
    ranks = Ranks(priorities)
    ordered = [ranks.rank(each) for each in sorted(priorities)]
    assert ordered == sorted(ordered)
    assert ordered[-1] == 5
    assert (ranks.rank(0), ranks.rank(-5), ranks.rank(2_000_001_000)) == (0, 0, 6)
    if len(priorities) <= 5:
        assert len(set(ordered)) == len(priorities)


def test_an_event_older_than_the_picture_changes_nothing() -> None:
    picture = Picture()
    picture.object(PODS, pod("a", 5, node="n1"))
    picture.watch_event(WatchEvent("MODIFIED", PODS, "default/a", pod("a", 4), 4))
    assert picture.pods["default/a"].node == "n1"
    picture.watch_event(WatchEvent("DELETED", PODS, "default/a", pod("a", 6, node="n1"), 6))
    assert not picture.pods
    assert not picture.by_node
    assert not picture.priorities


def test_an_object_that_does_not_fit_its_kind_is_left_out_of_the_picture() -> None:
    picture = Picture()
    picture.object(PODS, pod("a", 1))
    bad = {**pod("a", 2), "spec": {"containers": "none"}}
    picture.watch_event(WatchEvent("MODIFIED", PODS, "default/a", bad, 2))
    assert picture.pods == {}
    picture.object(NODES, {**node("n1"), "status": {"allocatable": {"cpu": "much"}}})
    assert picture.nodes == {}
    picture.watch_event(WatchEvent("MODIFIED", PODS, "default/a", pod("a", 3), 3))
    assert [*picture.pods] == ["default/a"]


def test_a_priority_class_and_a_node_may_have_the_same_name() -> None:
    picture = Picture()
    picture.object(NODES, node("same", 9))
    created = {"metadata": {"name": "same", "resourceVersion": "3"}, "value": 7}
    picture.watch_event(WatchEvent("ADDED", PRIORITY_CLASSES, "same", created, 3))
    assert picture.classes == {"same": 7}


def test_blocks_are_as_wide_as_the_dominant_request_and_say_their_state() -> None:
    picture = Picture()
    picture.object(NODES, node("n1"))
    picture.object(PODS, pod("big", node="n1", cpu="2", priority=10))
    picture.object(PODS, pod("new", node="n1", cpu="500m", phase="Pending"))
    picture.object(PODS, pod("going", node="n1", deleted="2027-01-15T08:00:05Z"))
    picture.object(PODS, pod("victim", node="n1", deleted="2027-01-15T08:00:05Z"))
    picture.object(PODS, pod("waiting", nominated="n1"))
    picture.object(PODS, pod("over", node="n1", phase="Succeeded"))
    picture.trace_event(1, trace.VictimDeleted(START, 1, "default/victim", "n1", "default/waiting", 5))
    card = nodes.card(picture, Ranks([10]), "n1")
    assert {block.label: (block.share, block.state) for block in card.blocks} == {
        "big": (500, "running"),
        "new": (125, "starting"),
        "going": (250, "terminating"),
        "victim": (250, "victim"),
    }
    assert card.blocks[0].label == "big"
    assert [block.label for block in card.nominated] == ["waiting"]
    victim = next(block for block in card.blocks if block.state == "victim")
    assert victim.gone_at == START + 5_000_000
    assert "victim of waiting" in victim.title
    assert [(m.resource, m.requested, m.allocatable) for m in card.meters][:1] == [("cpu", "4.5", "4")]


def test_lanes_are_in_pop_order_and_say_what_pods_wait_for() -> None:
    picture = Picture()
    entries = [
        lane("old", "activeQ", 5, queued=START),
        lane("young", "activeQ", 5, queued=START + 1),
        lane("high", "activeQ", 9, queued=START + 9),
        lane("late", "backoffQ", 9, backoff_until=START + 8),
        lane("soon", "backoffQ", 1, backoff_until=START + 2),
        lane("stuck", "unschedulable", message="0/1 nodes", plugins=["NodeResourcesFit"]),
    ]
    picture.queue_places = {entry.pod: entry for entry in entries}
    for name in ("old", "unseen"):
        picture.object(PODS, pod(name))
    found = {view.name: view for view in queue.lanes(picture, Ranks([5, 9]))}
    assert [chip.label for chip in found["activeQ"].chips] == ["high", "old", "young"]
    assert [chip.label for chip in found["backoffQ"].chips] == ["soon", "late"]
    assert [chip.label for chip in found["arriving"].chips] == ["unseen"]
    stuck = found["unschedulable"].chips[0]
    assert (stuck.note, stuck.others, stuck.waits) == ("", "0/1 nodes", ["NodeResourcesFit"])


def test_a_long_lane_is_cut_and_counted() -> None:
    picture = Picture()
    picture.queue_places = {f"default/p{i}": lane(f"p{i}", "activeQ") for i in range(100)}
    active = next(view for view in queue.lanes(picture, Ranks([])) if view.name == "activeQ")
    assert (len(active.chips), active.count, active.more) == (30, 100, 70)


def test_filters_stop_at_the_first_that_rejects() -> None:
    view = cycle.present_cycle(NOTHING_FITS, Ranks([1000]))
    assert view.matrix
    assert [(row.node, row.marks, row.reason) for row in view.matrix.rows] == [
        ("n1", ["pass", "pass", "fail"], "Insufficient cpu"),
        ("n2", ["pass", "fail", "unseen"], "node(s) had untolerated taint {a: b}"),
        ("n3", ["unseen", "unseen", "unseen"], "not looked at"),
    ]
    assert {step.name: step.state for step in view.steps}["Filter"] == "failed"
    assert view.scores is None


def test_the_winner_is_the_first_row_of_the_scores() -> None:
    view = cycle.present_cycle(SCHEDULED, Ranks([1000]))
    assert view.scores is not None
    assert [(row.node, row.total) for row in view.scores.rows] == [("n3", 361), ("n1", 40)]
    assert view.scores.plugins[1] == ("TaintToleration", 3)
    taint = view.scores.rows[0].cells[1]
    assert (taint.plugin, taint.weight, taint.normalized, taint.weighted) == ("TaintToleration", 3, 100, 300)
    assert view.scores.sentence == "n3 wins with 361, 321 ahead of n1."


@pytest.mark.parametrize(
    ("rule", "chosen", "candidates", "sentence"),
    [
        (0, "a", [candidate("a", 1)], "a is the only candidate."),
        (1, "a", [candidate("a", 5), candidate("b", 1, pdb=1)], "has the fewest PodDisruptionBudget"),
        (2, "b", [candidate("a", 5), candidate("b", 1)], "Rule 2 decided: b's highest victim priority, 1,"),
        (3, "a", [candidate("a", 5, 1), candidate("b", 5, 4)], "smallest sum"),
        (4, "b", [candidate("b", 5), candidate("a", 5, -(2**31))], "fewest victims, 1."),
        (
            5,
            "b",
            [candidate("a", 5), candidate("b", 5, start="2027-01-15T09:00:00Z")],
            "started latest, at 09:00:00",
        ),
        (
            5,
            "b",
            [candidate("a", 5), candidate("b", 5, start="")],
            "Rule 5 decided: the most important victims on b have no start time.",
        ),
        (6, "b", [candidate("a", 5), candidate("b", 5)], "b is selected at random"),
    ],
)
def test_the_deciding_rule_of_preemption_is_shown(
    rule: int, chosen: str, candidates: list[preemption.Candidate], sentence: str
) -> None:
    view = preemption.present_preemption(preempting(rule, chosen, *candidates))
    assert view is not None
    assert sentence in view.sentence
    assert view.candidates[0].node == chosen
    lost = [figure.lost for each in view.candidates[1:] for figure in each.figures]
    assert lost.count(True) == (0 if rule in (0, 6) else 1)


def test_victims_that_have_not_started_have_the_time_of_the_cycle() -> None:
    candidates = [candidate("a", 5), candidate("b", 5, start="")]
    view = preemption.present_preemption(preempting(5, "b", *candidates))
    assert view is not None
    assert [each.figures[4].text for each in view.candidates] == ["now", "08:00:00"]
    assert view.now == "08:00:00"
    view = preemption.present_preemption(preempting(0, "a", candidates[0]))
    assert view is not None
    assert view.now == ""


def test_the_log_escapes_what_users_wrote() -> None:
    words = sentences.EventSentences("/s/x/")
    sentence = words.sentence(trace.Unschedulable(START, 1, "default/<b>", "<script>", []))
    assert sentence is not None
    assert "<script>" not in sentence[1]
    assert "<b>" not in sentence[1]
    assert "&lt;script&gt;" in sentence[1]


def test_an_attempt_is_one_mark() -> None:
    picture = Picture()
    events = [
        trace.Unschedulable(START, 1, "default/a", "no", []),
        trace.Nominated(START, 1, "default/a", "n1", ["default/v"], 0, 1),
        trace.Unschedulable(START, 2, "default/b", "no", []),
        trace.Bound(START, 3, "default/a", "n1"),
    ]
    for seq, event in enumerate(events, 1):
        picture.trace_event(seq, event)
    assert [(mark.cycle, mark.kind) for mark in Timeline().marks(picture)] == [
        (1, "preempting"),
        (2, "unschedulable"),
        (3, "bound"),
    ]


def drawn(screen: Screen, picture: Picture) -> set[str]:
    dirty, picture.dirty_nodes = picture.dirty_nodes, set()
    return set(screen.draw(picture, CLOCK, dirty)[DEFAULT])


def test_disruption_budgets_say_what_they_allow() -> None:
    picture, screen = Picture(), Screen("/s/x/")
    drawn(screen, picture)
    metadata = {"name": "shop", "namespace": "default", "resourceVersion": "2"}
    status = {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2}
    budget = {"metadata": metadata, "status": status}
    picture.watch_event(WatchEvent("ADDED", BUDGETS, "default/shop", budget, 2))
    assert drawn(screen, picture) == {"budgets"}
    assert "0 disruptions allowed" in screen.whole()["budgets"]
    picture.watch_event(WatchEvent("DELETED", BUDGETS, "default/shop", budget, 3))
    drawn(screen, picture)
    assert " hidden" in screen.whole()["budgets"]


def test_only_changed_elements_are_rendered_again() -> None:
    picture, screen = Picture(), Screen("/s/x/")
    for name in ("n1", "n2"):
        picture.object(NODES, node(name))
    picture.object(PODS, pod("b", node="n2"))
    drawn(screen, picture)
    assert drawn(screen, picture) == set()
    picture.object(PODS, pod("a", node="n1"))
    card = nodes_panel.node_part("n1")
    meters = {f"{card}/m0"}  # cpu
    assert drawn(screen, picture) == {f"{card}/pods", *meters, nodes_panel.heading_part(0), "summary"}
    picture.decided(SCHEDULED)
    assert drawn(screen, picture) == {
        f"{nodes_panel.node_part('n1')}/verdict",
        f"{nodes_panel.node_part('n2')}/verdict",
        "cycle",
    }
    assert screen.whole()["nodes"].count(">untolerated taint {a: b}<") == 1
    picture.object(NODES, node("n3"))
    assert drawn(screen, picture) == {"nodes", "summary"}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            "0/6 nodes are available: 5 Insufficient cpu, 1 node(s) had untolerated taint {gpu: a, b}. no",
            "5 have too little cpu, 1 is tainted {gpu: a, b}",
        ),
        ("0/1 nodes are available: 1 Insufficient example.com/gpu.", "1 has too little example.com/gpu"),
        (
            "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints.",
            "3 do not match its topology spread constraints",
        ),
        ("0/2 nodes are available: 2 something new.", "2 something new"),
        ("no nodes available to schedule pods", "no nodes available to schedule pods"),
    ],
)
def test_the_schedulers_message_has_a_short_text(message: str, text: str) -> None:
    assert reasons.short(message) == text


def test_a_cycle_under_way_shows_what_is_behind_it_and_what_is_next() -> None:
    def states(point: str) -> list[str]:
        return [step.state for step in cycle.present_cycle(NOTHING_FITS, Ranks([1000]), point).steps]

    assert cycle.present_cycle(NOTHING_FITS, Ranks([1000]), "Filter").matrix is None
    assert states("PreFilter") == ["current", *["todo"] * 6]
    assert states("Filter") == ["done", "current", *["todo"] * 5]
    assert states("PostFilter") == ["done", "failed", "current", *["todo"] * 4]
    assert states("PreScore")[3:5] == ["current", "todo"]
    assert states("PreBind")[-1] == states("PostBind")[-1] == "current"


def test_the_headline_of_a_preemption_has_the_short_name_of_the_node() -> None:
    names = [f"ip-10-0-10-{host}.eu-west-1.compute.internal" for host in (108, 17)]
    decision = preempting(0, names[0], candidate(names[0], 1))
    with using(ShortNodeNames(names)):
        assert cycle.headline(decision).endswith("Its victims are on 10-108.")


def test_the_reasons_on_node_cards_are_in_the_language_of_the_page() -> None:
    assert card_text("Insufficient cpu") == "Insufficient cpu"
    assert card_text("node(s) were unschedulable") == "unschedulable"
    with override("zh-hans"):
        assert card_text("Insufficient cpu") == "cpu 不足"
        assert card_text("node(s) had untolerated taint {gpu: yes}") == "有未容忍的污点 {gpu: yes}"
        assert card_text("Too many pods") == "Pod 数已满"
        assert card_text("a plugin's own reason") == "a plugin's own reason"
        texts = {each.on_card for each in REASONS} - {""}
        assert len(texts) > 20
        assert {text for text in texts if gettext(text) == text} == set()


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("time 1735689630000000", "until 00:00:30.000"),
        ("before 1735689630000000", "until nothing is due"),
        ("nothing-pending before 1735689630000000", "until nothing is pending"),
        ("preemption", "until a preemption"),
        ("bound default/web before 1735689630000000", "until web is bound"),
    ],
)
def test_a_run_says_where_it_ends(condition: str, words: str) -> None:
    clock = Clock(sim=0, wall=0, until=condition)
    assert transport.until(clock) == words
