"""Steps by extension point and by cycle, and runs until a condition: the trace is the same as without
steps."""

from pathlib import Path

import pytest

from simulator.api import SECOND, Change, Micros
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.server import ApiServer
from simulator.memory import MemoryStorage
from simulator.scenario import load_scenario
from simulator.scheduler.stepping import Stride, Unit, Until
from simulator.simulation import Options, Simulation
from simulator.trace import Bound, CycleStarted, Event, Nominated
from tests.simulator.lab import START, Lab, node, pod, priority_class

SCENARIOS = Path(__file__).parents[2] / "schedviz" / "scenarios"


class Recording(MemoryStorage):
    """Notes what is written, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[list[Change]] = []

    def commit(self, changes: list[Change]) -> list[int]:  # type: ignore[override]  # all that comes is a list
        self.commits.append(changes)
        return super().commit(changes)


def play(name: str, *, by_point: bool, end: Micros) -> tuple[list[Event], list[list[Change]]]:
    scenario, api = load_scenario((SCENARIOS / f"{name}.yaml").read_text()), Recording()
    api.commit(new_cluster(scenario.manifests, START, scenario.features))
    version, gates = scenario.features.version.patch, scenario.features.gates
    options = Options(scenario.seed, scenario.pace, scenario.config, kubernetes=version, feature_gates=gates)
    simulation = Simulation(api, ApiServer, options)
    trace: list[Event] = []
    now: Micros | None = START
    while now is not None and now <= end:
        simulation.observe(api.take_events())
        while simulation.step(now, by_point=by_point):
            trace += simulation.take_trace()
            simulation.observe(api.take_events())
        now = simulation.next_due()
    return trace, api.commits


@pytest.mark.parametrize("name", sorted(path.stem for path in SCENARIOS.glob("*.yaml")))
def test_running_by_points_gives_the_same_trace_and_the_same_writes(name: str) -> None:
    end = START + 20 * SECOND
    assert play(name, by_point=True, end=end) == play(name, by_point=False, end=end)


def stride(lab: Lab, unit: Unit) -> str:
    """Take one step. Returns the point before which the simulation is then stopped."""
    step = Stride(lab.simulation, unit, lab.now)
    while (at := step.next()) is not None:
        lab.now = max(lab.now, at)
        lab.simulation.step(lab.now, by_point=step.by_point)
        lab.collect()
    under_way = lab.simulation.under_way
    return under_way.point if under_way else ""


def two_pods(pace: Micros = 0) -> Lab:
    lab = Lab(Options(pace=pace))
    lab.create(node("n1"), node("n2"), pod("first"), pod("second"))
    return lab


@pytest.mark.parametrize("pace", [0, SECOND])
def test_a_pod_goes_from_point_to_point_and_is_bound_by_the_step_that_owns_it(pace: Micros) -> None:
    lab = two_pods(pace)
    seen = [stride(lab, "point") for _ in range(7)]
    assert seen == ["PreFilter", "Filter", "PreScore", "Score", "Reserve", "PreBind", "Bind"]
    assert lab.node_of("first") == ""
    assert [event.pod for event in lab.of(CycleStarted)] == ["default/first"]
    assert stride(lab, "point") == ""
    assert lab.node_of("first")
    assert stride(lab, "point") == "PreFilter"
    assert [event.pod for event in lab.of(CycleStarted)] == ["default/first", "default/second"]


def test_between_two_points_the_unfinished_decision_is_available() -> None:
    lab = two_pods()
    known = {}
    while (point := stride(lab, "point")) != "Reserve":
        under_way = lab.simulation.under_way
        assert under_way
        assert under_way.decision
        assert under_way.decision.outcome == ""
        known[point] = under_way.decision
    assert known["PreFilter"].pre_filter is None
    assert known["Filter"].pre_filter
    assert known["Filter"].verdicts == [-1, -1]
    assert known["PreScore"].verdicts == [0, 0]
    assert known["PreScore"].totals == []
    assert known["Score"].selected == ""
    under_way = lab.simulation.under_way
    assert under_way
    assert under_way.decision is None, "the whole one is there"
    assert lab.decisions[-1].selected


def test_the_step_of_post_filter_deletes_the_victims() -> None:
    lab = Lab()
    lab.create(node("n1"), priority_class("high", 1000), pod("low", cpu="4"))
    lab.run(1)
    lab.create(pod("urgent", cpu="4", priorityClassName="high"))
    while stride(lab, "point") != "PostFilter":
        assert not lab.of(Nominated)
    assert "deletionTimestamp" not in lab.pod("low")["metadata"]
    stride(lab, "point")
    assert lab.of(Nominated)
    assert "deletionTimestamp" in lab.pod("low")["metadata"]


@pytest.mark.parametrize("pace", [0, SECOND])
def test_a_step_by_cycle_takes_one_pod_from_the_queue_to_its_node(pace: Micros) -> None:
    lab = two_pods(pace)
    stride(lab, "cycle")
    assert lab.node_of("first")
    assert len(lab.of(CycleStarted)) == 1
    stride(lab, "point")
    stride(lab, "cycle")
    assert lab.node_of("second")
    before = lab.now
    stride(lab, "cycle")
    assert lab.simulation.next_due() is None
    assert lab.now >= before


def test_a_step_by_event_does_what_is_due_next_and_says_when_nothing_is() -> None:
    lab = two_pods(pace=SECOND)
    stride(lab, "event")
    assert lab.lane("first") == "activeQ"
    stride(lab, "event")
    assert [event.pod for event in lab.of(CycleStarted)] == ["default/first"]
    assert lab.now == START
    stride(lab, "event")
    assert lab.node_of("first")
    assert lab.now == START + SECOND
    while lab.simulation.next_due() is not None:
        before = len(lab.trace)
        stride(lab, "event")
        assert len(lab.trace) > before, "no step by event is empty here"
    assert lab.node_of("second")
    idle = Stride(lab.simulation, "event", lab.now)
    assert idle.next() is None
    assert idle.idle == "nothing-due"


def test_a_step_by_event_finishes_a_cycle_that_is_stopped_at_a_point() -> None:
    lab = two_pods()
    while stride(lab, "point") != "Filter":
        pass
    stride(lab, "event")
    assert lab.node_of("first")
    assert not lab.node_of("second")


def test_time_moves_to_the_next_due_work_within_a_bound() -> None:
    lab = Lab()
    lab.create(node("n1", cpu="1"), pod("waits", cpu="4"))
    stride(lab, "cycle")
    assert lab.lane("waits") == "unschedulable"
    stride(lab, "cycle")
    assert lab.now - START >= 300 * SECOND, "the flush of pods that waited too long is what came next"
    lab.delete_pod("waits")
    now = lab.now
    lab.run(0)
    stride(lab, "cycle")
    assert lab.now == now


def test_changes_during_a_cycle_are_handled_after_it() -> None:
    lab = two_pods()
    while stride(lab, "point") != "Filter":
        pass
    lab.delete("nodes", "n1")
    lab.create(pod("third"))
    assert stride(lab, "point") == "PreScore"
    under_way = lab.simulation.under_way
    assert under_way
    assert under_way.decision
    assert len(under_way.decision.nodes) == 2
    assert lab.lane("third") is None
    lab.run(1)
    assert lab.lanes == {}


def run_until(lab: Lab, condition: str) -> None:
    until = Until(condition)
    while not until.holds(lab.simulation):
        due = lab.simulation.next_due()
        assert due is not None
        lab.now = max(lab.now, due)
        lab.simulation.step(lab.now)
        before = len(lab.decisions)
        lab.collect()
        until.saw(lab.decisions[before:])


def bound(lab: Lab) -> list[str]:
    return [event.pod for event in lab.of(Bound)]


def test_a_run_stops_when_its_condition_holds() -> None:
    lab = two_pods()
    lab.create(pod("gated", schedulingGates=[{"name": "not-yet"}]))
    run_until(lab, "bound default/first")
    assert bound(lab) == ["default/first"]
    run_until(lab, "nothing-pending")
    assert bound(lab) == ["default/first", "default/second"]
    lab.create(
        priority_class("high", 1000),
        *(pod(f"batch-{i}", cpu="3") for i in range(2)),
        *(pod(f"urgent-{i}", cpu="4", priorityClassName="high") for i in range(2)),
    )
    run_until(lab, "preemption")
    assert len(lab.of(Nominated)) == 1


def test_a_run_ends_at_a_time_exactly() -> None:
    """It does all that is due up to then, and nothing that is due later."""
    for condition in ("before {}", "time {}", "bound default/nobody before {}", "preemption before {}"):
        lab = two_pods()
        end = lab.now + 10 * SECOND
        run_until(lab, condition.format(end))
        assert len(bound(lab)) == 2
        due = lab.simulation.next_due()
        assert due is None or due > end
    lab = two_pods()
    run_until(lab, f"bound default/first before {lab.now + 10 * SECOND}")
    assert bound(lab) == ["default/first"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "never",
        "bound",
        "bound web",
        "preemption default/web",
        "before",
        "before x",
        "never before 1",
        "time",
        "time x",
    ],
)
def test_a_condition_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="bound"):
        Until(text)


def test_a_step_to_the_next_decision_stops_before_each_deciding_point() -> None:
    lab = Lab(Options())
    lab.create(priority_class("high", 100), node("n1"), node("n2"), pod("first"))
    assert [stride(lab, "decision") for _ in range(4)] == ["PreFilter", "PreScore", "Reserve", ""]
    assert lab.node_of("first")
    lab.create(pod("giant", cpu="100"))
    assert [stride(lab, "decision") for _ in range(3)] == ["PreFilter", "PostFilter", ""]
