"""Preemption as a play: what is shown is what preemption did."""

from typing import Any

from schedviz.web.view.play import Scene, scenes
from simulator.decision import Decision
from simulator.scheduler.attempt_record import record
from tests.simulator.builders import a_cluster, a_node, a_pod, attempt


def on(node: str, name: str, cpu: str, priority: int, **labels: str) -> dict[str, Any]:
    return a_pod(name, cpu, labels=labels, nodeName=node, priority=priority)


def budget(app: str) -> dict[str, Any]:
    selector = {"matchLabels": {"app": app}}
    metadata = {"name": app, "namespace": "default"}
    return {"metadata": metadata, "spec": {"selector": selector}, "status": {"disruptionsAllowed": 0}}


def played() -> tuple[Decision, list[Scene]]:
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
    return decision, scenes(decision)


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
