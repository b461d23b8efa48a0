"""Why a node was chosen, why a pod was evicted, and which other pods wait for the same room."""

import pytest

from simulator.framework import snapshot
from simulator.objects.pod import Pod
from simulator.scheduler.attempt_record import record
from simulator.what_if.answer import WhatIfAnswer
from simulator.what_if.comparison import compare_nodes, rank_nodes
from simulator.what_if.eviction import explain_eviction, find_preventions
from simulator.what_if.rivals import SPECS_AT_MOST, with_rivals
from simulator.what_if.search import search
from simulator.what_if.situation import Situation
from tests.simulator.questions import FRAMEWORKS, Objects, node, of, pod


def test_the_other_pods_that_fit_the_same_node_are_rivals() -> None:
    tainted = node("n2", taints=[{"key": "a", "value": "b", "effect": "NoSchedule"}])
    low = pod("low", "3", nodeName="n1")
    twins = [pod("twin-1", "2"), pod("twin-2", "2")]
    others = [*twins, pod("huge", "99"), pod("elsewhere", "1", nodeSelector={"disk": "ssd"})]
    objects: Objects = [node("n1"), tainted, low, *others]
    situation = Situation.read(of(objects), pod("web", "2"), FRAMEWORKS)
    *_, answer = search(situation)
    assert isinstance(answer, WhatIfAnswer)
    own = situation.pod
    found = {
        each.kind: each.rivals
        for each in with_rivals(situation, answer.suggestions, [*others, low, pod("web", "2")])
    }
    room = ["default/twin-1", "default/twin-2"]
    assert found == {
        "toleration": [],
        "taint": room,
        "request": [],
        "priority": [],
        "delete-pod": room,
        "node": room,
    }
    assert situation.pod is own
    assert situation.outcome() == answer.now, "the situation is as it was"


@pytest.mark.parametrize("more", [0, 1])
def test_the_rivals_are_partial_if_there_are_more_specs_than_are_tried(more: int) -> None:
    """Each pod is there twice: pods with the same spec count once."""
    low = pod("low", "3", nodeName="n1")
    situation = Situation.read(of([node("n1"), low]), pod("web", "2"), FRAMEWORKS)
    *_, answer = search(situation)
    assert isinstance(answer, WhatIfAnswer)
    pending = [pod(f"{name}-{cpu}", f"{cpu}m") for cpu in range(1, SPECS_AT_MOST + more + 1) for name in "ab"]
    found = {
        each.kind: (len(each.rivals), each.rivals_partial)
        for each in with_rivals(situation, answer.suggestions, pending)
    }
    assert found["delete-pod"] == (2 * SPECS_AT_MOST, bool(more))
    assert found["request"] == (0, False)


def test_two_nodes_are_set_side_by_side_by_what_each_plugin_gave_them() -> None:
    expression = {"key": "zone", "operator": "In", "values": ["a"]}
    term = {"weight": 1, "preference": {"matchExpressions": [expression]}}
    zone = {"preferredDuringSchedulingIgnoredDuringExecution": [term]}
    objects = [
        node("near", labels={"zone": "a"}), node("empty"), node("twin"), node("small", "1"),
        pod("x", "1", nodeName="near"),
    ]  # fmt: skip
    built, nominated = snapshot.read(of(objects), FRAMEWORKS)
    made = Situation(built, Pod.parse(pod("p", "2", affinity={"nodeAffinity": zone})), FRAMEWORKS, nominated)
    decision = record(made.attempt(exhaustive=True))
    found = compare_nodes(decision, "empty")
    assert (found.node, found.how) == ("near", "scores")
    assert found.totals is not None
    assert sum(d.difference for d in found.differences) == found.totals[0] - found.totals[1] > 0
    first, last = found.differences[0], found.differences[-1]
    assert (first.plugin, first.raw, first.weighted, first.decides) == (
        "NodeAffinity",
        (1, 0),
        (200, 0),
        True,
    )
    assert (last.plugin, last.decides) == ("NodeResourcesFit", False)
    assert compare_nodes(decision, "twin", "empty").how == "lot"
    refused = compare_nodes(decision, "small")
    assert refused.failure is not None
    assert (refused.how, refused.failure.reasons) == ("refused", ["Insufficient cpu"])
    assert rank_nodes(decision)[0] == "near"
    with pytest.raises(LookupError):
        compare_nodes(decision, "elsewhere")


def test_an_evicted_pod_gets_its_preemptor_the_rule_and_the_changes_that_would_have_prevented_it() -> None:
    objects = [
        node("n", "4"),
        pod(
            "old",
            "1",
            nodeName="n",
            priority=5,
            labels={"app": "old"},
            status={"startTime": "2025-01-01T00:00:00Z"},
        ),
        pod(
            "victim",
            "2",
            nodeName="n",
            priority=5,
            labels={"app": "v"},
            status={"startTime": "2025-01-02T00:00:00Z"},
        ),
        node("m", "4"),
        pod("grand", "2", nodeName="m", priority=50),
    ]
    question = pod("p", "3", priority=100)
    situation = Situation.read(of(objects), question, FRAMEWORKS)
    said = explain_eviction(record(situation.attempt(exhaustive=True)), "default/victim")
    assert (said.preemptor, said.node, said.rule, said.candidates) == ("default/p", "n", 2, 2)
    assert (said.spared, said.tried, said.turn) == (
        ["default/old"], ["default/old", "default/victim"], 2,
    )  # fmt: skip
    found = {s.kind: s for s in find_preventions(situation, "default/victim")}
    assert {kind: (s.what, s.before, s.after, s.outcome.node) for kind, s in found.items()} == {
        "priority": ("default/victim", "5", "50", "m"),
        "budget": ("app=v", "", "0", "m"),
        "request": ("cpu", "3", "2", "m"),
        "preemptor-priority": ("default/p", "100", "5", ""),
    }
    assert [*find_preventions(situation, "default/grand")] == []
    with pytest.raises(LookupError):
        explain_eviction(record(situation.attempt()), "default/grand")
