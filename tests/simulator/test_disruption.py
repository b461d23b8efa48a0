"""The disruption controller's figures, and preemption that respects them."""

from typing import Any

import pytest

from simulator import trace
from simulator.api import Manifest
from tests.simulator.lab import Lab, node, pod, priority_class


def budget(**spec: Any) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "shop"}}, **spec},
    }


def shop(name: str, **spec: Any) -> Manifest:
    made = pod(name, **spec)
    made["metadata"]["labels"] = {"app": "shop"}
    return made


def figures(lab: Lab) -> dict[str, int]:
    status = lab.api.objects["poddisruptionbudgets.policy"]["default/shop"]["status"]
    return {name: status[name] for name in FIGURES}


FIGURES = ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods")


@pytest.mark.parametrize(
    ("spec", "desired"),
    [
        ({"minAvailable": 2}, 2),
        ({"minAvailable": "50%"}, 2),
        ({"maxUnavailable": 1}, 2),
        ({"maxUnavailable": "50%"}, 1),
    ],
)
def test_a_budget_counts_the_healthy_pods_that_it_covers(spec: dict[str, Any], desired: int) -> None:
    lab = Lab()
    lab.create(node("n1"), budget(**spec), *(shop(f"shop-{i}") for i in range(3)), pod("other"))
    lab.run(0.5)
    assert figures(lab)["currentHealthy"] == 0
    assert figures(lab)["disruptionsAllowed"] == 0
    lab.run(5)
    assert [*figures(lab).values()] == [3, desired, 3 - desired, 3]
    lab.delete_pod("shop-0")
    lab.run(0)
    assert figures(lab)["currentHealthy"] == 2


def test_preemption_takes_the_node_whose_pods_no_budget_protects() -> None:
    lab = Lab()
    lab.create(priority_class("high", 1000), budget(minAvailable=1), node("a"), node("b"))
    lab.create(shop("shop-0", cpu="4", nodeName="a"), pod("other", cpu="4", nodeName="b"))
    lab.run(5)
    lab.create(pod("urgent", cpu="4", priorityClassName="high"))
    lab.run(1)
    [nominated] = lab.of(trace.Nominated)
    assert (nominated.node, nominated.victims, nominated.rule) == ("b", ["default/other"], 1)
