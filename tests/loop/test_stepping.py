"""Steps and runs until a condition, by real workers: time stands still, so every outcome is exact."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schedviz.api.write import create, create_sandbox, edit
from schedviz.loop.clock import pause, resume, run_until, step
from schedviz.store import Clock, Meta, Sandbox
from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.new_cluster import new_cluster
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.request_options import WriteOptions
from simulator.apiserver.resources import find_by_kind
from simulator.apiserver.server import ApiServer
from simulator.commands.run import START, finish_scenario, run_simulation
from simulator.memory import MemoryStorage
from simulator.scenario import load_scenario
from simulator.scheduler.stepping import Unit
from simulator.simulation import Options, Simulation
from simulator.trace import (
    Bound,
    CycleCutOff,
    CycleStarted,
    Event,
    JobFinished,
    LeaderElected,
    Nominated,
    ObjectsCreated,
)
from simulator.versions.features import DEFAULT_FEATURES
from tests.amounts import long_but_first
from tests.loop.conftest import Arena, bound, node, pod
from tests.loop.test_recording import assert_replay_equals
from tests.waiting import eventually

SCENARIOS = Path(__file__).parents[2] / "schedviz" / "scenarios"

Make = Callable[..., Sandbox]


@pytest.fixture
def still(arena: Arena, sandbox_name: str) -> Iterator[Make]:
    """Makes the test's sandbox, paused at START."""

    def make(manifests: list[Manifest], meta: Meta | None = None) -> Sandbox:
        meta = meta or Meta(sandbox_name, created=START / SECOND, seed=1)
        sandbox = create_sandbox(arena.store, meta, manifests, Clock(START, time.time(), paused=True))
        arena.wake(sandbox_name)
        eventually(sandbox.lease, "the sandbox has a leader")
        return sandbox

    yield make
    arena.store.delete(sandbox_name)


def take(arena: Arena, sandbox: Sandbox, unit: Unit, count: int = 1) -> str:
    """Take steps, and wait until they are taken. Returns the point before which the sandbox is then
    stopped."""
    step(sandbox, unit, count)
    arena.wake(sandbox.name)
    eventually(lambda: not sandbox.clock().steps, "the steps are taken")
    under_way = sandbox.under_way()
    return under_way.point if under_way else ""


def traced(sandbox: Sandbox) -> list[Event]:
    return [event for _, event in sandbox.trace(0, count=100_000)]


def test_a_pod_is_bound_by_the_step_that_owns_it(arena: Arena, still: Make) -> None:
    sandbox = still([node("n1"), node("n2"), pod("web"), pod("next")])
    assert [take(arena, sandbox, "point") for _ in range(2)] == ["PreFilter", "Filter"]
    create(sandbox, [pod("meanwhile")])
    assert take(arena, sandbox, "point", 2) == "Score"
    under_way = sandbox.under_way()
    assert under_way
    assert under_way.pod == "default/web"
    assert under_way.decision
    assert len(under_way.decision.feasible) == 2
    assert sandbox.last_decision() is None
    assert [take(arena, sandbox, "point") for _ in range(3)] == ["Reserve", "PreBind", "Bind"]
    assert not bound(sandbox)
    assert take(arena, sandbox, "point") == ""
    assert list(bound(sandbox)) == ["web"]
    assert take(arena, sandbox, "cycle", 2) == ""
    assert set(bound(sandbox)) == {"web", "next", "meanwhile"}
    clock = sandbox.clock()
    assert clock.paused
    assert clock.sim == START


def test_a_step_that_did_nothing_leaves_its_reason_in_the_clock_until_the_next_act(
    arena: Arena, still: Make
) -> None:
    sandbox = still([node("n1")])
    take(arena, sandbox, "event", 100)
    assert sandbox.clock().idle == "nothing-due"
    create(sandbox, [pod("web")])
    take(arena, sandbox, "cycle")
    assert not sandbox.clock().idle
    take(arena, sandbox, "event", 100)
    take(arena, sandbox, "cycle")
    assert sandbox.clock().idle
    assert not resume(sandbox).idle


def test_time_moves_to_the_next_due_work_and_continues_from_there(arena: Arena, still: Make) -> None:
    sandbox = still([node("n1", cpu="1"), pod("big", cpu="2")])
    take(arena, sandbox, "cycle")
    assert sandbox.clock().sim == START
    take(arena, sandbox, "cycle")
    flushed = sandbox.clock().sim
    assert not sandbox.clock().idle
    assert flushed > START + 300 * SECOND, "until the flush of pods that waited for too long"
    assert resume(sandbox).sim == flushed
    assert pause(sandbox).sim >= flushed


def test_a_run_stops_exactly_at_its_moment(arena: Arena, still: Make) -> None:
    sandbox = still(
        [
            node("n1", cpu="1"),
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": "high"},
                "value": 1000,
            },
            pod("low", cpu="1"),
        ]
    )

    def run(condition: str) -> Clock:
        run_until(sandbox, condition)
        arena.wake(sandbox.name)
        return eventually(lambda: clock if (clock := sandbox.clock()).paused else None, condition)

    clock = run("bound default/low")
    assert traced(sandbox)[-1].t <= clock.sim
    assert not clock.until
    create(sandbox, [pod("urgent", cpu="1", priorityClassName="high", terminationGracePeriodSeconds=1)])
    clock = run("preemption")
    nominated = [event for event in traced(sandbox) if isinstance(event, Nominated)]
    assert [event.t for event in nominated] == [clock.sim]
    assert list(bound(sandbox)) == ["low"]
    with pytest.raises(ValueError, match="wanted"):
        run_until(sandbox, "never")


