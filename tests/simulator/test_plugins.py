"""Rules of single plugins with edge cases (the recorded results under tests/conformance cover the others)."""

from typing import Any

import numpy as np
import pytest

from simulator.framework.normalize import default_normalize_score
from simulator.objects.pod import Pod, Toleration, normalized_image_name
from simulator.plugins.node_resources.resource_allocation import (
    Allocation,
    UtilizationShapePoint,
    balanced_allocation,
    requested_to_capacity_ratio,
)
from simulator.scheduler.attempt_record import record
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import V1_34_1
from tests.simulator.builders import a_cluster, a_framework, a_node, a_pod, attempt, reasons, selected


def scores(plugin: str, made: Any) -> list[int]:
    return next(s.raw.tolist() for s in made.scores if s.plugin == plugin)


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        (Toleration("k", "Exists", "", ""), True),
        (Toleration("k", "", "v", "NoSchedule"), True),
        (Toleration("k", "Equal", "w", ""), False),
        (Toleration("k", "Exists", "", "NoExecute"), False),
        (Toleration("", "Exists", "", ""), True),
        (Toleration("", "", "v", ""), True),
        (Toleration("k", "In", "v", ""), False),
    ],
)
def test_when_a_toleration_tolerates(toleration: Toleration, tolerated: bool) -> None:
    assert toleration.tolerates("k", "v", "NoSchedule") is tolerated


def test_v1_34_1_names_the_first_untolerated_taint_in_the_nodes_order() -> None:
    taints = [
        {"key": "soft", "effect": "PreferNoSchedule"},
        {"key": "a", "effect": "NoSchedule"},
        {"key": "b", "value": "1", "effect": "NoExecute"},
        {"key": "c", "effect": "NoSchedule"},
    ]
    cluster = a_cluster([a_node("n", taints=taints)])
    pod = a_pod("p", tolerations=[{"key": "a", "operator": "Exists"}])
    assert reasons(attempt(cluster, pod)) == {"n": ["node(s) had untolerated taint(s)"]}
    older = attempt(cluster, pod, a_framework(features=Features(V1_34_1)))
    assert reasons(older) == {"n": ["node(s) had untolerated taint {b: 1}"]}


def test_a_request_above_the_allocatable_makes_the_node_unresolvable_with_any_other_shortage() -> None:
    full = a_pod("full", "3", nodeName="busy")
    cluster = a_cluster([a_node("busy"), a_node("small", "1", pods="0"), a_node("crowded", pods="1")], [full])
    cluster.add_pod(Pod.parse(a_pod("other", nodeName="crowded")))
    decision = record(attempt(cluster, a_pod("p", "2")))
    verdicts = {
        decision.failures[v - 1].code: decision.failures[v - 1].reasons for v in decision.verdicts if v
    }
    assert verdicts == {
        "Unschedulable": ["Too many pods"],
        "UnschedulableAndUnresolvable": ["Insufficient cpu", "Too many pods"],
    }
    assert reasons(attempt(cluster, a_pod("empty"))) == {
        "small": ["Too many pods"],
        "crowded": ["Too many pods"],
    }


def test_ignored_resources_are_those_of_extended_names_only() -> None:
    node = a_node("n")
    framework = a_framework(
        pluginConfig=[
            {
                "name": "NodeResourcesFit",
                "args": {
                    "ignoredResources": ["hugepages-2Mi", "b.com/x"],
                    "ignoredResourceGroups": ["a.com"],
                },
            }
        ]
    )
    pod = a_pod("p")
    pod["spec"]["containers"][0]["resources"]["requests"] = {
        "hugepages-2Mi": "2Mi",
        "b.com/x": "1",
        "a.com/y": "1",
    }
    assert reasons(attempt(a_cluster([node]), pod, framework)) == {"n": ["Insufficient hugepages-2Mi"]}


def allocation(allocatable: list[int], requested: list[int], weight: int = 1) -> Allocation:
    return Allocation(weight, np.array(allocatable), np.array(requested))


def test_balance_is_half_the_difference_of_two_fractions_and_the_deviation_of_more() -> None:
    two = [allocation([4, 4, 0], [1, 8, 5]), allocation([4, 4, 4], [3, 4, 1])]
    assert balanced_allocation(two, (3,)).tolist() == [75, 100, 100], (
        "over-used counts as full; one resource alone is balanced"
    )
    three = [*two, allocation([4, 0, 4], [2, 0, 3])]
    assert balanced_allocation(three, (3,)).tolist() == [int((1 - (0.125 / 3) ** 0.5) * 100), 100, 75]


def test_a_falling_shape_truncates_towards_zero_and_the_mean_is_rounded() -> None:
    shape = [UtilizationShapePoint(0, 10), UtilizationShapePoint(30, 3)]
    scorer = requested_to_capacity_ratio(shape)
    assert scorer([allocation([100], [1])], 1).tolist() == [98], "100 - 70 / 30 truncated to 2"
    assert scorer([allocation([100], [1]), allocation([100], [30], weight=2)], 1).tolist() == [53]
    to_zero = requested_to_capacity_ratio([UtilizationShapePoint(0, 0), UtilizationShapePoint(100, 10)])
    assert to_zero([allocation([10], [0]), allocation([10], [4])], 1).tolist() == [40], (
        "a score of 0 does not weigh"
    )
    assert to_zero([allocation([10], [11])], 1).tolist() == [100]


