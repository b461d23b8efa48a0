"""Predict, then reveal: guesses are graded by the Decision, and mistakes are classified."""

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest
from django.utils import translation

from schedviz.web.picture.picture import NODES, PODS, Picture
from schedviz.web.predict import facts, words
from schedviz.web.predict.grade import ClusterState, Mistake, grade
from schedviz.web.predict.question import (
    GuessKind,
    GuessQuestion,
    answer,
    equal_victims,
    next_pod_question,
    next_question,
)
from simulator.decision import Decision, UnderWay
from simulator.scheduler.attempt_record import record
from simulator.trace import Lane, QueuePlace
from tests.simulator.builders import a_cluster, a_node, a_pod, attempt

Manifest = dict[str, Any]

TAINT = {"key": "team", "value": "a", "effect": "NoSchedule"}


def on(node: str, name: str, cpu: str, priority: int = 0, **spec: Any) -> Manifest:
    return a_pod(name, cpu, nodeName=node, priority=priority, **spec)


def decide(nodes: list[Manifest], pods: list[Manifest], pod: Manifest) -> tuple[Decision, ClusterState]:
    return record(attempt(a_cluster(nodes, pods), pod)), world(nodes, [*pods, pod])


def world(
    nodes: Iterable[Manifest], pods: Iterable[Manifest], lanes: Iterable[QueuePlace] = ()
) -> ClusterState:
    picture = Picture()
    for resource, manifests in ((NODES, nodes), (PODS, pods)):
        for manifest in manifests:
            picture.object(resource, manifest)
    return ClusterState({entry.pod: entry for entry in lanes}, picture.pods, picture.nodes, picture.by_node)


def waits(name: str, lane: Lane, priority: int = 0, queued: int = 0) -> QueuePlace:
    return QueuePlace(
        pod=f"default/{name}", uid=name, lane=lane, since=0, priority=priority, queued=queued, attempts=0
    )


def mistake(kind: GuessKind, picks: set[str], decision: Decision, there: ClusterState) -> Mistake:
    graded = grade(kind, frozenset(picks), decision, there)
    assert not graded.right
    for language in ("en", "zh-hans"):
        with translation.override(language):
            assert words.mistake(graded, decision)
            assert words.why(kind, decision)
    return graded.mistake


def test_the_pod_with_the_highest_priority_is_next_and_other_answers_are_classified() -> None:
    lanes = [
        waits("old", "activeQ", 0, 1),
        waits("urgent", "activeQ", 9, 5),
        waits("later", "activeQ", 9, 6),
        waits("burnt", "backoffQ", 9),
        waits("stuck", "unschedulable", 9),
        waits("held", "gated", 9),
        waits("flying", "inFlight", 9),
    ]
    question = next_pod_question({entry.pod: entry for entry in lanes}, 3)
    assert question
    assert question.id.startswith("3-next-")
    assert "default/flying" not in question.choices
    assert [*question.choices] == sorted(question.choices)
    decision, _ = decide([a_node("n1")], [], a_pod("urgent", "1", priority=9))
    there = world([], [], lanes)
    assert grade("next", frozenset({"default/urgent"}), decision, there).right
    assert mistake("next", {"default/old"}, decision, there) == "size-or-age"
    assert mistake("next", {"default/later"}, decision, there) == "queued-later"
    assert mistake("next", {"default/burnt"}, decision, there) == "not-active"
    assert mistake("next", {"default/stuck"}, decision, there) == "not-active"
    assert mistake("next", {"default/held"}, decision, there) == "gated"
    assert next_pod_question({"default/held": lanes[5], "default/stuck": lanes[4]}, 3) is None

    crowd = [waits(f"pod-{number}", "activeQ", number) for number in range(150)]
    question = next_pod_question({entry.pod: entry for entry in crowd}, 3)
    assert question
    assert len(question.choices) == 100
    assert "default/pod-149" in question.choices
    assert "default/pod-0" not in question.choices


