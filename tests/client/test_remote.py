"""Sandboxes of a real server, by the same methods as in this process."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

import schedviz
from schedviz.client import LocalSandbox, NotReached, RemoteSandbox, Sandbox, Server, StatusError
from schedviz.store import Store
from simulator.trace import Bound, CycleStarted, Event, Nominated, VictimDeleted
from tests.processes import Process

from .test_local import MOST, NODES, pod

Make = Callable[..., Sandbox]


@pytest.fixture(params=["in this process", "of a server"])
def make(request: pytest.FixtureRequest, stack: str) -> Iterator[Make]:
    """Makes sandboxes in this process and on the server."""
    server = stack if request.param == "of a server" else ""
    made: list[Sandbox] = []

    def sandbox(**arguments: Any) -> Sandbox:
        made.append(schedviz.sandbox(server=server, **arguments))
        return made[-1]

    yield sandbox
    for each in made:
        each.close()


def play(sandbox: Sandbox) -> dict[str, Any]:
    """Call each method, and return the results."""
    found: dict[str, Any] = {}
    sandbox.load(NODES)
    low = sandbox.create(pod("low", "3"))
    sandbox.run_until("bound", pod=low)
    found["elapsed"] = sandbox.elapsed
    sandbox.create(pod("high", "3", priorityClassName="system-cluster-critical"))
    sandbox.run_until("preemption")
    found["preempting"] = sandbox.explain("high").victims
    sandbox.run_until("bound", pod="high")
    found["low"] = sandbox.explain("low").preemptor
    big = sandbox.create(pod("big", "8"))
    sandbox.step("cycle")
    explained = sandbox.explain(big)
    assert explained.reason.kind == "unschedulable"
    assert explained.sentence.endswith("has happened.")
    # The queue is searched for pods that have waited for long at multiples of 30 s, and a server's sandbox
    # begins at any time.
    found["big"] = replace(explained, reason=replace(explained.reason, until=0), sentence="")
    sandbox.run_until("2m")
    found["end"] = sandbox.elapsed
    sandbox.patch("pod", "big", {"metadata": {"labels": {"a": "b"}}})
    found["pods"] = {each["metadata"]["name"]: each["spec"].get("nodeName") for each in sandbox.list("po")}
    with pytest.raises(NotReached):
        sandbox.run_until("nothing-pending", within="10s")
    with pytest.raises(StatusError) as refused:
        sandbox.create(pod("big"))
    found["refused"] = (refused.value.code, refused.value.reason, str(refused.value))
    sandbox.configure(MOST)
    sandbox.create(pod("packed", "100m"))
    sandbox.run_until("bound", pod="packed")
    found["packed"] = sandbox.explain("packed").node
    with pytest.raises(StatusError) as refused:
        sandbox.configure({**MOST, "profiles": [{"schedulerName": ""}]})
    found["not configured"] = (refused.value.code, refused.value.reason, refused.value.causes)
    sandbox.set_feature_gates({"StorageCapacityScoring": True})
    with pytest.raises(StatusError) as refused:
        sandbox.set_feature_gates({"No": True})
    found["no gate"] = (refused.value.code, refused.value.reason, refused.value.causes)
    sandbox.delete("pod", "big")
    sandbox.run_until("idle")
    with pytest.raises(StatusError) as refused:
        sandbox.get("pod", "big")
    found["gone"] = (refused.value.code, refused.value.reason, str(refused.value))
    found["trace"] = [described(event, sandbox) for event in sandbox.trace() if described(event, sandbox)]
    return found


def described(event: Event, sandbox: Sandbox) -> tuple[object, ...] | None:
    """The fields of an event that describe the scheduler, with the time since the start."""
    if isinstance(event, Bound | CycleStarted | Nominated | VictimDeleted):
        return (type(event).__name__, event.t - sandbox.start, event.cycle, event.pod)
    return None


def test_the_same_calls_have_the_same_result_on_a_server_and_in_this_process(stack: str) -> None:
    found = []
    for server in ("", stack):
        with schedviz.sandbox(server=server, name="the-same") as sandbox:
            assert isinstance(sandbox, RemoteSandbox if server else LocalSandbox)
            found.append(play(sandbox))
    here, there = found
    assert here == there
    assert here["low"] == "default/high"
    assert here["trace"]


def test_a_scenario_runs_the_same(make: Make) -> None:
    sandbox = make(scenario="online-vs-offline", pace="200ms")
    sandbox.run_until("20s")
    placed = [(event.pod, event.node, event.t - sandbox.start) for event in sandbox.trace(Bound)]
    with schedviz.sandbox(scenario="online-vs-offline", pace="200ms", name=sandbox.name) as here:
        here.run_until("20s")
        assert placed == [(event.pod, event.node, event.t - here.start) for event in here.trace(Bound)]


@pytest.mark.parametrize("earlier", [0, 1], ids=["of a new name", "of a name that was used before"])
def test_a_branch(make: Make, sandbox_name: str, earlier: int) -> None:
    for _ in range(earlier):
        before = make(scenario="online-vs-offline", name=sandbox_name)
        before.run_until("15s")
        before.close()
    sandbox = make(scenario="online-vs-offline", name=sandbox_name)
    sandbox.run_until("15s")
    first, bound = sandbox.numbered_trace(Bound)[0]
    assert sandbox.trace(after=first - 1)[0] == bound
    with sandbox.branch(at=first) as past, sandbox.branch() as now:
        assert past.now < now.now == sandbox.now
        past.run_until("15s")
        now.delete("node", "node-1")
        assert sandbox.get("node", "node-1")


def test_a_question(make: Make, job_runner: Process) -> None:
    sandbox = make(manifests=NODES)
    sandbox.create(pod("big", "8"))
    sandbox.run_for("5s")
    [suggestion] = sandbox.what_if("big").suggestions
    assert sandbox.ask("removable").complete
    assert (suggestion.kind, suggestion.what, suggestion.after) == ("request", "cpu", "4")


@pytest.mark.long
def test_a_played_workload(stack: str, job_runner: Process) -> None:
    played = schedviz.play("time,name,cpu\n0,web,1\n1,big,8\n", NODES, until="1m", server=stack)
    assert (played.pods, played.a.bound, played.b) == (2, 1, None)
    with pytest.raises(StatusError, match="Arrivals: Line 2, column cpu: “x” is not an amount"):
        schedviz.play("time,name,cpu\n0,web,x\n", NODES, server=stack)
    with schedviz.sandbox(arrivals="time,name,cpu\n5,web,1\n", nodes=NODES, server=stack) as sandbox:
        sandbox.run_until("10s")
        assert sandbox.get("pod", "web")["spec"]["nodeName"]
    with schedviz.sandbox(arrivals="name,cpu\nbig,8\n", nodes=NODES, anyway=True, server=stack) as sandbox:
        [unfit] = sandbox.notes
        assert unfit.startswith("line 2: big: ")


def test_what_would_have_prevented_an_eviction(make: Make, job_runner: Process) -> None:
    sandbox = make(manifests=NODES)
    sandbox.create(pod("low", "3"))
    sandbox.run_until("bound", pod="low")
    sandbox.create(pod("high", "3", priorityClassName="system-cluster-critical"))
    sandbox.run_until("bound", pod="high")
    found = {each.kind: each for each in sandbox.preventions("low")}
    assert found.keys() == {"priority", "request", "preemptor-priority"}
    assert (found["request"].what, found["request"].after, found["request"].outcome.node) == (
        "cpu",
        "1",
        "n2",
    )
    assert found["priority"].after == "2000000000"
    with pytest.raises(StatusError) as refused:
        sandbox.preventions("high")
    assert refused.value.code == 404


def test_a_sandbox_that_exists_is_opened_and_stays(stack: str, store: Store) -> None:
    server = Server(stack)
    with schedviz.sandbox(scenario="gang", server=stack) as made:
        assert isinstance(made, RemoteSandbox)
        made.resume()
        with server.open(made.name) as same:
            assert same.describe().paused
            assert made.name in server.sandboxes()
            same.set_speed(2)
            assert same.describe().speed == 2
        assert made.name in server.sandboxes()
        assert made.url == f"{stack}/s/{made.name}/"
    assert made.name not in store.names()
    with pytest.raises(StatusError, match='sandboxes "nowhere" not found'):
        server.open("nowhere")
    with pytest.raises(ValueError, match="is not the address"):
        Server("file:///etc")


def test_a_program_owns_what_it_creates(owners_server: str, worker: Process, store: Store) -> None:
    with schedviz.sandbox(server=owners_server, manifests=NODES) as sandbox:
        assert isinstance(sandbox, RemoteSandbox)
        sandbox.create(pod("web"))
        sandbox.run_until("nothing-pending")
        assert sandbox.describe().right == "own"
        for token in ("", "x" * 32):
            with pytest.raises(StatusError) as refused:
                Server(owners_server, token).open(sandbox.name)
            assert refused.value.code == 401
    assert sandbox.name not in store.names()