def test_normalizing_truncates_and_an_all_zero_column_is_best_in_reverse() -> None:
    assert default_normalize_score(np.array([1, 3, 0]), reverse=False).tolist() == [33, 100, 0]
    assert default_normalize_score(np.array([1, 3, 0]), reverse=True).tolist() == [67, 0, 100]
    assert default_normalize_score(np.array([0, 0]), reverse=True).tolist() == [100, 100]


def test_an_image_counts_with_the_size_first_reported_and_by_how_widely_it_is_spread() -> None:
    def holding(name: str, size: int) -> dict[str, Any]:
        node = a_node(name)
        node["status"]["images"] = [{"names": ["repo/app:latest"], "sizeBytes": size}]
        return node

    pod = a_pod("p")
    pod["spec"]["containers"][0]["image"] = "repo/app"
    cluster = a_cluster([holding("n0", 1000 << 20), holding("n1", 1), a_node("n2")])
    assert scores("ImageLocality", attempt(cluster, pod)) == [65, 65, 0]
    cluster.remove_node("n1")
    assert scores("ImageLocality", attempt(cluster, pod)) == [48, 0]


@pytest.mark.parametrize(
    ("image", "completed"),
    [
        ("app", "app:latest"),
        ("host:5000/app", "host:5000/app:latest"),
        ("app:1", "app:1"),
        ("a@sha256:0", "a@sha256:0"),
    ],
)
def test_only_a_missing_tag_is_completed(image: str, completed: str) -> None:
    assert normalized_image_name(image) == completed


def port(number: int, **more: Any) -> list[dict[str, Any]]:
    return [{"name": "c", "ports": [{"containerPort": 1, "hostPort": number, **more}]}]


@pytest.mark.parametrize(
    ("wanted", "free"),
    [
        (port(80), False),
        (port(80, hostIP="10.0.0.1"), False),
        (port(80, hostIP="10.0.0.2"), True),
        (port(80, hostIP="10.0.0.1", protocol="UDP"), True),
        (port(81), True),
    ],
)
def test_a_host_port_is_taken_per_address_and_protocol(wanted: list[dict[str, Any]], free: bool) -> None:
    user = a_pod("user", nodeName="n")
    user["spec"]["containers"] = port(80, hostIP="10.0.0.1")
    pod = a_pod("p")
    pod["spec"]["containers"] = wanted
    assert bool(len(attempt(a_cluster([a_node("n")], [user]), pod).feasible)) is free


def test_node_affinity_narrows_only_where_every_term_names_nodes() -> None:
    def by_name(*names: str) -> dict[str, Any]:
        return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": list(names)}]}

    def looked_at(*terms: dict[str, Any]) -> Any:
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
        made = attempt(
            a_cluster([a_node("n0"), a_node("n1")]), a_pod("p", affinity={"nodeAffinity": required})
        )
        assert made.pre_filter is not None
        return made.pre_filter.node_names, made.message

    assert looked_at(by_name("n0"), by_name("ghost")) == ({"ghost", "n0"}, "")
    labelled = {"matchExpressions": [{"key": "k", "operator": "Exists"}]}
    assert looked_at(by_name("n0"), labelled) == (None, "")
    conflict = {"matchFields": [*by_name("n0")["matchFields"], *by_name("n1")["matchFields"]]}
    assert looked_at(conflict) == (None, "0/2 nodes are available: pod affinity terms conflict.")
    assert looked_at(by_name("ghost")) == (
        {"ghost"},
        "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    )


def test_a_plugin_without_its_earlier_half_fails_the_attempt_with_upstreams_words() -> None:
    framework = a_framework(plugins={"preFilter": {"disabled": [{"name": "NodeResourcesFit"}]}})
    decision = record(attempt(a_cluster([a_node("n0"), a_node("n1")]), a_pod("p"), framework))
    assert decision.outcome == "error"
    assert decision.message == (
        'running "NodeResourcesFit" filter plugin: '
        'error reading "PreFilterNodeResourcesFit" from cycleState: not found'
    )


@pytest.mark.parametrize("count", [14, 130])  # more than a table of combinations, and a word of bits, have
def test_a_pod_may_request_many_resources(count: int) -> None:
    resources = {f"example.com/r{i}": "1" for i in range(count)}
    last = f"example.com/r{count - 1}"
    nodes = [a_node(name) for name in ("n", "other", "small")]
    for node in nodes:
        node["status"]["allocatable"] |= resources
    nodes[1]["status"]["allocatable"]["example.com/r3"] = "0"
    nodes[2]["status"]["allocatable"] |= {last: "0", "pods": "0"}
    pod = a_pod("p")
    pod["spec"]["containers"][0]["resources"]["requests"] = resources
    made = attempt(a_cluster(nodes), pod)
    assert selected(made) == "n"
    assert reasons(made) == {
        "other": ["Insufficient example.com/r3"],
        "small": ["Too many pods", f"Insufficient {last}"],
    }
