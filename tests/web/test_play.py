"""The play of a preemption shows what the preemption did."""

from typing import Any

import pytest

from schedviz.web.cycle.play import PODS_AT_MOST, PlayStep, play_steps
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


def test_pods_are_removed_and_then_reprieved_one_by_one_protected_ones_first() -> None:
    decision, made = played()
    assert decision.preemption is not None
    assert decision.preemption.chosen == "n1"
    assert {each.node for each in made} == {"n1"}, "the other nodes are folded"
    first, *put_back, why, follows = made
    assert [pod.label for pod in first.pods] == ["kept", "high", "low"]
    assert {pod.place for pod in first.pods} == {"removed"}
    assert first.text == "All 3 pods with lower priority are removed. web fits now."
    assert [(each.text, each.fits) for each in put_back] == [
        ("kept is put back first: a PodDisruptionBudget protects it. Yes: kept stays.", True),
        ("high is put back: does web still fit? Yes: high stays.", True),
        ("low is put back: does web still fit? No: low is a victim.", False),
    ]
    assert put_back[-1].badge == "it does not fit"
    assert [pod.now for pod in put_back[-1].pods] == [False, False, True]
    assert [pod.place for pod in put_back[-1].pods] == ["stays", "stays", "victim"]
    assert why.text.startswith("Rule 2 decided: n1")
    assert why.text.endswith("1 other candidate: 1 has a more important victim.")
    assert follows.text == "web is nominated to n1 and waits until the victim has terminated: low."
    assert {pod.place for pod in follows.pods} == {"stays", "victim"}


def test_a_play_has_eight_steps_however_many_pods_and_nodes_there_are() -> None:
    nodes = [f"n{number:02}" for number in range(12)]
    cluster = a_cluster(
        [a_node(node, "10") for node in nodes],
        [on(node, f"{node}-{pod}", "1", 1 if node == "n00" else 5) for node in nodes for pod in range(10)],
    )
    made = play_steps(record(attempt(cluster, a_pod("web", "2", priority=100))))
    assert len(made) == 1 + PODS_AT_MOST + 2 == 8
    assert made[5].text == "The other 6 pods are put back the same way: 4 stay, 2 are victims."
    assert made[6].text.endswith("11 other candidates: 11 have a more important victim.")


LONG_AGO, LATELY = "2027-01-15T08:00:00Z", "2027-01-15T09:30:00Z"
LEAST = -(1 << 31)
"""A priority that adds 0 to the sum. Only with it can victims of different numbers have equal sums."""


REASONS = {
    1: "1 violates budgets more often",
    2: "1 has a more important victim",
    3: "1 has a larger sum of victim priorities",
    4: "1 has more victims",
    5: "1 has a victim that started earlier",
    6: "1 is equal and was not chosen at random",
}


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
def test_the_other_candidates_are_counted_by_the_rule_that_removed_them(
    rule: int, pods: list[dict[str, Any]], said: str
) -> None:
    cluster = a_cluster([a_node("n1", "2"), a_node("n2", "2")], pods)
    cluster.set_object("poddisruptionbudgets.policy", "default/db", budget("db"))
    decision = record(attempt(cluster, a_pod("web", "2", priority=100)))
    assert decision.preemption is not None
    assert decision.preemption.rule == rule
    why, follows = play_steps(decision)[-2:]
    assert why.text.startswith(said)
    assert why.title == f"Why {decision.preemption.chosen}?"
    assert f"1 other candidate: {REASONS[rule]}." in why.text
    assert follows.text.startswith(f"web is nominated to {decision.preemption.chosen}")