def test_mistakes_about_the_filters_are_classified() -> None:
    limited = on("free", "greedy", "1")
    limited["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "9"}
    decision, there = decide(
        [
            a_node("free"),
            a_node("tainted", taints=[TAINT]),
            a_node("cordoned", unschedulable=True),
            a_node("full"),
            a_node("evictable"),
        ],
        [limited, on("full", "peer", "4", 5), on("evictable", "low", "4", 1)],
        a_pod("web", "2", priority=5),
    )
    assert grade("nodes", frozenset({"free"}), decision, there).right
    assert mistake("nodes", {"free", "tainted"}, decision, there) == "taint"
    assert mistake("nodes", {"free", "cordoned"}, decision, there) == "cordoned"
    assert mistake("nodes", {"free", "evictable"}, decision, there) == "lower-priority"
    assert mistake("nodes", {"free", "full"}, decision, there) == "plugin"
    assert mistake("nodes", set(), decision, there) == "limits"

    decision, there = decide([a_node("n1"), a_node("n2")], [], a_pod("big", "6"))
    assert grade("nodes", frozenset(), decision, there).right
    assert mistake("nodes", {"n1"}, decision, there) == "sum-of-nodes"


def test_each_node_with_the_best_total_is_a_right_answer_and_the_freest_may_be_wrong() -> None:
    decision, there = decide([a_node("n1"), a_node("n2")], [], a_pod("web", "1"))
    assert {*decision.tied} == {"n1", "n2"}
    assert grade("winner", frozenset({"n1"}), decision, there).right
    assert grade("winner", frozenset({"n2"}), decision, there).right

    decision, there = decide([a_node("n1"), a_node("n2")], [on("n1", "a", "2")], a_pod("web", "1"))
    assert mistake("winner", {"n1"}, decision, there) == "scores"

    prefers = {"key": "team", "value": "a", "effect": "PreferNoSchedule"}
    nodes = [a_node("roomy", taints=[prefers]), a_node("tight")]
    decision, there = decide(nodes, [on("tight", "a", "1")], a_pod("web", "1"))
    assert decision.selected == "tight"
    assert mistake("winner", {"roomy"}, decision, there) == "room-only"


def test_mistakes_about_victims_are_classified() -> None:
    pods = [
        on("n1", "low", "2", 1),
        on("n1", "small", "1", 2),
        on("n1", "peer", "1", 100),
        on("n2", "other", "4", 9),
    ]
    decision, there = decide([a_node("n1"), a_node("n2")], pods, a_pod("web", "2", priority=100))
    assert answer("victims", decision) == {"default/low"}
    assert grade("victims", frozenset({"default/low"}), decision, there).right
    assert mistake("victims", {"default/peer"}, decision, there) == "not-lower"
    assert mistake("victims", {"default/low", "default/small"}, decision, there) == "too-many"
    assert mistake("victims", {"default/low", "default/other"}, decision, there) == "several-nodes"
    assert mistake("victims", {"default/other"}, decision, there) == "other-node"
    assert mistake("victims", set(), decision, there) == "nobody"
    twins = [on("n1", "a", "4"), on("n2", "b", "4")]
    decision, there = decide([a_node("n1"), a_node("n2")], twins, a_pod("web", "2", priority=100))
    assert decision.preemption
    assert {*decision.preemption.tied} == {"n1", "n2"}
    assert grade("victims", frozenset({"default/a"}), decision, there).right
    assert grade("victims", frozenset({"default/b"}), decision, there).right
    decision, there = decide([a_node("n1")], pods[2:3], a_pod("web", "4", priority=100))
    assert answer("victims", decision) == frozenset()
    assert mistake("victims", {"default/peer"}, decision, there) == "no-help"


def test_a_guess_that_a_budget_forbids_preemption_is_a_mistake_of_its_own() -> None:
    pods = [on("n1", "db", "3", 1, labels={"app": "db"}), on("n1", "rest", "1", 2)]
    cluster = a_cluster([a_node("n1")], pods)
    budget = {
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "db"}}},
        "status": {"disruptionsAllowed": 0},
    }
    cluster.set_object("poddisruptionbudgets.policy", "default/db", budget)
    decision = record(attempt(cluster, a_pod("web", "3", priority=100)))
    assert answer("victims", decision) == {"default/db"}
    assert mistake("victims", {"default/rest"}, decision, world([a_node("n1")], pods)) == "pdb-wall"


