"""Where the pods of drained nodes go, in which order budgets let them leave, and which stay."""

import pytest

from simulator.api import Manifest
from simulator.questions.answer import AskedCluster, BadQuestion
from simulator.questions.drain import DrainAnswer, DrainParameters
from simulator.questions.fits import FitsParameters
from simulator.questions.node_selection import NodeChoice
from tests.questions.clusters import ask, asked, budget, make_node, make_pod, make_workload, said


def drain(cluster: AskedCluster, choice: NodeChoice, *, force: bool = False) -> DrainAnswer:
    answer = ask(cluster, DrainParameters(choice, force=force))
    assert isinstance(answer, DrainAnswer)
    return answer


def moved(objects: list[Manifest]) -> AskedCluster:
    """Return the cluster with a further node, node-1, to which the pods can go."""
    cluster = asked(objects)
    cluster.objects["nodes"]["node-1"] = make_node("node-1", "4", "b")
    return cluster


def test_a_budget_lets_replicas_leave_one_after_the_other_when_the_one_before_is_ready() -> None:
    objects = [
        make_node("node-0"),
        make_workload("ReplicaSet", "web", "1", 3),
        budget("web", "web", maxUnavailable=1),
    ]
    answer = drain(moved(objects), NodeChoice(["node-0"]))
    assert [pod.order for pod in answer.pods] == [1, 2, 3]
    assert {(pod.after, pod.to) for pod in answer.pods} == {("runs", "node-1")}
    assert answer.kept == []
    assert "in 3 rounds" in said(answer)
    change = {node.node: node.change for node in answer.nodes}
    assert change == {"node-0": "drained", "node-1": ""}


def test_a_budget_that_needs_all_replicas_keeps_them() -> None:
    objects = [
        make_node("node-0"),
        make_workload("ReplicaSet", "web", "1", 2),
        budget("web", "web", minAvailable=2),
    ]
    answer = drain(moved(objects), NodeChoice(["node-0"]))
    assert answer.pods == []
    assert [kept.because for kept in answer.kept] == ["budget", "budget"]
    assert "needs 2 healthy pods and has 2 currently" in answer.kept[0].why
    assert "Not evicted: 2 with a disruption budget; kubectl drain tries again every 5 s" in said(answer)


def test_pods_that_kubectl_does_not_evict_stay_each_with_its_reason() -> None:
    local = {"volumes": [{"name": "data", "emptyDir": {}}]}
    objects = [
        make_node("node-0", "8"),
        make_pod("bare"),
        make_workload("ReplicaSet", "cache", **local),
        make_workload("DaemonSet", "agent", "100m"),
        make_workload("ReplicaSet", "big", "4"),
    ]
    cluster = moved(objects)
    answer = drain(cluster, NodeChoice(zone="", selector="kubernetes.io/hostname=node-0"))
    assert sorted(kept.because for kept in answer.kept) == ["daemon", "local storage", "no owner"]
    [big] = answer.pods
    # node-1 has 4 cores, of which the DaemonSet takes a tenth.
    assert (big.owner, big.after) == ("ReplicaSet big", "pending")
    assert "Insufficient cpu" in big.why
    forced = drain(cluster, NodeChoice(["node-0"]), force=True)
    assert {pod.owner: pod.after for pod in forced.pods} == {"": "not created", "ReplicaSet big": "pending"}


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (NodeChoice(["node-9"]), "nodes: there is no node 'node-9'"),
        (NodeChoice(selector="a in"), "selector: unable to parse requirement"),
        (NodeChoice(zone="z"), "nodes: no node is chosen"),
    ],
)
def test_a_wrong_choice_of_nodes_is_named(choice: NodeChoice, message: str) -> None:
    with pytest.raises(BadQuestion, match=message):
        drain(asked([make_node("node-0")]), choice)


def test_the_emptiest_nodes_are_those_with_the_smallest_share_requested() -> None:
    objects = [make_node(f"node-{i}", "4", "a") for i in range(3)]
    objects += [make_pod(f"pod-{i}", str(i), f"node-{i}") for i in (1, 2)]
    assert drain(asked(objects), NodeChoice(emptiest=2), force=True).drained == ["node-0", "node-1"]


def test_pods_whose_replica_sets_a_dump_lacks_are_created_again() -> None:
    """A StatefulSet cannot be made up: its pods are counted in a note."""
    cluster = moved(
        [make_node("node-0"), make_workload("ReplicaSet", "web", "1", 2), make_workload("StatefulSet", "db")]
    )
    left = {"replicasets.apps", "statefulsets.apps"}
    objects = {name: each for name, each in cluster.objects.items() if name not in left}
    answer = drain(AskedCluster(objects, now=cluster.now), NodeChoice(["node-0"]))
    assert {(pod.owner.partition(" ")[0], pod.after) for pod in answer.pods} == {
        ("ReplicaSet", "runs"),
        ("StatefulSet", "not created"),
    }
    assert [note.values["count"] for note in answer.notes] == ["1", "1"]


def test_pods_that_would_end_meanwhile_do_not_make_room() -> None:
    """The pod of a Job succeeds after ten seconds in a sandbox; here the budget lasts longer than that."""
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job"},
        "spec": {"template": {"spec": {**make_pod("x", "3")["spec"], "restartPolicy": "Never"}}},
    }
    short = make_pod("short", "1", "node-0")
    short["metadata"]["annotations"] = {"schedviz/run-seconds": "70"}
    cluster = asked([make_node("node-0", "2"), make_workload("ReplicaSet", "web"), short])
    cluster.objects["nodes"]["node-1"] = make_node("node-1", "3")
    answer = ask(cluster, FitsParameters([job, make_pod("second", "1")]))
    assert said(answer).startswith("1 of 2 fit.")
    drained = drain(cluster, NodeChoice(["node-0"]), force=True)
    assert [pod.after for pod in drained.pods] == ["not created", "runs"]
    assert all(node.after["pods"] == len(drained.pods) - 1 for node in drained.nodes if node.node == "node-1")
