"""Two schedulers side by side: the figures, and the first difference."""

import json
from pathlib import Path

import pytest

from simulator.__main__ import main
from simulator.api import SECOND
from simulator.commands.run import START
from simulator.compare.answer import Comparison, Curve, RunOutcome, WaitTimes
from simulator.compare.comparison_run import ComparisonRun, Side
from simulator.compare.time_series import MAX_POINTS, TimeSeries
from simulator.compare.workload import workload_of_scenario
from simulator.decision_columns import decision_decoder
from simulator.scenario import load_scenario

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
    found = compared(scenario, Side(queue="fifo", seed=1), Side(queue="v1.34", seed=1), seconds=120)
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
        Side(queue="fifo"),
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
    assert lines[-1].startswith("first difference: cycle 2: A default/web-")
    assert main([*asked, "-o", "json"]) == 0
    assert decision_decoder(Comparison).decode(capsys.readouterr().out).b.bound == 4
    packing.write_text("apiVersion: v1\nkind: Pod\n")
    assert main(asked) == 1
    assert "expected one KubeSchedulerConfiguration" in capsys.readouterr().err