@pytest.mark.parametrize("name", sorted(path.stem for path in SCENARIOS.glob("*.yaml")))
@pytest.mark.parametrize("unit", long_but_first(["point", "cycle"]))
def test_a_scenario_gives_the_same_trace_in_a_sandbox_as_without_a_server(
    arena: Arena, still: Make, sandbox_name: str, name: str, unit: Unit
) -> None:
    scenario = load_scenario((SCENARIOS / f"{name}.yaml").read_text())
    meta = Meta(
        sandbox_name,
        created=START / SECOND,
        seed=scenario.seed,
        pace=scenario.pace,
        config=scenario.config,
        queue=scenario.queue,
        kubernetes=scenario.features.version.patch,
        feature_gates=scenario.features.gates,
    )
    sandbox = still(scenario.manifests, meta)
    while (now := sandbox.clock().sim) < START + 12 * SECOND:
        take(arena, sandbox, unit, 40 if unit == "point" else 5)
    expected = [event for event in finish_scenario(scenario, now - START).trace if event.t < now]
    got = [e for e in traced(sandbox) if e.t < now and not isinstance(e, LeaderElected)]
    assert got == expected


WORKLOADS = """
apiVersion: schedviz/v1
kind: Scenario
metadata: {name: workloads}
spec: {pace: 100ms, seed: 7}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "app:1", resources: {requests: {cpu: 500m}}}]}
---
at: 2s
apiVersion: batch/v1
kind: Job
metadata: {name: sum}
spec:
  completions: 3
  parallelism: 2
  template:
    metadata: {annotations: {schedviz/run-seconds: "2"}}
    spec: {restartPolicy: Never, containers: [{name: main, image: "app:1"}]}
---
at: 20s
apiVersion: v1
kind: Pod
metadata: {name: first}
spec: {containers: [{name: main, image: "app:1"}]}
---
at: 40s
apiVersion: v1
kind: Pod
metadata: {name: last}
spec: {containers: [{name: main, image: "app:1"}]}
"""


def test_workloads_give_the_same_trace_in_a_sandbox_as_without_a_server(
    arena: Arena, still: Make, sandbox_name: str
) -> None:
    scenario = load_scenario(WORKLOADS)
    meta = Meta(sandbox_name, created=START / SECOND, seed=scenario.seed, pace=scenario.pace)
    sandbox = still(scenario.manifests, meta)

    def scaled(old: Manifest) -> Manifest:
        return {**old, "spec": {**old["spec"], "replicas": 5}}

    def on_until(pod: str) -> Micros:
        while pod not in bound(sandbox):
            take(arena, sandbox, "cycle")
        return sandbox.clock().sim

    then = on_until("first")
    edit(sandbox, "deployments.apps", "default/web", scaled)
    end = on_until("last")

    api = MemoryStorage()
    api.commit(new_cluster(scenario.manifests, START))
    simulation = Simulation(api, ApiServer, Options(seed=scenario.seed, pace=scenario.pace))
    expected = run_simulation(simulation, api, START, then)
    kind = find_by_kind("apps/v1", "Deployment")
    assert kind
    server, place = ApiServer(api, lambda: then, DEFAULT_FEATURES), RequestPlace(kind, "default", "web")
    api.commit(server.update(place, scaled, WriteOptions()).changes)
    expected += run_simulation(simulation, api, then, end)

    got = [e for e in traced(sandbox) if e.t < end and not isinstance(e, LeaderElected)]
    assert got == [event for event in expected if event.t < end]
    assert [event.job for event in got if isinstance(event, JobFinished)] == ["default/sum"]
    made = [event.keys for event in got if isinstance(event, ObjectsCreated)]
    assert sum(len(keys) for keys in made if "web-" in keys[0]) == 1 + 2 + 3


def test_a_worker_that_dies_in_the_middle_of_a_stepped_cycle_loses_nothing(arena: Arena) -> None:
    sandbox = arena.make("stepped", [node("n1"), node("n2")])
    pause(sandbox)
    create(sandbox, [pod("web")])

    assert take(arena, sandbox, "point", 4) == "Score"
    leader = eventually(lambda: arena.leader(sandbox))
    leader.kill()
    assert take(arena, sandbox, "point") == "PreFilter"
    arena.start_worker()
    take(arena, sandbox, "point", 7)
    assert list(bound(sandbox)) == ["web"]
    cut_and_bound = [e for e in traced(sandbox) if isinstance(e, CycleStarted | CycleCutOff | Bound)]
    assert [type(event) for event in cut_and_bound] == [CycleStarted, CycleCutOff, CycleStarted, Bound]
    assert isinstance(cut_and_bound[1], CycleCutOff)
    assert (cut_and_bound[1].pod, cut_and_bound[1].point) == ("default/web", "Score")
    assert_replay_equals(arena.store, sandbox)
