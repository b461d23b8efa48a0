"""Preemption as a play: what is shown is what preemption did."""

from typing import Any

import pytest

from schedviz.web.presenters.play import RULES, PlayStep, play_steps
from simulator.decision import Decision
from simulator.scheduler.attempt_record import record
from tests.simulator.builders import a_cluster, a_node, a_pod, attempt


def on(node: str, name: str, cpu: str, priority: int, **labels: str) -> dict[str, Any]:
    return a_pod(name, cpu, labels=labels, nodeName=node, priority=priority)


def budget(app: str) -> dict[str, Any]:
    selector = {"matchLabels": {"app": app}}
    metadata = {"name": app, "namespace": "default"}
    return {"metadata": metadata, "spec": {"selector": selector}, "status": {"disruptionsAllowed": 0}}


def played() -> tuple[Decision, list[PlayStep]]:
    cluster = a_cluster(
        [a_node("n1", "4"), a_node("n2", "4")],
        [
            on("n1", "low", "2", 1),
            on("n1", "high", "1", 5),
            on("n1", "kept", "1", 3, app="db"),
            on("n2", "other", "4", 9),
        ],
    )
    cluster.set_object("poddisruptionbudgets.policy", "default/db", budget("db"))
    decision = record(attempt(cluster, a_pod("web", "2", priority=100)))
    return decision, play_steps(decision)


def test_pods_are_lifted_then_put_back_one_by_one_protected_ones_first() -> None:
    decision, made = played()
    assert decision.preemption is not None
    assert decision.preemption.chosen == "n1"
    first = [scene for scene in made if scene.node == "n1"]
    assert [actor.label for actor in first[0].actors] == ["kept", "high", "low"]
    assert {actor.place for actor in first[0].actors} == {"lifted"}
    assert "All 3 pods" in first[0].text
    assert "PodDisruptionBudget protects it" in first[1].text
    assert [actor.place for actor in first[-1].actors] == ["stays", "stays", "victim"]
    assert len(first) == 1 + 2 * 3
    victims = {actor.label for scene in made for actor in scene.actors if actor.place == "victim"}
    assert victims == {"low", "other"}


def test_the_candidates_fall_out_rule_by_rule_until_one_is_left() -> None:
    decision, made = played()
    assert decision.preemption is not None
    rungs = [scene for scene in made if scene.ladder]
    assert len(rungs) == decision.preemption.rule == 2
    assert not any(each.now for each in rungs[0].ladder)
    assert [(each.node, each.wins, each.now) for each in rungs[1].ladder] == [
        ("n1", True, False),
        ("n2", False, True),
    ]
    assert rungs[1].text.startswith("Rule 2 decided: n1")


LONG_AGO, LATELY = "2027-01-15T08:00:00Z", "2027-01-15T09:30:00Z"
LEAST = -(1 << 31)
"""A priority that adds nothing to the sum: only beside it can equal sums come of unequal numbers."""


def victim(
    node: str, name: str, priority: int, start: str = LONG_AGO, cpu: str = "1", **labels: str
) -> dict[str, Any]:
    started = {"phase": "Running", "startTime": start}
    return a_pod(f"{node}-{name}", cpu, labels=labels, status=started, nodeName=node, priority=priority)


@pytest.mark.parametrize(
    ("rule", "pods", "said"),
    [
        (
            1,
            [victim("n1", "a", 5, app="db"), victim("n2", "a", 9)],
            "Rule 1 decided: n2 has the fewest PodDisruptionBudget violations, 0.",
        ),
        (
            2,
            [victim("n1", "a", 9), victim("n2", "a", 5)],
            "Rule 2 decided: n2's highest victim priority, 5, is the lowest.",
        ),
        (
            3,
            [victim("n1", "a", 5), victim("n1", "b", 4), victim("n2", "a", 5), victim("n2", "b", 1)],
            "Rule 3 decided: n2 has the smallest sum of victim priorities.",
        ),
        (
            4,
            [victim("n1", "a", 5), victim("n1", "b", LEAST), victim("n2", "a", 5)],
            "Rule 4 decided: n2 needs the fewest victims, 1.",
        ),
        (
            5,
            [victim("n1", "a", 5), victim("n2", "a", 5, LATELY)],
            "Rule 5 decided: n2's most important victim started latest, at 09:30:00.",
        ),
        (6, [victim("n1", "a", 5), victim("n2", "a", 5)], "All five rules leave more than one node"),
    ],
)
def test_the_deciding_rung_says_what_decided(rule: int, pods: list[dict[str, Any]], said: str) -> None:
    cluster = a_cluster([a_node("n1", "2"), a_node("n2", "2")], pods)
    cluster.set_object("poddisruptionbudgets.policy", "default/db", budget("db"))
    decision = record(attempt(cluster, a_pod("web", "2", priority=100)))
    assert decision.preemption is not None
    assert decision.preemption.rule == rule
    rungs = [scene for scene in play_steps(decision) if scene.ladder]
    assert len(rungs) == rule
    assert rungs[-1].text.startswith(said)
    assert [each.node for each in rungs[-1].ladder if each.wins] == [decision.preemption.chosen]
    for number, scene in enumerate(rungs[:-1], start=1):
        assert scene.text == f"{RULES[number - 1]} All that are left are equal here."
        assert not any(each.now for each in scene.ladder)
    if rule < 6:
        assert decision.preemption.chosen == "n2"
        assert [(each.node, each.now) for each in rungs[-1].ladder] == [("n2", False), ("n1", True)]