@pytest.mark.parametrize("seed", range(20))
def test_only_the_decisions_own_answer_is_right(seed: int) -> None:
    draw = Random(seed)
    nodes = [
        a_node(f"n{at}", str(draw.randint(2, 6)), taints=[TAINT] if draw.random() < 0.2 else [])
        for at in range(5)
    ]
    pods = [
        on(f"n{draw.randrange(5)}", f"p{at}", str(draw.randint(1, 3)), draw.randint(0, 3)) for at in range(8)
    ]
    decision, there = decide(nodes, pods, a_pod("web", str(draw.randint(1, 6)), priority=2))
    names, keys = [*there.nodes], [f"default/p{at}" for at in range(8)]
    kinds: list[tuple[GuessKind, list[str]]] = [("nodes", names), ("victims", keys)]
    for kind, choices in kinds:
        truth = answer(kind, decision)
        assert truth is not None
        assert grade(kind, truth, decision, there).right
        for _ in range(10):
            guess = frozenset(each for each in choices if draw.random() < 0.4)
            right = guess in equal_victims(decision) if kind == "victims" else guess == truth
            assert grade(kind, guess, decision, there).right == right
    if decision.selected:
        for name in names:
            graded = grade("winner", frozenset({name}), decision, there)
            assert graded.right == (name in (decision.tied or [decision.selected]))


def test_the_question_depends_on_the_point_of_the_cycle_and_its_answer_is_not_decided_yet() -> None:
    decision, _ = decide([a_node("n1"), a_node("n2")], [on("n1", "a", "1")], a_pod("web", "1"))
    picture = Picture()
    picture.object(PODS, on("n1", "a", "1"))
    kinds = {}
    for point in ("PreFilter", "PreScore", "PostFilter", "Reserve"):
        picture.under_way = UnderWay(point, decision.cycle, decision.pod, decision)
        question = next_question(picture, 0)
        kinds[point] = question and (question.kind, question.choices)
    assert kinds == {
        "PreFilter": ("nodes", ("n1", "n2")),
        "PreScore": ("winner", ("n1", "n2")),
        "PostFilter": ("victims", ("default/a",)),
        "Reserve": None,
    }
    assert answer("nodes", decision, "PreFilter") is None
    assert words.question(GuessQuestion("nodes", 1, "default/web")) == "Which nodes pass the filters for web?"


def test_the_facts_of_a_pod_are_its_demands_in_kubectls_notation() -> None:
    def required(*terms: object) -> dict[str, object]:
        return {"requiredDuringSchedulingIgnoredDuringExecution": [*terms]}

    zones = {"key": "zone", "operator": "In", "values": ["a", "b"]}
    term = {"matchExpressions": [zones, {"key": "gpu", "operator": "DoesNotExist"}]}
    web = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "zone"}
    node_affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    found = facts.of_pod(
        a_pod(
            "p",
            "1",
            nodeSelector={"disk": "ssd"},
            affinity={
                "nodeAffinity": node_affinity,
                "podAffinity": required(web),
                "podAntiAffinity": required({"topologyKey": "host"}),
            },
            topologySpreadConstraints=[{**web, "maxSkew": 2, "whenUnsatisfiable": "DoNotSchedule"}],
        )
    )
    assert {fact.name: fact.values for fact in found if fact.name not in ("requests", "priority")} == {
        "tolerates": [],
        "node labels needed": ["disk=ssd", "zone in (a, b), !gpu"],
        "near pods": ["app=web @ zone"],
        "apart from pods": [" @ host"],
        "spread": ["2 DoNotSchedule: app=web @ zone"],
    }
