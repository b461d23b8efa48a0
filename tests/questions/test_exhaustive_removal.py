"""Drains and removals of nodes in tiny clusters, compared with all placements that
:mod:`tests.questions.exhaustive` finds."""

from collections.abc import Sequence
from itertools import combinations
from random import Random
from typing import Final

import pytest
from msgspec.structs import replace

from simulator.api import Manifest
from simulator.apiserver.resources import DISRUPTION_BUDGETS
from simulator.objects.node import ZONE
from simulator.questions.answer import AskedCluster
from simulator.questions.drain import DrainAnswer, DrainParameters
from simulator.questions.node_selection import NodeChoice
from simulator.questions.removable import RemovableAnswer, RemovableParameters
from tests.amounts import long_but_first
from tests.questions.clusters import ask, asked, budget, make_node, make_pod, make_workload
from tests.questions.exhaustive import Search, Unit, app_of, copies, placement
from tests.questions.random_clusters import RULES, nodes_of, pod_of, running, search_of

BUDGETS: Final[list[Manifest]] = [
    {"maxUnavailable": "34%"},
    {"minAvailable": "50%"},
    {"minAvailable": "100%"},
    {"maxUnavailable": 0},
    {"minAvailable": "50%", "unhealthyPodEvictionPolicy": "AlwaysAllow"},
    {"maxUnavailable": "1%"},
    {},
]
KINDS: Final = ("ReplicaSet", "StatefulSet", "DaemonSet", "Deployment")
CASES: Final = long_but_first(
    [(2, "spread"), *((seed, rule) for rule in RULES if rule != "tolerates" for seed in (1, 3, 4))]
)


