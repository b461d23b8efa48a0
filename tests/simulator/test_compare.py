"""Two schedulers side by side: the figures, and the first difference."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from simulator.__main__ import main
from simulator.api import SECOND, Change, Manifest
from simulator.apiserver.server import ApiServer
from simulator.commands.run import START
from simulator.compare.answer import Comparison, Curve, PlacedPod, RunOutcome, WaitTimes
from simulator.compare.comparison_run import ComparisonRun, Side
from simulator.compare.place_again import place_pods_again
from simulator.compare.time_series import MAX_POINTS, TimeSeries
from simulator.compare.workload import ComparedWorkload, workload_of_scenario
from simulator.decision_columns import decision_decoder
from simulator.memory import MemoryStorage
from simulator.objects.metadata import key_of, name_of
from simulator.queueing.queue_version import QueueVersion
from simulator.scenario import load_scenario
from simulator.simulation import Options, Simulation
from simulator.trace import CycleStarted

SCENARIOS = Path(__file__).parents[2] / "schedviz" / "scenarios"

PACKING = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "scoringStrategy": {
                            "type": "MostAllocated",
                            "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
                        }
                    },
                }
            ]
        }
    ],
}

FOUR_NODES = (
    "apiVersion: schedviz/v1\nkind: Scenario\nmetadata: {name: four}\nspec: {pace: 100ms}\n"
    + "".join(
        f"---\napiVersion: v1\nkind: Node\nmetadata: {{name: node-{number}, labels: "
        f"{{topology.kubernetes.io/zone: zone-{number % 2}}}}}\n"
        "status: {allocatable: {cpu: '4', memory: 8Gi, pods: '10'}}\n"
        for number in range(4)
    )
)
ONE_EACH_SECOND = """---
at: 1s
every: 1s
until: 4s
apiVersion: v1
kind: Pod
metadata: {generateName: web-}
spec:
  containers: [{name: main, image: web, resources: {requests: {cpu: "1", memory: 2Gi}}}]
"""


def compared(text: str, a: Side, b: Side, seconds: int = 60) -> Comparison:
    comparing = ComparisonRun(workload_of_scenario(load_scenario(text), START), a, b, seconds * SECOND)
    progress = list(comparing.run())
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    return comparing.result()


def curve(side: RunOutcome, name: str) -> Curve:
    found = side.curve(name)
    assert found is not None
    return found


def waits(side: RunOutcome, priority: int) -> WaitTimes:
    return next(each for each in side.waits if each.priority == priority)


def test_the_fifo_starves_the_urgent_pod_that_the_current_queue_binds_within_seconds() -> None:
    scenario = (SCENARIOS / "queue-starvation.yaml").read_text()
    found = compared(
        scenario,
        Side(queue=QueueVersion.FIFO, seed=1),
        Side(queue=QueueVersion.KUBERNETES, seed=1),
        seconds=120,
    )
    line, today = waits(found.a, 100_000), waits(found.b, 100_000)
    assert (line.bound, line.pending) == (0, 1)
    assert line.longest_pending == 110 * SECOND  # it comes after 10 s
    assert (today.bound, today.pending) == (1, 0)
    assert today.median is not None
    assert today.median < 5 * SECOND
    assert found.a.preempted > found.b.preempted > 0  # the room is made again and again
    assert curve(found.a, "preempted").last == found.a.preempted
    assert found.difference is not None
    assert found.difference.kind == "pod"
    first = found.difference
    assert first.a is not None
    assert first.b is not None
    assert first.a.pod != first.b.pod
    assert first.a.cycle == first.b.cycle == first.cycle


def test_packing_fills_one_node_where_the_default_spreads_over_all() -> None:
    found = compared(FOUR_NODES + ONE_EACH_SECOND, Side(), Side(config=PACKING))
    spread, packed = found.a, found.b
    assert spread.bound == packed.bound == 4
    for side in (spread, packed):  # 4 of 16 cpu, whichever way
        assert curve(side, "requested:cpu").last == 25.0
        assert curve(side, "pending").last == 0
    assert curve(spread, "load-deviation").last == 0  # each node holds one
    assert curve(spread, "zone-deviation").last == 0
    # One node at 100 %, three at 0: mean 25, deviation sqrt((75² + 3·25²) / 4); zones at 50 and 0.
    assert curve(packed, "load-deviation").last == 43.3
    assert curve(packed, "zone-deviation").last == 25
    assert found.difference is not None
    assert (found.difference.cycle, found.difference.kind) == (2, "node")


def test_fragmentation_is_what_is_free_in_pieces_too_small_for_the_largest_pod() -> None:
    large = """---
