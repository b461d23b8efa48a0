"""The disruption controller's figures, and preemption that respects them."""

from typing import Any

import pytest

from simulator import trace
from simulator.api import Manifest
from simulator.controllers.disruption import DisruptionController
from tests.simulator.controllers.workloads import workload
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


def allowed(lab: Lab) -> tuple[str, str, str]:
    [found] = lab.api.objects["poddisruptionbudgets.policy"]["default/shop"]["status"]["conditions"]
    return found["status"], found["reason"], found.get("message", "")


def owned(kind: str, replicas: int = 3, **spec: Any) -> Manifest:
    return workload(kind, "shop", replicas=replicas, **spec)


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
    lab.create(node("n1"), budget(**spec), owned("ReplicaSet"), pod("other"))
    lab.run(0.5)
    assert figures(lab)["currentHealthy"] == 0
    assert figures(lab)["disruptionsAllowed"] == 0
    assert allowed(lab) == ("False", "InsufficientPods", "")
    lab.run(5)
    assert [*figures(lab).values()] == [3, desired, 3 - desired, 3]
    assert allowed(lab) == ("True", "SufficientPods", "")
    [first, *_] = (name for name in lab.api.objects["pods"] if name.startswith("default/shop"))
    lab.delete_pod(first.partition("/")[2])
    lab.run(0)
    assert figures(lab)["currentHealthy"] == 2


@pytest.mark.parametrize("kind", ["ReplicaSet", "Deployment", "StatefulSet"])
def test_the_expected_number_of_pods_is_that_of_their_owner(kind: str) -> None:
    lab = Lab()
    lab.create(node("n1", cpu="200m"), budget(maxUnavailable=1), owned(kind, 4))
    lab.run(10)
    assert [*figures(lab).values()] == [2, 3, 0, 4], "two have no node, and two is too few already"


def test_pods_without_an_owner_count_only_for_min_available() -> None:
    lab = Lab()
    lab.create(node("n1"), budget(maxUnavailable=1), *(shop(f"shop-{i}") for i in range(3)))
    lab.run(5)
    assert [*figures(lab).values()] == [3, 0, 0, 0]
    lab.update(
        "poddisruptionbudgets.policy", "default/shop", lambda m: {**m, "spec": budget(minAvailable=2)["spec"]}
    )
    lab.run(5)
    assert [*figures(lab).values()] == [3, 2, 1, 3]


def test_an_owner_without_replicas_allows_no_disruption_and_the_budget_says_why() -> None:
    lab = Lab()
    lab.create(node("n1"), budget(maxUnavailable=1), workload("DaemonSet", "shop"))
    lab.run(5)
    why = "daemonsets.apps does not implement the scale subresource"
    assert allowed(lab) == ("False", "SyncFailed", why)


def test_preemption_chooses_the_node_whose_pods_no_budget_protects() -> None:
    lab = Lab()
    lab.create(priority_class("high", 1000), budget(minAvailable=1), node("a"), node("b"))
    lab.create(shop("shop-0", cpu="4", nodeName="a"), pod("other", cpu="4", nodeName="b"))
    lab.run(5)
    lab.create(pod("urgent", cpu="4", priorityClassName="high"))
    lab.run(1)
    [nominated] = lab.of(trace.Nominated)
    assert (nominated.node, nominated.victims, nominated.rule) == ("b", ["default/other"], 1)


def test_a_budget_without_a_spec_covers_no_pod_and_stops_no_other() -> None:
    lab = Lab()
    empty = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "empty"}}
    lab.create(node("n1"), empty, budget(minAvailable=1), shop("a"), shop("b"))
    lab.run(5)
    stored = lab.api.objects["poddisruptionbudgets.policy"]["default/empty"]
    assert (stored["spec"], {name: stored["status"][name] for name in FIGURES}) == (
        {},
        dict.fromkeys(FIGURES, 0),
    )
    assert figures(lab)["disruptionsAllowed"] == 1


def test_a_budget_without_numbers_allows_no_disruption() -> None:
    lab = Lab()
    lab.create(node("n1"), budget(), shop("a"))
    lab.run(5)
    assert figures(lab) == {**dict.fromkeys(FIGURES, 0), "currentHealthy": 1}


def test_the_expected_number_of_pods_of_a_replication_controller_is_its_replicas() -> None:
    lab = Lab()
    template = {
        "metadata": {"labels": {"app": "shop"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    owner = {
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "metadata": {"name": "rc"},
        "spec": {"template": template},
    }
    lab.create(node("n1"), budget(maxUnavailable=1), owner)
    uid = lab.api.objects["replicationcontrollers"]["default/rc"]["metadata"]["uid"]
    made = shop("a")
    reference = {
        "apiVersion": "v1",
        "kind": "ReplicationController",
        "name": "rc",
        "uid": uid,
        "controller": True,
    }
    made["metadata"]["ownerReferences"] = [reference]
    lab.create(made)
    lab.run(5)
    assert figures(lab)["expectedPods"] == 1


def test_only_the_budgets_of_a_pod_that_changes_are_synced(monkeypatch: pytest.MonkeyPatch) -> None:
    """With thousands of budgets in a namespace, a pod is that of few."""
    lab = Lab()
    named = [{**budget(minAvailable=1), "metadata": {"name": name}} for name in ("shop", "other", "all")]
    named[1]["spec"] = {"minAvailable": 1, "selector": {"matchLabels": {"app": "other"}}}
    named[2]["spec"] = {"minAvailable": 1, "selector": {}}
    lab.create(node("n1"), *named, shop("a"))
    lab.run(60)
    synced: list[str] = []
    sync = DisruptionController.sync

    def noted(controller: DisruptionController, key: str, manifest: Manifest) -> None:
        synced.append(key)
        sync(controller, key, manifest)

    monkeypatch.setattr(DisruptionController, "sync", noted)
    lab.delete("pods", "default/a")
    lab.run(60)
    assert {*synced} == {"default/shop", "default/all"}
    assert figures(lab)["currentHealthy"] == 0
