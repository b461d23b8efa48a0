from collections import Counter
from typing import Any

import pytest

from simulator.cluster.cluster import Cluster
from simulator.decision import NodeSample
from simulator.framework.interface import MAX_NODE_SCORE
from simulator.objects.pod import Pod
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import record
from simulator.scheduler.schedule_result import num_feasible_nodes_to_find
from tests.simulator.builders import a_cluster, a_framework, a_node, a_pod, attempt, reasons, selected


def test_the_steps_of_an_attempt_are_the_extension_points_that_are_run() -> None:
    cluster = a_cluster([a_node("n0"), a_node("n1")])
    framework = a_framework()

    def steps(cluster: Cluster, **spec: Any) -> list[str]:
        return list(Attempt(framework, cluster, Pod.parse(a_pod("p", **spec)), {}).run())

    assert steps(cluster) == ["PreFilter", "Filter", "PreScore", "Score"]
    assert steps(cluster, cpu="9") == ["PreFilter", "Filter", "PostFilter"]
    assert steps(cluster, nodeSelector={"disk": "none"}) == ["PreFilter", "Filter", "PostFilter"]
    assert steps(a_cluster([a_node("n0")])) == ["PreFilter", "Filter"], "there is nothing to choose"


def test_without_nodes_nothing_is_run() -> None:
    made = attempt(a_cluster([]), a_pod("p"))
    decision = record(made)
    assert (decision.message, decision.outcome) == ("no nodes available to schedule pods", "unschedulable")
    assert decision.pre_filter is None


def test_ties_are_broken_by_seed_and_cycle_independent_of_the_order_of_nodes() -> None:
    names = [f"n{i}" for i in range(20)]
    chosen = []
    for order in (names, names[::-1]):
        cluster = a_cluster(a_node(name) for name in order)
        chosen.append([selected(attempt(cluster, a_pod("p"), seed=7, cycle=c)) for c in range(50)])
    assert chosen[0] == chosen[1]
    assert len(Counter(chosen[0])) > 10, "spread over the nodes"
    other_seed = [selected(attempt(cluster, a_pod("p"), seed=8, cycle=c)) for c in range(50)]
    assert other_seed != chosen[0]


@pytest.mark.parametrize(
    ("nodes", "percentage", "enough"),
    [
        (99, 10, 99),
        (100, 10, 100),
        (1000, 30, 300),
        (1000, 0, 420),
        (5000, 0, 500),
        (6000, 0, 300),
        (900, 5, 100),
    ],
)
def test_how_many_feasible_nodes_are_enough(nodes: int, percentage: int, enough: int) -> None:
    assert num_feasible_nodes_to_find(nodes, percentage) == enough


def test_a_search_that_stops_early_continues_from_there_next_time() -> None:
    cluster = a_cluster(a_node(f"n{i}", "1" if i % 2 else "4") for i in range(400))
    framework = a_framework(percentageOfNodesToScore=25)
    first = attempt(cluster, a_pod("p", "2"), framework)
    found = {cluster.node(row).name for row in first.feasible.tolist()}
    assert found == {f"n{i}" for i in range(0, 200, 2)}
    assert set(reasons(first)) == {f"n{i}" for i in range(1, 200, 2)}, (
        "a node that was not checked has no verdict"
    )
    assert first.next_start_node_index == 200
    again = attempt(cluster, a_pod("p", "2"), framework, start_node_index=first.next_start_node_index)
    assert {cluster.node(row).name for row in again.feasible.tolist()} == {
        f"n{i}" for i in range(200, 400, 2)
    }
    decision = record(again)
    assert decision.verdicts.count(-1) == 200
    assert decision.sample == NodeSample("n200", looked_at=200, nodes=400, feasible=100)
    assert record(attempt(cluster, a_pod("p", "2"))).sample is None, "all nodes were checked"


def test_a_nominated_node_that_fails_counts_as_processed_wherever_it_is() -> None:
    """findNodesThatFitPod adds up the statuses, and has that of the nominated node already."""
    cluster = a_cluster(a_node(f"n{i}", "1" if i == 300 else "4") for i in range(400))
    framework = a_framework(percentageOfNodesToScore=25)
    pod = a_pod("p", "2", status={"nominatedNodeName": "n300"})
    first = attempt(cluster, pod, framework)
    decision = record(first)
    assert first.next_start_node_index == 101
    assert decision.sample == NodeSample("n0", looked_at=101, nodes=400, feasible=100)
    again = record(attempt(cluster, pod, framework, start_node_index=101)).sample
    assert again
    assert again.first == "n101"