at: 10s
apiVersion: apps/v1
kind: Deployment
metadata: {name: large}
spec:
  replicas: 1
  selector: {matchLabels: {app: large}}
  template:
    metadata: {labels: {app: large}}
    spec:
      containers: [{name: main, image: web, resources: {requests: {cpu: "4", memory: 1Gi}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: too-large-for-any-node}
spec:
  containers: [{name: main, image: web, resources: {requests: {cpu: "64"}}}]
"""
    found = compared(FOUR_NODES + ONE_EACH_SECOND + large, Side(), Side(config=PACKING))
    assert found.reference["cpu"] == 4000  # a pod that nothing can hold measures nothing
    # Every node has lost 1 of 4 cpu: none of the 12 that are free is in one piece.
    assert curve(found.a, "fragmentation").peak == 100
    assert curve(found.b, "fragmentation").last < 40
    assert [each.pending for each in (waits(found.a, 0), waits(found.b, 0))] == [2, 1]


def test_pending_pods_have_a_cause_and_free_resources_are_unusable_where_none_of_them_fits() -> None:
    waiting = """---
at: 1s
apiVersion: v1
kind: Pod
metadata: {name: no-node-has-so-much}
spec:
  containers: [{name: main, image: web, resources: {requests: {cpu: "8", memory: 1Gi}}}]
---
at: 20s
apiVersion: v1
kind: Pod
metadata: {name: nowhere}
spec:
  nodeSelector: {disk: ssd}
  containers: [{name: main, image: web, resources: {requests: {cpu: "1", memory: 1Gi}}}]
---
at: 30s
apiVersion: v1
kind: Node
metadata: {name: large}
status: {allocatable: {cpu: "16", memory: 16Gi, pods: "110"}}
"""
    side = compared(FOUR_NODES + waiting, Side(), Side()).a

    def at(name: str, second: int) -> float:
        return [value for time, value in curve(side, name).points if time <= second * SECOND][-1]

    assert [at("pending:Insufficient cpu", each) for each in (0, 10, 50)] == [0, 1, 0]
    assert [at("pending:node(s) didn't match Pod's node affinity/selector", each) for each in (10, 25)] == [
        0,
        1,
    ]
    assert [at("unusable", each) for each in (0, 10, 25)] == [0, 100, 0]  # the requests of the second fit
    assert side.distribution is not None
    assert side.distribution.points[-1][1] == 100
    assert 20 * SECOND < side.distribution.points[-1][0] < 60 * SECOND


def test_the_cause_of_a_gang_without_room_is_in_the_words_of_the_scheduler() -> None:
    """Each of its pods fits by itself, so no plugin rejects it, and there is no error."""
    text = (SCENARIOS / "two-gangs.yaml").read_text()
    gangs = Side(features=load_scenario(text).features)
    side = compared(text, gangs, gangs, 30).a
    causes = {each.name for each in side.curves if each.name.startswith("pending:")}
    assert causes == {"pending:in queue", "pending:Insufficient cpu", "pending:pod group is unschedulable"}


def test_the_same_scheduler_twice_gives_the_same_figures_and_another_seed_other_nodes() -> None:
    scenario = (SCENARIOS / "priority-starvation.yaml").read_text()
    found = compared(scenario, Side(seed=7), Side(seed=7))
    assert found.difference is None
    assert found.complete
    assert found.a == found.b
    assert found.a.cycles > 5
    assert compared(scenario, Side(seed=7), Side(seed=7)) == found
    other = compared(FOUR_NODES + ONE_EACH_SECOND, Side(seed=1), Side(seed=2))
    assert other.difference is not None
    assert other.difference.kind == "node"


def test_a_comparison_stopped_at_any_time_has_both_sides_at_the_same_time() -> None:
    comparing = ComparisonRun(
        workload_of_scenario(load_scenario((SCENARIOS / "queue-starvation.yaml").read_text()), START),
        Side(queue=QueueVersion.FIFO),
        Side(),
        120 * SECOND,
    )
    for done in comparing.run():
        if done > 0.5:
            break
    found = comparing.result()
    assert not found.complete
    assert 60 * SECOND <= found.end < 70 * SECOND
    ends = [curve(side, "pending").points[-1][0] for side in (found.a, found.b)]
    assert ends == [found.end, found.end]


def test_a_curve_of_any_length_keeps_its_ends_its_peak_and_its_mean_in_300_points() -> None:
    track = TimeSeries("pending", "pods")
    for second in range(10_000):
        track.add(second * SECOND, 9_999 if second == 5_001 else second % 2)
    found = track.curve(10_000 * SECOND)
    assert MAX_POINTS / 2 < len(found.points) <= MAX_POINTS
    assert found.points[0] == (0, 0.0)
    assert found.points[-1] == (10_000 * SECOND, 1.0)
    assert [time for time, _ in found.points] == sorted({time for time, _ in found.points})
    assert (found.peak, found.last) == (9_999, 1.0)
    assert found.mean == pytest.approx((5_000 + 9_998) / 10_000, abs=0.01)


def test_the_command_prints_a_table_or_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario, packing = tmp_path / "four.yaml", tmp_path / "packing.json"
    scenario.write_text(FOUR_NODES + ONE_EACH_SECOND)
    packing.write_text(json.dumps(PACKING))
    asked = ["compare", str(scenario), "--b", str(packing), "--until", "30s"]
    assert main(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(
        line.split()[:3] == ["load-deviation,", "peak", "0"] or "43.3 points" in line for line in lines
    )
    assert any(line.startswith("first difference: cycle 2: A default/web-") for line in lines)
    assert main([*asked, "-o", "json"]) == 0
    assert decision_decoder(Comparison).decode(capsys.readouterr().out).b.bound == 4
    packing.write_text("apiVersion: v1\nkind: Pod\n")
    assert main(asked) == 1
    assert "expected one KubeSchedulerConfiguration" in capsys.readouterr().err


OLD = "2024-01-01T00:00:00Z"


def bound_pod(name: str, node: str, created: str = OLD, cpu: str = "1", **fields: Any) -> Manifest:
    """A pod of a cluster that runs."""
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    metadata = {"name": name, "namespace": "default", "uid": name, "creationTimestamp": created}
    spec, status = {"containers": [container], "nodeName": node}, {"phase": "Running"}
    pod: Manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}
    return {**pod, **{field: {**pod[field], **value} for field, value in fields.items()}}


def running_cluster(*pods: Manifest) -> ComparedWorkload:
    """Four nodes with pods."""
    workload = workload_of_scenario(load_scenario(FOUR_NODES), START)
    changes = [Change("pods", key_of(pod), pod, 0) for pod in pods]
    return replace(workload, objects=[*workload.objects, *changes])


def device_claim(name: str, *users: str) -> Change:
    """A claim with an allocation, which pods use."""
    claim: Manifest = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {},
        "status": {
            "allocation": {},
            "reservedFor": [{"resource": "pods", "name": user, "uid": user} for user in users],
        },
    }
    return Change("resourceclaims.resource.k8s.io", key_of(claim), claim, 0)


OWNER = {"apiVersion": "v1", "kind": "Node", "name": "node-0", "uid": "n", "controller": True}
STAY = [
    bound_pod("done", "node-0", status={"phase": "Succeeded"}),
    bound_pod("failed", "node-0", status={"phase": "Failed"}),
    bound_pod("going", "node-0", metadata={"deletionTimestamp": "2025-01-01T00:00:00Z"}),
    bound_pod("mirror", "node-0", metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}),
    bound_pod("static", "node-0", metadata={"ownerReferences": [OWNER]}),
]


def test_bound_pods_are_placed_again_in_the_order_of_their_creation() -> None:
    status = {"podIP": "10.0.0.1", "qosClass": "Burstable", "resourceClaimStatuses": [{"name": "gpu"}]}
    late = bound_pod("late", "node-1", "2024-06-01T00:00:00Z", status=status)
    early = [
        bound_pod(f"early-{number}", "node-2", f"2024-05-0{9 - number}T00:00:00Z") for number in range(1, 9)
    ]
    urgent = bound_pod("urgent", "node-3", "2024-07-01T00:00:00Z", spec={"priority": 100})
    workload = running_cluster(late, *STAY, *early, urgent)
    attached = {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": "a"}}
    claims = [device_claim("gpu", "late"), device_claim("shared", "late", "static")]
    changes = [*claims, Change("volumeattachments.storage.k8s.io", "a", attached, 0)]
    workload = place_pods_again(replace(workload, objects=[*workload.objects, *changes]))
    objects = {(change.resource, change.key): change.object or {} for change in workload.objects}
    pods = [each for (resource, _), each in objects.items() if resource == "pods"]
    placed = [name_of(pod) for pod in pods if "nodeName" not in pod["spec"]]
    order = [f"early-{number}" for number in range(8, 0, -1)]
    assert placed == [*order, "late", "urgent"]
    assert workload.nodes_before["default/late"] == "node-1"
    kept = {field: status[field] for field in ("qosClass", "resourceClaimStatuses")}
    assert objects["pods", "default/late"]["status"] == {"phase": "Pending", **kept}
    assert {name_of(pod) for pod in pods} - {*placed} == {name_of(pod) for pod in STAY}
    assert objects["resourceclaims.resource.k8s.io", "default/gpu"]["status"] == {}
    assert "allocation" in objects["resourceclaims.resource.k8s.io", "default/shared"]["status"]
    assert ("volumeattachments.storage.k8s.io", "a") not in objects
    # The scheduler takes them from the queue in that order, after those with a higher priority.
    api = MemoryStorage()
    api.commit([change for change in workload.objects if change.resource in ("nodes", "pods")])
    simulation = Simulation(api, ApiServer, Options(pace=workload.pace))
    popped: list[str] = []
    while len(popped) < len(placed):
        simulation.observe(api.take_events())
        simulation.step(max(START, simulation.next_due() or START))
        popped += [each.pod for each in simulation.take_trace() if isinstance(each, CycleStarted)]
    assert popped == [f"default/{name}" for name in ("urgent", *order, "late")]


def test_a_comparison_says_which_pods_move() -> None:
    pods = [
        bound_pod(f"p{number}", f"node-{number % 4}", f"2024-05-0{number}T00:00:00Z")
        for number in range(1, 9)
    ]
    as_it_is = running_cluster(bound_pod("huge", "node-0", cpu="64"), *pods)
    found = result_of(as_it_is, Side(PACKING))
    assert (found.difference, found.placed, found.kept) == (None, None, 9)
    again = place_pods_again(as_it_is)
    found = result_of(again, Side(PACKING))
    placed = found.placed
    assert placed is not None
    assert (found.kept, placed.total, placed.without_node_a, placed.without_node_b) == (0, 9, 1, 1)
    assert PlacedPod("default/huge", "node-0", "", "") in placed.moves
    assert len({pod.b for pod in placed.moves if pod.b}) == 2, "MostAllocated fills two nodes of four cores"
    differs = [pod.a != pod.b for pod in placed.moves]
    assert differs == sorted(differs, reverse=True)
    assert placed.different == sum(differs)
    equal = result_of(again, Side()).placed
    assert equal is not None
    assert equal.different == 0
    assert equal.moved_a == equal.moved_b


def result_of(workload: ComparedWorkload, b: Side) -> Comparison:
    comparing = ComparisonRun(workload, Side(), b, 60 * SECOND)
    for _ in comparing.run():
        pass
    return comparing.result()
