"""Evictions summed: by cause, by who lost pods, and until the pods ran again."""

from random import Random

import pytest

from simulator.api import SECOND, Manifest
from simulator.memory_sandbox import START
from simulator.questions.evictions import (
    NotedBinding,
    NotedEviction,
    Owners,
    evictions_of_trace,
    owners_of,
    sum_evictions,
)
from tests.questions.clusters import budget, make_node, make_pod, make_workload, priority_class, said, settled


def noted(second: int, pod: str, by: str) -> NotedEviction:
    return NotedEviction(START + second * SECOND, pod, "Preempted", by, "node-0")


def bound(second: int, pod: str) -> NotedBinding:
    return NotedBinding(START + second * SECOND, pod)


def replica(name: str, owner: str, priority_class_name: str = "") -> Manifest:
    pod = make_pod(name)
    pod["metadata"] |= {
        "namespace": "shop",
        "uid": name,
        "ownerReferences": [{"kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}],
    }
    pod["spec"]["priorityClassName"] = priority_class_name
    return pod


def test_evictions_are_summed_by_owner_and_by_how_long_it_took_until_they_ran_again() -> None:
    named_alike = budget("db", "db", minAvailable=1)
    named_alike["metadata"]["namespace"] = "shop"
    pods = [replica("web-bbbbb", "web", "low"), replica("urgent-ccccc", "urgent", "high")]
    owners = Owners([*pods, named_alike])
    answer = sum_evictions(
        [
            noted(10, "shop/web-ddddd", "shop/urgent-ccccc"),
            noted(20, "shop/web-fffff", "shop/urgent-ggggg"),
            noted(30, "shop/db-0", "kubelet"),
            noted(70, "shop/db-0", "kubelet"),
        ],
        [bound(5, "shop/web-ddddd"), bound(15, "shop/web-bbbbb"), bound(40, "shop/db-0")],
        owners,
    )
    assert [(each.by, each.priority_class, each.count) for each in answer.causes] == [
        ("ReplicaSet urgent", "high", 2),
        ("kubelet", "", 2),
    ]
    assert [(each.owner, each.priority_class, each.count, each.ran_again) for each in answer.suffered] == [
        ("ReplicaSet web", "low", 2, 1),
        ("shop/db-0", "", 2, 1),
    ]
    assert [(each.pod, each.count) for each in answer.repeated] == [("shop/db-0", 2)]
    assert [each.ran_again for each in answer.evictions] == ["", "10 s", "", "5 s"]
    assert said(answer) == (
        "Evictions: 4. Pods that ran again: 2. Most were for ReplicaSet urgent: 2. Most pods were lost by "
        "ReplicaSet web: 2. Until a pod ran again: median 5 s, longest 10 s."
    )


def test_the_trace_of_a_sandbox_has_its_evictions_and_bindings() -> None:
    objects = [
        priority_class("high", 1000),
        make_node("node-0", "2"),
        make_workload("ReplicaSet", "web", "1", 2),
    ]
    sandbox = settled(objects)
    sandbox.create([make_pod("urgent", "1", priorityClassName="high")])
    sandbox.run(f"time {sandbox.now() + 60 * SECOND}")
    events = [event for _, event in sandbox.trace()]
    answer = sum_evictions(*evictions_of_trace(events), owners_of(sandbox.list_all()))
    assert [(each.by, each.priority_class) for each in answer.causes] == [("default/urgent", "high")]
    assert [(each.owner, each.count, each.ran_again) for each in answer.suffered] == [
        ("ReplicaSet web", 1, 0)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_the_sums_are_those_of_every_eviction_compared_with_every_binding(seed: int) -> None:
    """The nth eviction of an owner's pods ran again with the nth later binding that no earlier one took."""
    random = Random(seed)
    pods = [replica(f"{owner}-{i:05}", owner) for owner in ("web", "db") for i in range(3)]
    names = [f"shop/{pod['metadata']['name']}" for pod in pods]
    evictions = [noted(second, random.choice(names), random.choice(names)) for second in range(0, 40, 4)]
    bindings = [bound(second, random.choice(names)) for second in range(1, 60, 4)]
    answer = sum_evictions(evictions, bindings, Owners(pods))
    left, waits = [*bindings], []
    for eviction in evictions:
        later = [each for each in left if each.time > eviction.time and each.pod[5:7] == eviction.pod[5:7]]
        waits.append(f"{(later[0].time - eviction.time) // SECOND} s" if later else "")
        if later:
            left.remove(later[0])
    assert [each.ran_again for each in reversed(answer.evictions)] == waits
    for owner in ("web", "db"):
        suffered = sum(owner in each.pod for each in evictions)
        assert suffered == sum(each.count for each in answer.suffered if owner in each.owner)
        caused = sum(owner in each.by for each in evictions)
        assert caused == sum(each.count for each in answer.causes if owner in each.by)
    assert {each.pod: each.count for each in answer.repeated} == {
        name: count for name in names if (count := sum(each.pod == name for each in evictions)) > 1
    }


def test_without_evictions_the_answer_says_so() -> None:
    assert said(sum_evictions([], [], Owners([]))) == "No pod was evicted."


def test_evictions_for_a_pod_that_is_gone_are_not_said_to_be_for_anybody() -> None:
    answer = sum_evictions([noted(10, "shop/web-aaaaa", "")], [], Owners([]))
    assert str(answer.summary[1]) == (
        "Of most it is not known who caused them: 1. Most pods were lost by shop/web-aaaaa: 1."
    )
