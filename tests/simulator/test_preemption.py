from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.cluster.cluster import Cluster
from simulator.cluster.pod_columns import PodColumns
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import FilterPlugin, Plugin, PostFilterPlugin, PreFilterExtensions
from simulator.framework.node_batch import CopiedNodes, NodeBatch
from simulator.framework.per_node import NodeInfo, PerNodeFilter
from simulator.framework.pre_filter import run_pre_filter
from simulator.framework.runtime import Framework
from simulator.framework.status import Status, Verdicts, error, unschedulable
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.objects.volumes import BIND_COMPLETED, CSI_NODES, PVCS, PVS
from simulator.plugins.default_preemption import DefaultPreemption
from simulator.plugins.registry import in_tree, load
from simulator.preemption.candidates import join_candidates, make_candidates
from simulator.preemption.disruption_budgets import list_budgets, pods_violating_pdbs
from simulator.preemption.dry_run import select_victims_by_columns, select_victims_on_node
from simulator.preemption.eligibility import importance_key
from simulator.preemption.select_candidate import pick_one_node
from simulator.scheduler.attempt_record import record
from tests.amounts import examples
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


KEYS = ("kubernetes.io/hostname", "zone")
DISKS = [{"gcePersistentDisk": {"pdName": "d", "readOnly": read_only}} for read_only in (True, False)]
CLAIMS = [{"persistentVolumeClaim": {"claimName": name}} for name in ("once", "c0", "c1")]

APPS = ("x", "y")
TRAITS = ("ports", "affinity", "spreading", "volumes")

app_selectors = st.sampled_from(
    [*({"matchLabels": {"app": app}} for app in APPS), {"matchExpressions": []}]  # the last one: all pods
)
affinity_terms = st.lists(
    st.fixed_dictionaries({"topologyKey": st.sampled_from(KEYS), "labelSelector": app_selectors}), max_size=2
)
affinities = st.fixed_dictionaries(
    {},
    optional={
        kind: affinity_terms.map(lambda terms: {"requiredDuringSchedulingIgnoredDuringExecution": terms})
        for kind in ("podAffinity", "podAntiAffinity")
    },
)
constraints = st.fixed_dictionaries(
    {
        "maxSkew": st.integers(1, 2),
        "topologyKey": st.sampled_from(KEYS),
        "whenUnsatisfiable": st.just("DoNotSchedule"),
        "labelSelector": app_selectors,
    },
    optional={
        "minDomains": st.integers(1, 3),
        "nodeAffinityPolicy": st.sampled_from(["Honor", "Ignore"]),
        "nodeTaintsPolicy": st.sampled_from(["Honor", "Ignore"]),
    },
)
host_ports = st.lists(
    st.fixed_dictionaries(
        {"hostPort": st.sampled_from([80, 81])},
        optional={"hostIP": st.sampled_from(["10.0.0.1", "10.0.0.2"])},
    ),
    max_size=2,
)
volumes = st.lists(st.sampled_from([*DISKS, *CLAIMS, {"emptyDir": {}}]), max_size=2)


@st.composite
def pods(draw: st.DrawFn, name: str, cpus: list[str], traits: set[str], **spec: Any) -> dict[str, Any]:
    pod = a_pod(name, draw(st.sampled_from(cpus)), labels={"app": draw(st.sampled_from(APPS))}, **spec)
    if "ports" in traits:
        pod["spec"]["containers"][0]["ports"] = draw(host_ports)
    if "affinity" in traits:
        pod["spec"]["affinity"] = draw(affinities)
    if "volumes" in traits:
        pod["spec"]["volumes"] = [{"name": f"v{i}", **source} for i, source in enumerate(draw(volumes))]
    return pod


@st.composite
def full_clusters(draw: st.DrawFn, traits: set[str]) -> Cluster:
    """Up to four nodes in up to two zones, some tainted, some that can attach one volume only, with pods."""
    count = draw(st.integers(2, 4))
    cluster = Cluster()
    for i in range(count):
        labels = {"kubernetes.io/hostname": f"n{i}", "zone": draw(st.sampled_from("ab"))}
        if draw(st.integers(0, 5)) == 0:
            del labels["zone"]
        taints = [{"key": "k", "effect": "NoSchedule"}] if draw(st.integers(0, 5)) == 0 else []
        cluster.add_node(Node.parse(a_node(f"n{i}", pods="4", labels=labels, taints=taints)))
        if "volumes" in traits and draw(st.booleans()):
            driver = {"name": "csi.example.com", "allocatable": {"count": 1}}
            csi_node = {"metadata": {"name": f"n{i}"}, "spec": {"drivers": [driver]}}
            cluster.set_object(CSI_NODES, f"n{i}", csi_node)
    for name in ("once", "c0", "c1"):
        cluster.set_object(PVCS, f"default/{name}", a_claim(name))
        csi = {"driver": "csi.example.com", "volumeHandle": name}
        cluster.set_object(PVS, name, {"metadata": {"name": name}, "spec": {"csi": csi}})
    for i in range(draw(st.integers(count, 4 * count))):
        pod = draw(pods(f"p{i}", ["", "500m", "2"], traits, priority=draw(st.sampled_from([-1, 0, 1, 1, 5]))))
        pod["spec"]["nodeName"] = f"n{i % count}"
        pod["status"] = {"startTime": START.format(draw(st.integers(0, 2)))}
        if draw(st.integers(0, 5)) == 0:
            pod["metadata"]["deletionTimestamp"] = "2025-01-02T00:00:00Z"
        cluster.add_pod(Pod.parse(pod))
    return cluster


