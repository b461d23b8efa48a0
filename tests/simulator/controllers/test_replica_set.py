"""ReplicaSets keep the number of their pods."""

from simulator import trace
from tests.simulator.controllers.workloads import heir, names, pods, scaled, status, workload
from tests.simulator.lab import Lab, node, pod

SETS = "replicasets.apps"


def running(replicas: int) -> Lab:
    lab = Lab()
    lab.create(node("n1"), node("n2"), workload("ReplicaSet", replicas=replicas))
    return lab.run(5)


def test_pods_are_made_scheduled_counted_and_replaced_when_they_go() -> None:
    lab = running(3)
    assert status(lab, SETS) == {
        "replicas": 3,
        "fullyLabeledReplicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
        "observedGeneration": 1,
    }
    assert all(name.startswith("web-") for name in names(lab))
    lab.delete_pod(names(lab)[0])
    lab.run(5)
    assert len(names(lab)) == 3
    assert len(names(lab, alive=False)) == 4, "the deleted one has its grace period"
    lab.run(60)
    assert len(names(lab, alive=False)) == 3


def test_fewer_replicas_cost_the_pods_that_are_best_done_without() -> None:
    lab = running(3)
    lab.create(node("n3", cpu="0"))
    kept = names(lab)
    lab.update(SETS, "default/web", scaled(4))
    lab.run(0)
    lab.update(SETS, "default/web", scaled(3))
    lab.run(60)
    assert names(lab, alive=False) == kept, "the one that did not run yet"
    lab.update(SETS, "default/web", scaled(0))
    lab.run(60)
    assert names(lab, alive=False) == []


def test_a_lone_pod_with_its_labels_is_taken_in_and_one_that_loses_them_is_let_go() -> None:
    lab = Lab()
    lone = pod("lone")
    lone["metadata"]["labels"] = {"app": "web"}
    lab.create(node("n1"), lone, workload("ReplicaSet", replicas=2))
    lab.run(5)
    assert "lone" in names(lab)
    assert len(names(lab)) == 2
    lab.update("pods", "default/lone", lambda m: {**m, "metadata": {**m["metadata"], "labels": {}}})
    lab.run(5)
    assert len(names(lab)) == 3
    assert lab.pod("lone")["metadata"]["ownerReferences"] == []


def test_what_admission_refuses_is_said_once_and_tried_again() -> None:
    lab = Lab()
    lab.create(node("n1"), workload("ReplicaSet", replicas=1, pod={"priorityClassName": "vip"}))
    lab.run(20)
    [failed] = lab.of(trace.ControllerFailed)
    assert failed.controller == "ReplicaSet default/web"
    assert "no PriorityClass with name vip was found" in failed.message
    lab.create(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "vip"},
            "value": 9,
        }
    )
    lab.run(60)
    assert [made["spec"]["priority"] for made in pods(lab)] == [9]


def test_a_successor_finds_everything_in_order() -> None:
    lab = running(3)
    version = lab.api.version
    heir(lab).run(60)
    assert lab.api.version == version
