"""Fits, more and add in tiny clusters, compared with all placements that
:mod:`tests.questions.exhaustive` finds."""

from collections.abc import Sequence
from itertools import combinations
from random import Random

import pytest

from simulator.api import Manifest
from simulator.questions.add_nodes import AddAnswer, AddParameters, NodeShape
from simulator.questions.fits import FitsAnswer, FitsParameters
from simulator.questions.how_many_more import MoreAnswer, MoreParameters
from tests.amounts import long_but_first
from tests.questions.clusters import (
    ask,
    asked,
    budget,
    make_node,
    make_pod,
    make_workload,
    priority_class,
    said,
)
from tests.questions.exhaustive import Search, Unit, copies, placement
from tests.questions.random_clusters import RULES, nodes_of, pod_of, running, search_of

CASES = long_but_first([(0, "spread"), *((seed, rule) for rule in RULES for seed in (1, 2))])


@pytest.mark.parametrize("kind", long_but_first(["StatefulSet", "Deployment", "DaemonSet", "Job"]))
@pytest.mark.parametrize("case", CASES)
def test_pods_that_fit_are_where_they_may_be_and_no_further_one_fits(
    case: tuple[int, str], kind: str
) -> None:
    seed, rule = case
    random = Random(seed)
    cluster = asked([*nodes_of(random, 3), make_pod("old", "500m", "node-1")])
    web = make_workload(kind, "web", random.choice(("500m", "1")), 3, **RULES[rule]("web"))
    pod = pod_of(web)
    search = search_of(cluster)
    units = copies(pod, 3)
    if kind == "StatefulSet":
        units = [Unit([pod] * 3, ordered=True)]
    elif kind == "DaemonSet":
        units = [Unit([_pinned(pod, name)]) for name in search.nodes]
    elif kind == "Job":
        spec = {**web["spec"]["template"]["spec"], "restartPolicy": "Never"}
        template = {**web["spec"]["template"], "spec": spec}
        web["apiVersion"], web["spec"] = (
            "batch/v1",
            {"parallelism": 3, "completions": 3, "template": template},
        )
    answer = ask(cluster, FitsParameters([web]))
    assert isinstance(answer, FitsAnswer)
    found = [("web", each.node) for each in answer.pods if each.node]
    ends = search.ends(running(cluster), units)
    assert tuple(sorted([*placement(running(cluster)), *found])) in ends
    assert answer.figure == len(found)


def _pinned(pod: Manifest, node: str) -> Manifest:
    """Return the pod of a DaemonSet for a node."""
    rule = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    affinity = {**pod["spec"].get("affinity", {})}
    affinity["nodeAffinity"] = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [rule]}
    }
    cordon = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
    tolerations = [*pod["spec"].get("tolerations", ()), cordon]
    return {**pod, "spec": {**pod["spec"], "affinity": affinity, "tolerations": tolerations}}


@pytest.mark.parametrize("seed", long_but_first(range(8)))
def test_the_victims_are_those_of_the_least_importance(seed: int) -> None:
    """All sets of victims on all nodes: first few budgets are violated, then the most important victim is the
    least one, then the sum."""
    random = Random(seed)
    classes = [priority_class(f"p{value}", value) for value in (10, 20, 1000)]
    objects = [*classes, *(make_node(f"node-{i}", "1500m") for i in range(3))]
    protected = random.sample(range(9), 3)
    importance = {}
    for i in range(9):
        value = random.choice((0, 10, 20))
        importance[f"default/pod-{i}"] = value
        more = {"priorityClassName": f"p{value}"} if value else {}
        objects.append(make_pod(f"pod-{i}", "500m", f"node-{i % 3}", **more))
        if i in protected:
            objects.append(budget(f"pod-{i}", f"pod-{i}", minAvailable=1))
    answer = ask(asked(objects), FitsParameters([make_pod("urgent", "1", priorityClassName="p1000")]))
    assert isinstance(answer, FitsAnswer)
    assert (answer.figure, {each.after for each in answer.evicted}) == (1, {"not created"})

    def cost(pods: Sequence[str]) -> tuple[int, int, int]:
        violated = sum(f"default/pod-{i}" in pods for i in protected)
        return violated, max(importance[pod] for pod in pods), sum(importance[pod] for pod in pods)

    sets = [
        pair
        for node in range(3)
        for pair in combinations([f"default/pod-{i}" for i in range(9) if i % 3 == node], 2)
    ]
    victims = tuple(sorted(each.pod for each in answer.evicted))
    assert victims in sets
    assert cost(victims) == min(map(cost, sets))