def a_claim(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "annotations": {BIND_COMPLETED: "yes"}}
    mode = "ReadWriteOncePod" if name == "once" else "ReadWriteOnce"
    return {"metadata": metadata, "spec": {"volumeName": name, "accessModes": [mode]}}


@st.composite
def preemptions(draw: st.DrawFn) -> tuple[Cluster, Pod]:
    """A cluster and a preemptor. In it, and in the preemptor, are at most two things for which filter plugins
    look at the pods on nodes."""
    traits = draw(st.sets(st.sampled_from(TRAITS), max_size=2))
    manifest = draw(pods("p", ["", "500m", "3500m", "5"], traits, priority=4))
    if "spreading" in traits:
        manifest["spec"]["topologySpreadConstraints"] = draw(st.lists(constraints, min_size=1, max_size=2))
    if draw(st.booleans()):
        manifest["spec"]["tolerations"] = [{"key": "k", "operator": "Exists"}]
    return draw(full_clusters(traits)), Pod.parse(manifest)


@pytest.mark.sampled
@settings(deadline=None, max_examples=examples(300))
@given(
    preemptions(),
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(APPS)), max_size=2),
    st.integers(1, 8),
)
def test_many_nodes_at_once_give_the_victims_that_node_by_node_gives(
    preemption: tuple[Cluster, Pod], pdbs: list[tuple[int, str]], enough: int
) -> None:
    cluster, pod = preemption
    for i, (allowed, app) in enumerate(pdbs):
        cluster.set_object("poddisruptionbudgets.policy", f"b{i}", a_budget(f"b{i}", allowed, {"app": app}))
    framework, state = a_framework(), CycleState(cluster)
    if run_pre_filter(framework, state, pod).status is not None:
        return
    assert framework.filters_by_columns(state)
    rows = np.arange(cluster.width)
    found = select_victims_by_columns(framework, state, pod, rows, list_budgets(cluster), enough=enough)
    assert len(found.codes) == len(rows) or len(found.candidates.rows) <= enough
    assert len(found.candidates.rows) == np.count_nonzero(found.codes == 0)
    rows = rows[: len(found.codes)]
    candidates = dict(zip(found.candidates.rows.tolist(), range(len(rows)), strict=False))
    for row in rows.tolist():
        alone = select_victims_on_node(framework, state, pod, row, list_budgets(cluster))
        code = int(found.codes[row])
        if isinstance(alone, Status):
            assert found.statuses[code - 1] == alone
            continue
        i = candidates[row]
        victims, violating = alone
        assert code == 0
        assert found.candidates.victims(i) == victims
        assert found.candidates.pdb_violations()[i] == sum(v.key in violating for v in victims)


class OneOfAnApp(PerNodeFilter):
    """Looks at the pods of the node only."""

    name = "OneOfAnApp"

    def filter_node(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        taken = any(other.labels == pod.labels for other in info.pods)
        return unschedulable("app is there") if taken else None


class OneOfAnAppInTheCluster(PreFilterExtensions, FilterPlugin):
    """Counts pods in PreFilter, and has no ColumnExtensions."""

    name = "OneOfAnAppInTheCluster"

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> None:
        pods = state.cluster.pods.values()
        state.write(self.name, sum(other.labels == pod.labels for other in pods))

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int) -> None:
        state.write(self.name, state.read(self.name) + (added.labels == pod.labels))

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int) -> None:
        state.write(self.name, state.read(self.name) - (removed.labels == pod.labels))

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts:
        return Verdicts(np.full(len(nodes), state.read(self.name) > 0), (unschedulable("app is there"),))


def test_what_a_copy_of_nodes_has_requested_is_that_without_its_removed_pods() -> None:
    pods = [bound("a", "1", 1), bound("b", "2", 2), bound("c", "4", 3, "n1")]
    cluster = a_cluster([a_node("n0"), a_node("n1")], pods)
    slot = cluster.index(PodColumns).slot(cluster.pods["default/b"])
    by_slot, one_by_one = (CopiedNodes(cluster, np.arange(2)) for _ in range(2))
    by_slot.remove_slots(np.array([0]), np.array([slot]))
    one_by_one.remove_pods(0, [cluster.pods["default/b"]])
    for nodes in (by_slot, one_by_one):
        assert nodes.requested("cpu").tolist() == [1000, 4000]
        assert nodes.copy_nodes(np.array([1])).requested("cpu").tolist() == [4000]
        assert NodeInfo(nodes, 0).requested == {"cpu": 1000, "memory": 0, "ephemeral-storage": 0}
    by_slot.add_slots(np.array([0]), np.array([slot]))
    one_by_one.add_pod(0, cluster.pods["default/b"])
    assert by_slot.requested("cpu").tolist() == one_by_one.requested("cpu").tolist() == [3000, 4000]


