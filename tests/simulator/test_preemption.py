from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.framework.interface import CycleState, Status
from simulator.objects.pod import Pod
from simulator.preemption import on_columns
from simulator.preemption.budgets import budgets, pods_violating
from simulator.preemption.candidates import as_columns, joined, pick
from simulator.preemption.eligibility import importance
from simulator.preemption.on_node import select_victims_on_node
from simulator.scheduler.attempt_record import record
from tests.simulator.builders import a_cluster, a_framework, a_node, a_pod, attempt

START = "2025-01-01T00:00:0{}Z"


def bound(
    name: str, cpu: str, priority: int, node: str = "n0", started: int = 0, **more: Any
) -> dict[str, Any]:
    status = {"startTime": START.format(started)}
    return a_pod(name, cpu, priority=priority, nodeName=node, status=status, **more)


def a_budget(name: str, allowed: int, labels: dict[str, str], **status: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed, **status},
    }


lower_pods = st.lists(
    st.tuples(
        st.sampled_from(["500m", "1", "2"]),
        st.integers(-1, 6),
        st.integers(0, 2),
        st.sampled_from(["x", "y", ""]),
    ),
    max_size=5,
)


@settings(deadline=None)
@given(
    st.lists(lower_pods, min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["x", "y"])), max_size=2),
    st.sampled_from(["500m", "2", "3500m", "5"]),
)
def test_many_nodes_at_once_give_the_victims_that_node_by_node_gives(
    nodes: list[list[tuple[str, int, int, str]]], pdbs: list[tuple[int, str]], cpu: str
) -> None:
    cluster = a_cluster(a_node(f"n{i}", pods="4") for i in range(len(nodes)))
    for i, lower in enumerate(nodes):
        for k, (amount, priority, started, app) in enumerate(lower):
            labels = {"app": app} if app else {}
            cluster.add_pod(Pod.parse(bound(f"p{i}-{k}", amount, priority, f"n{i}", started, labels=labels)))
    for i, (allowed, app) in enumerate(pdbs):
        cluster.set_object("poddisruptionbudgets.policy", f"b{i}", a_budget(f"b{i}", allowed, {"app": app}))
    framework, state = a_framework(), CycleState(cluster)
    pod = Pod.parse(a_pod("p", cpu, priority=4))
    framework.run_pre_filter(state, pod)
    assert on_columns.applicable(framework, state)
    rows = np.arange(len(nodes))
    found = on_columns.select_victims(framework, state, pod, rows, budgets(cluster))
    candidates = dict(zip(found.candidates.rows.tolist(), range(len(nodes)), strict=False))
    for row in rows.tolist():
        alone = select_victims_on_node(framework, state, pod, row, budgets(cluster))
        code = int(found.codes[row])
        if isinstance(alone, Status):
            assert found.statuses[code - 1] == alone
            continue
        i = candidates[row]
        victims, violating = alone
        assert code == 0
        assert found.candidates.victims(i) == victims
        assert found.candidates.pdb_violations()[i] == sum(v.key in violating for v in victims)


def test_the_ladder_decides_rule_by_rule() -> None:
    def a_candidate(row: int, *victims: tuple[int, int], violating: int = 0) -> Any:
        pods = [Pod.parse(bound(f"p{row}-{i}", "1", p, started=s)) for i, (p, s) in enumerate(victims)]
        pods.sort(key=importance)
        return row, pods, {p.key for p in pods[:violating]}

    def decided(*candidates: Any) -> tuple[list[int], int]:
        left, rule = pick(as_columns(candidates))
        return left.rows.tolist(), rule

    assert decided(a_candidate(0, (1, 0))) == ([0], 0)
    assert decided(a_candidate(0, (1, 0), violating=1), a_candidate(1, (9, 0))) == ([1], 1)
    assert decided(a_candidate(0, (2, 0)), a_candidate(1, (1, 0), (1, 0), (1, 0))) == ([1], 2)
    assert decided(a_candidate(0, (2, 0), (1, 0)), a_candidate(1, (2, 0), (0, 0))) == ([1], 3)
    assert decided(a_candidate(0, (0, 0), (-5, 0)), a_candidate(1, (0, 0))) == ([1], 3), "fewer is less"
    lowest = -(1 << 31)
    assert decided(a_candidate(0, (0, 0), (lowest, 0)), a_candidate(1, (0, 0))) == ([1], 4)
    assert decided(a_candidate(0, (1, 0), (0, 5)), a_candidate(1, (1, 3), (0, 0))) == ([1], 5)
    assert decided(a_candidate(0, (1, 3)), a_candidate(1, (1, 3))) == ([0, 1], 6)