def test_only_some_of_the_nodes_that_pre_filter_allows_are_checked() -> None:
    cluster = a_cluster(a_node(f"n{i}") for i in range(400))
    framework = a_framework(percentageOfNodesToScore=25)
    names = [f"n{i}" for i in range(0, 400, 2)]
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [n]}]} for n in names]
    node_affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    pod = a_pod("p", affinity={"nodeAffinity": node_affinity})
    first = attempt(cluster, pod, framework)
    decision = record(attempt(cluster, pod, framework, start_node_index=first.next_start_node_index))
    assert decision.sample == NodeSample("n200", looked_at=100, nodes=400, feasible=100)


def test_without_a_score_plugin_the_first_feasible_node_is_chosen_and_no_other_checked() -> None:
    cluster = a_cluster([a_node("n0", "1"), a_node("n1"), a_node("n2")])
    framework = a_framework(plugins={"score": {"disabled": [{"name": "*"}]}})
    first = attempt(cluster, a_pod("p", "2"), framework)
    decision = record(first)
    assert (decision.selected, decision.verdicts) == ("n1", [1, 0, -1])
    again = attempt(cluster, a_pod("p", "2"), framework, start_node_index=first.next_start_node_index)
    assert record(again).selected == "n2", "the search goes on from there"


def test_every_score_of_every_plugin_is_kept_and_in_range() -> None:
    nodes = [a_node(f"n{i}", "8", labels={"disk": "ssd"} if i else {}) for i in range(3)]
    preferred = {"weight": 5, "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}}
    decision = record(attempt(a_cluster(nodes), a_pod("p", "1", affinity=affinity)))
    by_plugin = {s.plugin: s for s in decision.scores}
    assert by_plugin["NodeAffinity"].raw == [0, 5, 5]
    assert by_plugin["NodeAffinity"].normalized == [0, 100, 100]
    assert by_plugin["NodeAffinity"].weighted == [0, 200, 200]
    assert all(0 <= n <= MAX_NODE_SCORE for s in decision.scores for n in s.normalized)
    assert decision.totals == [
        sum(column) for column in zip(*(s.weighted for s in decision.scores), strict=True)
    ]


def test_a_nominated_node_that_passes_ends_the_search() -> None:
    cluster = a_cluster([a_node("n0"), a_node("n1", "1")])
    pod = a_pod("p", "2", status={"nominatedNodeName": "n0"})
    decision = record(attempt(cluster, pod))
    assert (decision.selected, decision.nominated_shortcut, decision.verdicts) == ("n0", True, [0, -1])
    pod["status"]["nominatedNodeName"] = "n1"
    decision = record(attempt(cluster, pod))
    assert (decision.selected, decision.nominated_shortcut, decision.verdicts) == ("n0", False, [0, 1])


def test_resources_are_reserved_for_nominated_pods_of_equal_or_higher_priority_except_the_pod_itself() -> (
    None
):
    cluster = a_cluster([a_node("n0"), a_node("n1")])
    nominee = Pod.parse(a_pod("nominee", "3", priority=5))

    def fits(priority: int, uid: str = "p") -> list[str]:
        pod = a_pod("p", "2", priority=priority)
        pod["metadata"]["uid"] = uid
        made = attempt(cluster, pod, nominated={"n0": [nominee]})
        return sorted(cluster.node(row).name for row in made.feasible.tolist())

    assert fits(5) == ["n1"]
    assert fits(6) == ["n0", "n1"]
    assert fits(5, uid="nominee") == ["n0", "n1"]
    assert not cluster.requested.column("cpu").any(), "supposing leaves the cluster alone"


def test_a_node_with_a_nominated_pod_is_recorded_as_two_passes() -> None:
    cluster = a_cluster([a_node("n0", "4"), a_node("n1", "4")])
    coming = Pod.parse(a_pod("coming", "3", priority=10))
    nominated = {"n0": [coming]}
    passes = record(attempt(cluster, a_pod("p", "2", priority=5), nominated=nominated)).two_passes
    assert [(t.node, t.nominated, t.with_them, t.without_them) for t in passes] == [
        ("n0", ["default/coming"], False, True)
    ]
    assert not record(attempt(cluster, a_pod("p", "2", priority=50), nominated=nominated)).two_passes