@pytest.mark.parametrize(("plugin", "by_columns"), [(OneOfAnApp, True), (OneOfAnAppInTheCluster, False)])
def test_a_plugin_of_ones_own_evicts_the_pods_that_it_rejects_for(
    plugin: type[Plugin], by_columns: bool
) -> None:
    enabled = {"multiPoint": {"enabled": [{"name": plugin.name}]}}
    registry = {**in_tree(), plugin.name: plugin}
    framework = Framework(load({"profiles": [{"plugins": enabled}]}, registry).profiles[0], registry)
    pods = [
        bound("a", "1", 1, "n0", labels={"app": "x"}),
        bound("b", "1", 1, "n0", labels={"app": "y"}),
        bound("c", "1", 9, "n1", labels={"app": "x" if by_columns else "y"}),
    ]
    cluster = a_cluster([a_node("n0"), a_node("n1")], pods)
    pod = a_pod("p", "1", priority=5, labels={"app": "x"})
    state = CycleState(cluster)
    run_pre_filter(framework, state, Pod.parse(pod))
    assert framework.filters_by_columns(state) is by_columns
    found = record(attempt(cluster, pod, framework)).preemption
    assert found is not None
    assert [(c.node, [v.pod for v in c.victims]) for c in found.candidates] == [("n0", ["default/a"])]


def test_candidates_are_compared_rule_by_rule() -> None:
    def a_candidate(row: int, *victims: tuple[int, int], violating: int = 0) -> Any:
        pods = [Pod.parse(bound(f"p{row}-{i}", "1", p, started=s)) for i, (p, s) in enumerate(victims)]
        pods.sort(key=importance_key)
        return row, pods, {p.key for p in pods[:violating]}

    def decided(*candidates: Any) -> tuple[list[int], int]:
        left, rule = pick_one_node(make_candidates(candidates))
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
    one = make_candidates([(3, [Pod.parse(bound("a", "1", 1))], set())])
    two = make_candidates(
        [(5, [Pod.parse(bound("b", "1", 2)), Pod.parse(bound("c", "1", 1))], {"default/b"})]
    )
    both = join_candidates([one, two])
    assert both.rows.tolist() == [3, 5]
    assert [[p.name for p in both.victims(i)] for i in (0, 1)] == [["a"], ["b", "c"]]
    assert both.pdb_violations().tolist() == [0, 1]


def test_a_budget_is_used_up_in_order_and_ignores_pods_already_being_disrupted() -> None:
    cluster = a_cluster([])
    pods = [Pod.parse(bound(f"p{i}", "1", 9 - i, labels={"app": "x"})) for i in range(3)]
    unlabelled = Pod.parse(bound("plain", "1", 0))
    manifest = a_budget("b", 1, {"app": "x"}, disruptedPods={"p0": "2025-01-01T00:00:00Z"})
    cluster.set_object("poddisruptionbudgets.policy", "default/b", manifest)
    empty = {"metadata": {"name": "e", "namespace": "default"}, "spec": {"selector": {}}}
    cluster.set_object("poddisruptionbudgets.policy", "default/e", empty)
    assert pods_violating_pdbs([*pods, unlabelled], list_budgets(cluster)) == {"default/p2"}


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
def test_pods_that_may_not_preempt(pod: dict[str, Any], reason: str) -> None:
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
    before = cluster.requested.column("cpu").tolist()
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
    assert cluster.requested.column("cpu").tolist() == before


def test_the_arguments_bound_the_number_of_candidates() -> None:
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


class Ending(PostFilterPlugin):
    """Ends PostFilter by an error, before DefaultPreemption."""

    name = "Ending"

    def post_filter(self, state: Any, pod: Any, diagnosis: Any) -> Any:
        return None, error("broken")


class OwnPreemption(DefaultPreemption):
    name = "OwnPreemption"


@pytest.mark.parametrize("preemption", [DefaultPreemption, OwnPreemption])
def test_preemption_is_shown_where_a_plugin_before_it_failed(preemption: type[DefaultPreemption]) -> None:
    """Only what asks for everything shows it. It nominates no node."""
    registry = {**in_tree(), "Ending": Ending, preemption.name: preemption}
    enabled = {
        "enabled": [{"name": "Ending"}, {"name": preemption.name}],
        "disabled": [{"name": "*"}],
    }
    config = {"profiles": [{"plugins": {"postFilter": enabled}}]}
    framework = Framework(load(config, registry).profiles[0], registry)
    for exhaustive, nodes in ((True, ["n0"]), (False, None)):
        cluster = a_cluster([a_node("n0")], [bound("a", "3", 1)])
        made = attempt(cluster, a_pod("p", "2", priority=9), framework, exhaustive=exhaustive)
        found = record(made).preemption
        assert (found and [candidate.node for candidate in found.candidates]) == nodes
        assert (made.nominated_node, made.candidate) == (None, None)
        assert record(made).message.endswith("broken")