def test_candidates_of_different_widths_are_joined() -> None:
    one = as_columns([(3, [Pod.parse(bound("a", "1", 1))], set())])
    two = as_columns([(5, [Pod.parse(bound("b", "1", 2)), Pod.parse(bound("c", "1", 1))], {"default/b"})])
    both = joined([one, two])
    assert both.rows.tolist() == [3, 5]
    assert [[p.name for p in both.victims(i)] for i in (0, 1)] == [["a"], ["b", "c"]]
    assert both.pdb_violations().tolist() == [0, 1]


def test_a_budget_is_drawn_down_in_order_and_forgets_pods_already_being_disrupted() -> None:
    cluster = a_cluster([])
    pods = [Pod.parse(bound(f"p{i}", "1", 9 - i, labels={"app": "x"})) for i in range(3)]
    unlabelled = Pod.parse(bound("plain", "1", 0))
    manifest = a_budget("b", 1, {"app": "x"}, disruptedPods={"p0": "2025-01-01T00:00:00Z"})
    cluster.set_object("poddisruptionbudgets.policy", "default/b", manifest)
    empty = {"metadata": {"name": "e", "namespace": "default"}, "spec": {"selector": {}}}
    cluster.set_object("poddisruptionbudgets.policy", "default/e", empty)
    assert pods_violating([*pods, unlabelled], budgets(cluster)) == {"default/p2"}


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        ({"preemptionPolicy": "Never"}, "not eligible due to preemptionPolicy=Never."),
        (
            {"status": {"nominatedNodeName": "n0"}},
            "not eligible due to a terminating pod on the nominated node.",
        ),
        ({"status": {"nominatedNodeName": "gone"}}, ""),
    ],
)
def test_who_may_not_preempt(pod: dict[str, Any], reason: str) -> None:
    victim = bound("v", "3", 1)
    victim["metadata"]["deletionTimestamp"] = "2025-01-02T00:00:00Z"
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    victim["status"]["conditions"] = [condition]
    decision = record(attempt(a_cluster([a_node("n0")], [victim]), a_pod("p", "2", priority=5, **pod)))
    assert decision.preemption is not None
    assert (decision.preemption.eligible, decision.preemption.ineligible_reason) == (not reason, reason)
    if reason:
        assert decision.message == (
            f"0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: {reason}"
        )


def test_the_decision_names_victims_rule_and_figures_and_leaves_the_cluster_alone() -> None:
    pods = [
        bound("a", "2", 3, "n0"),
        bound("b", "2", 1, "n0", 5),
        bound("c", "2", 2, "n1"),
        bound("d", "2", 2, "n1"),
    ]
    cluster = a_cluster([a_node("n0"), a_node("n1"), a_node("n2", "1")], pods)
    before = cluster.requested.copy()
    nominee = Pod.parse(a_pod("nominee", "1", priority=0))
    decision = record(attempt(cluster, a_pod("p", "2", priority=9), nominated={"n0": [nominee]}))
    found = decision.preemption
    assert found is not None
    assert (decision.outcome, found.chosen, found.rule, found.code) == ("preempting", "n0", 2, "Success")
    chosen = next(c for c in found.candidates if c.node == "n0")
    assert [(v.pod, v.priority) for v in chosen.victims] == [("default/b", 1)]
    assert chosen.earliest_start == START.format(5)
    assert chosen.priority_sum == 1 + (1 << 31)
    assert chosen.cleared_nominations == ["default/nominee"]
    assert decision.message == "0/3 nodes are available: 3 Insufficient cpu."
    assert (cluster.requested == before).all()


def test_no_more_candidates_are_looked_for_than_the_arguments_ask() -> None:
    nodes = [a_node(f"n{i}") for i in range(30)]
    pods = [bound(f"p{i}", "3", 1, f"n{i}") for i in range(30)]
    args = {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 2}
    framework = a_framework(pluginConfig=[{"name": "DefaultPreemption", "args": args}])
    seen = set()
    for cycle in range(8):
        made = attempt(a_cluster(nodes, pods), a_pod("p", "2", priority=9), framework, cycle=cycle)
        found = record(made).preemption
        assert found is not None
        assert len(found.candidates) == 3
        seen.update(c.node for c in found.candidates)
    assert len(seen) > 6, "the search starts elsewhere in each cycle"