@pytest.mark.parametrize("case", CASES)
def test_as_many_more_fit_as_no_further_one_does(case: tuple[int, str]) -> None:
    seed, rule = case
    random = Random(seed)
    cluster = asked([*nodes_of(random, 3), make_pod("old", "500m", "node-1")])
    web = make_pod("web", "1", **RULES[rule]("web"))
    answer = ask(cluster, MoreParameters([web]))
    assert isinstance(answer, MoreAnswer)
    found = [("web", each.node) for each in answer.places for _ in range(each.count)]
    ends = search_of(cluster).ends(running(cluster), copies(web, 10))
    assert tuple(sorted([*placement(running(cluster)), *found])) in ends


@pytest.mark.parametrize("case", CASES)
def test_a_mix_is_counted_until_a_whole_set_may_not_fit(case: tuple[int, str]) -> None:
    """Which set is the last depends on where the pods of those before are: the count is one that occurs."""
    seed, rule = case
    random = Random(seed)
    cluster = asked([*nodes_of(random, 3), make_pod("old", "500m", "node-1")])
    web, cache = make_pod("web", "500m", **RULES[rule]("cache")), make_pod("cache", "1")
    answer = ask(cluster, MoreParameters([web, cache], [2, 1]))
    assert isinstance(answer, MoreAnswer)
    search, by = search_of(cluster), {"web": web, "cache": cache, "old": make_pod("old", "500m")}
    ways, sets, counts = {placement(running(cluster))}, 0, set()
    while ways:
        after = set()
        for way in ways:
            ends = search.ends([(by[app], node) for app, node in way], [*copies(web, 2), Unit([cache])])
            whole = {end for end in ends if len(end) == len(way) + 3}
            if len(whole) < len(ends):
                counts.add(sets)
            after |= whole
        ways, sets = after, sets + 1
    assert answer.figure in counts


@pytest.mark.parametrize("case", [(2, "near"), *CASES[1:]])
def test_with_the_nodes_that_are_needed_all_run_that_can_and_with_fewer_not(case: tuple[int, str]) -> None:
    seed, rule = case
    random = Random(seed)
    full, zone = make_node("node-0", "500m", "b"), "ab"[seed % 2]
    cluster = asked([full, make_pod("old", "500m", "node-0")])
    pods = [make_pod("web", "1", **RULES[rule]("web" if seed % 2 else "cache")) for _ in range(3)]
    pods.append(make_pod("cache", "1"))
    for number, pod in enumerate(pods):
        name = f"pod-{number}"
        pod["metadata"] |= {"name": name, "namespace": "default", "uid": name}
        pod["spec"]["schedulerName"] = "default-scheduler"
        cluster.objects["pods"][f"default/{name}"] = pod
    cpu = random.choice(("1", "2"))
    answer = ask(cluster, AddParameters([NodeShape("s", make_node("s", cpu, zone))]))
    assert isinstance(answer, AddAnswer)
    least, most = [], []
    for count in range(5):
        added = [make_node(f"s-{i}", cpu, zone) for i in range(1, count + 1)]
        ends = Search([full, *added]).ends(running(cluster), [Unit([pod]) for pod in pods])
        least.append(min(map(len, ends)) - 1)
        most.append(max(map(len, ends)) - 1)
    [found] = answer.shapes
    assert max(least) <= found.run <= most[found.nodes]
    assert all(count < found.run for count in least[: found.nodes])


def test_a_pending_pod_runs_beside_another_pending_one_that_it_needs() -> None:
    """It is the older one: its first attempt comes before the other has a node."""
    cluster = asked(
        [make_node("node-0", "1"), make_pod("web", "2", **RULES["near"]("")), make_pod("old", "2")]
    )
    answer = ask(cluster, AddParameters([NodeShape("s", make_node("s", "4"))]))
    assert said(answer) == "Nodes like s that are needed: 1. With them, 2 of 2 pending pods run."


def test_a_nominated_pod_that_gets_another_node_leaves_its_room() -> None:
    cluster = asked(
        [make_node("node-0", "3"), make_pod("big", "4", priorityClassName="system-node-critical")]
    )
    cluster.objects["pods"]["default/big"]["status"]["nominatedNodeName"] = "node-0"
    small = {**make_pod("small", "3"), "status": {}}
    small["metadata"] |= {"namespace": "default", "uid": "small"}
    small["spec"]["schedulerName"] = "default-scheduler"
    cluster.objects["pods"]["default/small"] = small
    answer = ask(cluster, AddParameters([NodeShape("s", make_node("s", "4"))]))
    assert said(answer) == "Nodes like s that are needed: 1. With them, 2 of 2 pending pods run."


def test_pods_that_would_not_be_queued_do_not_fit_and_the_gate_is_named() -> None:
    gated = make_pod("web", schedulingGates=[{"name": "example.com/wait"}])
    answer = ask(asked([make_node("node-0")]), MoreParameters([gated]))
    assert answer.figure == 0
    assert "example.com/wait" in said(answer)
