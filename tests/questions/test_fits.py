"""Will this fit: where pods land, who is evicted, and where the evicted pods run again."""

import pytest

from simulator.api import Manifest
from simulator.apiserver.status import StatusError
from simulator.questions.ask import begin
from simulator.questions.fits import FitsAnswer, FitsParameters
from tests.questions.clusters import (
    ask,
    asked,
    make_node,
    make_pod,
    make_workload,
    priority_class,
    said,
)


def fits(objects: list[Manifest], *manifests: Manifest) -> FitsAnswer:
    answer = ask(asked(objects), FitsParameters(manifests))
    assert isinstance(answer, FitsAnswer)
    return answer


HIGH = priority_class("high", 1000)


def test_each_evicted_pod_is_followed_to_where_it_runs_again_stays_pending_or_is_lost() -> None:
    """Three nodes are full. The urgent pods evict a replica of each workload; node-3 has room for one."""
    objects = [
        HIGH,
        *(make_node(f"node-{i}", "2", "a") for i in range(3)),
        make_workload("ReplicaSet", "web", "2", 2),
        make_pod("bare", "2"),
    ]
    cluster = asked(objects)
    cluster.objects["nodes"]["node-3"] = {
        **make_node("node-3", "2", "b"),
        "spec": {"taints": [{"key": "web", "effect": "NoSchedule"}]},
    }
    urgent = make_workload("Deployment", "urgent", "2", 3, priorityClassName="high")
    answer = ask(cluster, FitsParameters([urgent]))
    assert isinstance(answer, FitsAnswer)
    assert (answer.figure, answer.wanted) == (3, 3)
    assert {pod.node for pod in answer.pods} == {"node-0", "node-1", "node-2"}
    found = {(each.owner, each.after): each for each in answer.evicted}
    assert sorted(found) == [("", "not created"), ("ReplicaSet web", "pending")]
    waiting = found["ReplicaSet web", "pending"]
    assert waiting.by.startswith("default/urgent-")
    assert waiting.replacement.startswith("default/web-")
    assert "Insufficient cpu" in waiting.why
    assert said(answer) == (
        "3 of 3 fit. Evicted by preemption: 3. Running again: 0; pending: 2; not created again: 1."
    )
    assert [(zone.zone, zone.nodes, zone.after["cpu"]) for zone in answer.zones] == [
        ("a", 3, 6000),
        ("b", 1, 0),
    ]


def test_an_evicted_replica_that_fits_elsewhere_runs_there() -> None:
    objects = [
        HIGH,
        make_node("node-0", "4"),
        make_node("node-1", "2"),
        make_workload("ReplicaSet", "web", "1"),
    ]
    big = make_pod("big", "3500m", priorityClassName="high")
    cordoned = {**make_node("node-1", "2"), "spec": {"unschedulable": True}}
    cluster = asked([objects[0], objects[1], cordoned, objects[3]])
    cluster.objects["nodes"]["node-1"] = {**cluster.objects["nodes"]["node-1"], "spec": {}}
    answer = ask(cluster, FitsParameters([big]))
    assert isinstance(answer, FitsAnswer)
    [evicted] = answer.evicted
    assert (evicted.node, evicted.by, evicted.after, evicted.to) == (
        "node-0",
        "default/big",
        "runs",
        "node-1",
    )


def test_all_kinds_of_workloads_are_expanded_by_their_controllers() -> None:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "job"},
        "spec": {
            "parallelism": 2,
            "completions": 2,
            "template": {"spec": {**make_pod("x")["spec"], "restartPolicy": "Never"}},
        },
    }
    answer = fits(
        [make_node("node-0", "8"), make_node("node-1", "8")],
        make_workload("Deployment", "web", "1", 3),
        make_workload("StatefulSet", "db", "7", 3),
        make_workload("DaemonSet", "agent", "100m"),
        job,
        make_pod("single"),
    )
    states: dict[str, list[str]] = {}
    for pod in answer.pods:
        states.setdefault(pod.of, []).append(pod.state)
    assert states["Deployment web"] == ["fits"] * 3
    assert states["DaemonSet agent"] == ["fits"] * 2
    assert states["Job job"] == ["fits"] * 2
    assert states["Pod single"] == ["fits"]
    # A StatefulSet creates the next pod when the one before it is ready.
    assert states["StatefulSet db"] == ["pending", "not created", "not created"]
    assert (answer.figure, answer.wanted) == (8, 11)


def test_pods_that_a_quota_refuses_are_not_created_and_the_message_says_why() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "small"},
        "spec": {"hard": {"pods": "1"}},
    }
    answer = fits([make_node("node-0"), quota], make_workload("Deployment", "web", "1", 2))
    assert [pod.state for pod in answer.pods] == ["fits", "not created"]
    assert "exceeded quota: small" in answer.pods[1].why


def test_a_manifest_that_the_api_server_refuses_is_named_and_nothing_is_created() -> None:
    cluster = asked([make_node("node-0")])
    before = {resource: {*each} for resource, each in cluster.objects.items()}
    wrong = make_workload("Deployment", "web")
    wrong["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "much"
    with pytest.raises(StatusError, match=r"spec.template.spec.containers\[0\].resources.requests"):
        ask(cluster, FitsParameters([make_pod("fine"), wrong]))
    assert {resource: {*each} for resource, each in cluster.objects.items()} == before


def test_a_stopped_question_says_so_and_keeps_what_it_found() -> None:
    question = begin(asked([make_node("node-0")]), FitsParameters([make_pod("web")]))
    for done in question.run():
        if done >= 0.5:
            break
    answer = question.answer()
    assert not answer.complete
    assert isinstance(answer, FitsAnswer)
    assert [pod.of for pod in answer.pods] == ["Pod web"]
