"""Drains and removals of nodes in tiny clusters, compared with all placements that
:mod:`tests.questions.exhaustive` finds."""

from itertools import combinations
from random import Random
from typing import Final

import pytest

from simulator.api import Manifest
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
