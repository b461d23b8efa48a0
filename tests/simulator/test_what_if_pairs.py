"""Two changes at once, where no single one lets the pod run."""

import pytest

from simulator.what_if.answer import Suggestion, WhatIfAnswer
from simulator.what_if.search import GROUPS_AT_MOST, PAIR_WORK_AT_MOST, STAGES
from tests.simulator.questions import Manifest, Objects, asked, attempted, edited, node, pod
from tests.simulator.test_what_if import CLAIM, containers, storage_class

OWN_TAINT = [{"key": "own", "effect": "NoSchedule"}]
TWO_TAINTS = [*OWN_TAINT, {"key": "other", "effect": "NoSchedule"}]


def volume(name: str) -> Manifest:
    return {"name": name, "persistentVolumeClaim": {"claimName": name}}


CASES: list[tuple[str, Objects, Manifest, list[tuple[str, str]]]] = [
    (
        "two taints with different keys",
        [node("n", taints=TWO_TAINTS)],
        pod("p"),
        [("toleration", "own:NoSchedule"), ("toleration", "other:NoSchedule")],
    ),
    (
        "a taint, and a label that no node has",
        [node("n", taints=OWN_TAINT)],
        pod("p", nodeSelector={"gpu": "yes"}),
        [("toleration", "own:NoSchedule"), ("label", "gpu")],
    ),
    (
        "two labels that no node has",
        [node("n"), node("m", labels={"gpu": "no"})],
        pod("p", nodeSelector={"gpu": "yes", "disk": "ssd"}),
        [("label", "gpu"), ("label", "disk")],
    ),
    (
        "a cordoned node that is too small",
        [node("n", "2", unschedulable=True)],
        pod("p", "8"),
        [("uncordon", "unschedulable"), ("request", "cpu")],
    ),
    (
        "two requests that fit no node",
        [node("n", "2")],
        pod("p", containers=containers({"cpu": "3", "memory": "9Gi"})),
        [("request", "memory"), ("request", "cpu")],
    ),
    (
        "two terms of affinity that no pod matches",
        [node("n", labels={"zone": "a"})],
        pod(
            "p",
            affinity={
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": app}}}
                        for app in "xy"
                    ]
                }
            },
        ),
        [("pod-affinity", "zone"), ("pod-affinity", "zone")],
    ),
    (
        "two claims that do not exist",
        [node("n"), storage_class("WaitForFirstConsumer") | {"provisioner": "example.com/csi"}],
        pod("p", volumes=[volume("one"), volume("two")]),
        [("drop-volume", "one"), ("drop-volume", "two")],
    ),
    (
        "gates, and a taint",
        [node("n", taints=OWN_TAINT)],
        pod("p", schedulingGates=[{"name": "a"}, {"name": "b"}]),
        [("gate", "a, b"), ("toleration", "own:NoSchedule")],
    ),
    (
        "no profile, and a cordoned node",
        [node("n", unschedulable=True)],
        pod("p", schedulerName="other"),
        [("scheduler", "schedulerName"), ("uncordon", "unschedulable")],
    ),
]


def parts_of(said: Suggestion) -> list[tuple[str, str]]:
    return [(part.kind, part.what) for part in said.parts]


def all_helps(objects: Objects, question: Manifest, found: WhatIfAnswer) -> None:
    for said in found.suggestions:
        changed, new = edited([*objects, question], question, said.edits)
        assert attempted(changed, new) == (said.outcome.kind, said.outcome.node, said.outcome.victims), said
        assert len({(edit.resource, edit.key) for edit in said.edits}) == len(said.edits), (
            "one write an object"
        )


@pytest.mark.parametrize(
    ("objects", "question", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_one_of_the_cheapest_pairs_is(
    objects: Objects, question: Manifest, expected: list[tuple[str, str]]
) -> None:
    found = asked(objects, question)
    assert all(len(said.parts) == 2 for said in found.suggestions)
    cheapest = [each for each in found.suggestions if each.cost == found.suggestions[0].cost]
    assert sorted(expected) in [sorted(parts_of(each)) for each in cheapest]
    assert 1 <= len(found.suggestions) <= GROUPS_AT_MOST
    assert [said.cost for said in found.suggestions] == sorted(said.cost for said in found.suggestions)
    all_helps(objects, question, found)


def test_a_pair_with_the_same_change_of_several_nodes_is_one_suggestion() -> None:
    objects = [node(f"n{i:02}", labels={"x": "z"}, taints=OWN_TAINT, unschedulable=True) for i in range(12)]
    question = pod("p", "1", nodeSelector={"x": "z"})
    found = asked(objects, question)
    [said] = [
        each
        for each in found.suggestions
        if parts_of(each) == [("toleration", "own:NoSchedule"), ("uncordon", "unschedulable")]
    ]
    assert said.alike == [f"n{i:02}" for i in range(1, 9)]
    assert said.alike_more == 3
    all_helps(objects, question, found)


def test_a_pair_that_changes_one_node_lists_the_other_nodes() -> None:
    objects = [node(f"n{i:02}", unschedulable=True) for i in range(12)]
    question = pod("p", "1", nodeSelector={"x": "z"})
    found = asked(objects, question)
    pair = [("uncordon", "unschedulable"), ("label", "x")]
    [said] = [each for each in found.suggestions if parts_of(each) == pair]
    assert said.alike == [f"n{i:02}" for i in range(1, 9)]
    assert said.alike_more == 3
    all_helps(objects, question, found)


def test_a_pod_with_gates_preempts_after_their_removal() -> None:
    objects = [node("n", "4"), pod("low", "4", nodeName="n")]
    [said] = asked(
        objects, pod("p", "1", priority=7, schedulingGates=[{"name": "a"}, {"name": "b"}])
    ).suggestions
    assert (said.kind, said.outcome.kind, said.outcome.victims) == ("gate", "nominated", ["default/low"])


def test_no_pair_is_tried_if_one_change_helps_and_the_work_is_bounded() -> None:
    found = asked([node("n", taints=TWO_TAINTS), node("m", taints=OWN_TAINT)], pod("p"))
    assert all(not said.further for said in found.suggestions)
    hopeless = pod("p", "64", nodeSelector={f"key-{i}": "v" for i in range(9)}, volumes=[volume("data")])
    many = [node(f"n{i}", taints=TWO_TAINTS, unschedulable=True) for i in range(40)]
    first, second = asked([*many, CLAIM], hopeless), asked([*many, CLAIM], hopeless)
    assert first == second
    assert first.suggestions == []
    assert 0 < first.tried < PAIR_WORK_AT_MOST + 64 * len(STAGES)