def disruptions(spec: Manifest, expected: int, healthy: int) -> int:
    """Return how many healthy pods may be evicted at once; percentages are rounded up."""

    def scaled(value: int | str) -> int:
        return value if isinstance(value, int) else -(-expected * int(value.removesuffix("%")) // 100)

    if "maxUnavailable" in spec:
        return max(healthy - max(expected - scaled(spec["maxUnavailable"]), 0), 0)
    return max(healthy - scaled(spec["minAvailable"]), 0) if "minAvailable" in spec else 0


def cordoned(search: Search, names: tuple[str, ...]) -> Search:
    for name in names:
        node = search.nodes[name]
        search.nodes[name] = {**node, "spec": {**node["spec"], "unschedulable": True}}
    return search


def ask_drain(cluster: AskedCluster, nodes: tuple[str, ...]) -> DrainAnswer:
    answer = ask(cluster, DrainParameters(NodeChoice(nodes)))
    assert isinstance(answer, DrainAnswer)
    return answer


@pytest.mark.parametrize("case", CASES)
def test_a_drain_ends_where_rounds_of_evictions_may_end(case: tuple[int, str]) -> None:
    """Each round evicts what the budget allows; what runs elsewhere is healthy in the next one."""
    seed, rule = case
    random = Random(seed)
    kind, rules = random.choice(KINDS), budget("web", "web", **random.choice(BUDGETS))
    replicas, chosen = random.randint(1, 3), f"node-{random.randrange(3)}"
    web = make_workload(kind, "web", "500m", replicas, **RULES[rule]("web"))
    cluster = asked([*nodes_of(random, 3), make_pod("old", "500m", "node-1"), web, rules])
    answer = ask_drain(cluster, (chosen,))
    before, by = placement(running(cluster)), {"web": pod_of(web), "old": make_pod("old", "500m")}
    if kind == "DaemonSet":
        assert answer.pods == []
        because = sorted("no owner" if app == "old" else "daemon" for app, node in before if node == chosen)
        assert sorted(each.because for each in answer.kept) == because
        return
    search, ends = cordoned(search_of(cluster), (chosen,)), set()
    ways = {before}
    while ways:
        way = ways.pop()
        healthy = sum(app == "web" for app, _ in way)
        allowed = disruptions(rules["spec"], replicas, healthy)
        count = min(allowed, way.count(("web", chosen)))
        left = [*way]
        for _ in range(count):
            left.remove(("web", chosen))
        if not count:
            ends.add(way)
        else:
            pending = copies(by["web"], replicas - healthy + count)
            ways |= search.ends([(by[app], node) for app, node in left], pending)
    after = [*before]
    for each in answer.pods:
        after.remove(("web", each.node))
        after += [("web", each.to)] if each.to else []
    assert tuple(sorted(after)) in ends


@pytest.mark.parametrize("case", [*CASES, pytest.param((1, "tolerates"), marks=pytest.mark.long)])
def test_nodes_can_be_removed_whose_pods_have_other_nodes_in_all_ways(case: tuple[int, str]) -> None:
    """Where it depends on which nodes the pods get, both answers are right."""
    seed, rule = case
    random = Random(seed)
    kind, rules = random.choice(KINDS), budget("web", "web", **random.choice(BUDGETS))
    web = make_workload(kind, "web", "500m", random.randint(1, 3), **RULES[rule]("web"))
    cluster = asked([*nodes_of(random, 3), make_pod("old", "500m", "node-1"), web, rules])
    answer = ask(cluster, RemovableParameters(force=True))
    assert isinstance(answer, RemovableAnswer)
    pods = running(cluster)
    healthy = sum(app_of(pod) == "web" for pod, _ in pods)
    allowed = disruptions(rules["spec"], web["spec"].get("replicas", healthy), healthy)
    must, may = set(), set()
    for size in (1, 2, 3):
        for names in combinations(cluster.objects["nodes"], size):
            leaving = [
                pod for pod, node in pods if node in names and (app_of(pod) == "old" or kind != "DaemonSet")
            ]
            if not allowed and any(app_of(pod) == "web" for pod in leaving):
                continue
            staying = [(pod, node) for pod, node in pods if pod not in leaving]
            gone = [(app_of(pod), node) for pod, node in staying if node in names]
            ends = cordoned(search_of(cluster), names).ends(staying, [Unit([pod]) for pod in leaving])
            fine = [
                len(end) == len(pods) and sum(node in names for _, node in end) == len(gone) for end in ends
            ]
            may |= {names} if any(fine) else set()
            must |= {names} if all(fine) else set()
    alone = {(node.node,) for node in answer.tried if node.removable != "no"}
    assert {names for names in must if len(names) == 1} <= alone <= may
    assert max(map(len, must), default=0) <= answer.figure <= max(map(len, may), default=0)


HEALTH: Final[list[Manifest]] = [
    {"minAvailable": 1},
    {"minAvailable": 2},
    {"maxUnavailable": 1},
    {"maxUnavailable": 2, "unhealthyPodEvictionPolicy": "IfHealthyBudget"},
    {"minAvailable": 3, "unhealthyPodEvictionPolicy": "AlwaysAllow"},
]


def with_sick(cluster: AskedCluster, sick: Sequence[str], allowed: int) -> AskedCluster:
    """Return a cluster in which these pods are not ready, with the status of the budget that follows."""
    pods = {}
    for key, pod in cluster.objects["pods"].items():
        conditions = [
            {**each, "status": "False"} if key in sick and each["type"] == "Ready" else each
            for each in pod["status"]["conditions"]
        ]
        pods[key] = {**pod, "status": {**pod["status"], "conditions": conditions}}
    budgets = {
        key: {
            **each,
            "status": {
                **each["status"],
                "currentHealthy": len(pods) - len(sick),
                "disruptionsAllowed": allowed,
            },
        }
        for key, each in cluster.objects[DISRUPTION_BUDGETS.id].items()
    }
    objects = {**cluster.objects, "pods": pods, DISRUPTION_BUDGETS.id: budgets}
    return replace(cluster, objects=objects)


@pytest.mark.parametrize("seed", long_but_first(range(10)))
def test_unhealthy_pods_leave_as_the_policy_of_their_budget_says(seed: int) -> None:
    """Those of a budget that is met, and all with AlwaysAllow, leave without using it."""
    random = Random(seed)
    rules = budget("web", "web", **HEALTH[seed % len(HEALTH)])
    web = make_workload("ReplicaSet", "web", "1", 3)
    cluster = asked([*(make_node(f"node-{i}", "2") for i in range(3)), web, rules])
    nodes = {key: pod["spec"]["nodeName"] for key, pod in cluster.objects["pods"].items()}
    ill = random.sample(sorted(nodes), random.randint(1, 2))
    spec, pod = rules["spec"], pod_of(web)
    desired = spec["minAvailable"] if "minAvailable" in spec else 3 - spec["maxUnavailable"]

    def leave(healthy: int) -> tuple[int, bool]:
        """Return how many of the healthy pods may leave, and whether the others may."""
        always = spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow"
        return max(healthy - desired, 0), always or healthy >= desired

    allowed, all_ill = leave(3 - len(ill))
    cluster = with_sick(cluster, ill, allowed)
    answer = ask(cluster, RemovableParameters())
    assert isinstance(answer, RemovableAnswer)
    kept = {nodes[key] for key in nodes if not (all_ill if key in ill else allowed)}
    assert {each.node for each in answer.tried if each.removable == "no"} == kept
    chosen = tuple(random.sample(["node-0", "node-1", "node-2"], 2))
    drained = ask_drain(cluster, chosen)
    search, ends = cordoned(search_of(cluster), chosen), set[tuple[str, ...]]()
    well = tuple(sorted(node for key, node in nodes.items() if key not in ill))
    ways, seen = {(well, tuple(sorted(nodes[key] for key in ill)))}, set[tuple[tuple[str, ...], ...]]()
    while ways:
        way = ways.pop()
        seen.add(way)
        well, sick = way
        allowed, all_ill = leave(len(well))
        going = [node for node in well if node in chosen]
        staying = [node for node in sick if not (all_ill and node in chosen)]
        count = min(allowed, len(going))
        if not count and len(staying) == len(sick):
            ends.add(tuple(sorted(well + sick)))
            continue
        for leaving in combinations(going, count):
            left = [*well]
            for node in leaving:
                left.remove(node)
            there = [(pod, node) for node in [*left, *staying]]
            for end in search.ends(there, copies(pod, 3 - len(there))):
                now = [node for _, node in end]
                for node in staying:
                    now.remove(node)
                ways |= {(tuple(now), tuple(staying))} - seen
    after = [*nodes.values()]
    for each in drained.pods:
        after.remove(each.node)
        after += [each.to] if each.to else []
    assert tuple(sorted(after)) in ends


def test_a_volume_holds_its_pod_on_the_nodes_that_can_mount_it() -> None:
    """Two nodes of zone a can mount the volume of db."""
    volumes: list[Manifest] = [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "disk"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "zonal",
                "csi": {"driver": "disk.example.com", "volumeHandle": "1"},
                "nodeAffinity": {
                    "required": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}
                        ]
                    }
                },
            },
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "zonal",
                "volumeName": "disk",
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    ]
    mounts = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    nodes = [make_node(f"node-{i}", "2", "aab"[i]) for i in range(3)]
    cluster = asked([*nodes, *volumes, make_workload("StatefulSet", "db", "1", 1, volumes=mounts)])
    search = Search(nodes, {"data": ["node-0", "node-1"]})
    [(pod, at)] = running(cluster)
    [other] = {"node-0", "node-1"} - {at}
    [found] = ask_drain(cluster, (at,)).pods
    assert cordoned(search, (at,)).ends([], [Unit([pod])]) == {(("db", found.to),)} == {(("db", other),)}
    [found] = ask_drain(cluster, ("node-0", "node-1")).pods
    assert found.after == "pending"
    assert cordoned(search, ("node-0", "node-1")).ends([], [Unit([pod])]) == {()}
    answer = ask(cluster, RemovableParameters())
    assert answer.figure == 2
