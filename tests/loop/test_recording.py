"""What a sandbox recorded, told again, gives what is stored: byte for byte, whatever happened meanwhile."""

import random
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal, cast

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from redis.exceptions import ConnectionError as RedisConnectionError

from schedviz.api import write
from schedviz.loop.driver import Driver
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.store import Clock, Meta, Sandbox, Steps, Store, codec
from schedviz.store import sandbox as sandbox_module
from schedviz.store.bounds import DECISIONS_LENGTH
from schedviz.store.keys import Keys
from schedviz.store.recording import record
from simulator.api import SECOND, ApiServer, Change, Manifest, Micros
from simulator.apiserver.status import StatusError
from simulator.queueing.versions import QUEUES
from simulator.recording import decoder
from simulator.replay import RecordingError, Replay, Stored
from simulator.simulation import Options, Simulation
from simulator.trace import CycleCutOff, LeaderElected, SchedulerError
from tests.loop.conftest import node, pod

START: Micros = 1_735_689_600 * SECOND
STILL = 1e-9
"""A speed at which time runs and does not come anywhere: each test moves it on by itself."""

Trouble = Literal["", "lost", "answer lost", "fault", "contested", "full"]


class Fault(Exception):
    """Nothing that anybody expects."""


class Contested:
    """The store as the Simulation sees it, with trouble that comes to a commit when it is asked for."""

    def __init__(self, api: ApiServer, world: "World") -> None:
        self._api = api
        self._world = world

    def commit(self, changes: Sequence[Change]) -> list[int]:
        trouble, self._world.trouble = self._world.trouble, ""
        [change, *_] = changes
        match trouble:
            case "lost":
                raise RedisConnectionError("before it was stored")
            case "fault":
                raise Fault
            case "contested" if change.object and change.expected:
                labels = {"by": "another"}
                with suppress(StatusError):
                    write.patch(
                        self._world.sandbox, change.resource, change.key, {"metadata": {"labels": labels}}
                    )
            case "full":
                with pytest.MonkeyPatch.context() as patch:
                    patch.setitem(sandbox_module.LIMITS, "objects", 1)
                    return self._api.commit(changes)
        versions = self._api.commit(changes)
        if trouble == "answer lost":
            raise RedisConnectionError("after it was stored")
        return versions


class World:
    """A sandbox, the workers that lead it, and those who write to it."""

    def __init__(self, store: Store, **meta: Any) -> None:
        self.store = store
        self.trouble: Trouble = ""
        name = f"recorded-{uuid.uuid4().hex[:8]}"
        clock = Clock(START, time.time(), STILL)
        self.sandbox = write.create_sandbox(store, Meta(name, created=START / SECOND, **meta), [], clock)
        self.take_over()

    def make(self, api: ApiServer, options: Options) -> Simulation:
        return Simulation(Contested(api, self), options)

    def take_over(self) -> None:
        """The worker is gone without a word; another one is there."""
        presence = Presence(self.store, f"{self.sandbox.name}-{uuid.uuid4().hex[:8]}")
        presence.beat()
        self.driver = Driver(self.store, Wakes(self.store), presence, self.make)
        lease = self.sandbox.lease()
        if lease:
            Presence(self.store, lease.holder).leave()

    def slice(self) -> None:
        self.driver.slice(self.sandbox.name, Wakes(self.store).due.mark(self.sandbox.name))

    def let_time_pass(self, seconds: float) -> None:
        sim = self.sandbox.clock().sim
        self.sandbox.set_clock(Clock(sim + round(seconds * SECOND), time.time(), STILL))

    def take_steps(self, unit: Literal["point", "cycle"], count: int) -> None:
        clock = Clock(self.sandbox.clock().sim, time.time(), STILL, paused=True, steps=Steps(unit, count))
        self.sandbox.set_clock(clock)

    def pause(self) -> None:
        self.sandbox.set_clock(Clock(self.sandbox.clock().sim, time.time(), STILL, paused=True))

    def run_until(self, condition: str, seconds: float) -> None:
        sim = self.sandbox.clock().sim + round(seconds * SECOND)
        self.sandbox.set_clock(Clock(sim, time.time(), STILL, until=condition))

    def create(self, *manifests: Manifest) -> None:
        with suppress(StatusError):  # the name may be taken, or time out of bounds
            write.create(self.sandbox, manifests)

    def delete(self, resource: str, key: str) -> None:
        with suppress(StatusError):
            write.delete(self.sandbox, resource, key)

    def patch(self, resource: str, key: str, changes: Manifest) -> None:
        with suppress(StatusError):
            write.patch(self.sandbox, resource, key, changes)


def recorded(sandbox: Sandbox) -> list[Stored]:
    """The sandbox's recording, told again."""
    return [*Replay(decoder.decode(line) for line in record(sandbox)).run()]


def assert_told_again(store: Store, sandbox: Sandbox) -> list[Stored]:
    """What is told again is what the streams hold, to the byte; it."""
    told = recorded(sandbox)
    keys = Keys.of(sandbox.name)
    trace = [(number, msgspec.json.encode(event)) for stored in told for number, event in stored.trace]
    decisions = [(d.cycle, msgspec.json.encode(d)) for stored in told for d in stored.decisions]
    for stream, field, again in ((keys.trace, b"event", trace), (keys.decisions, b"decision", decisions)):
        entries = cast("list[codec.Entry]", store.redis.xrange(stream))
        assert len(entries) >= min(len(again), DECISIONS_LENGTH)
        assert again[-len(entries) :] == [(codec.number(key), fields[field]) for key, fields in entries]
    lanes: dict[str, Any] = {}
    for stored in told:
        lanes = (lanes if not stored.entry.began else {}) | stored.entry.lanes
    assert {pod: lane for pod, lane in lanes.items() if lane} == sandbox.lanes()
    return told


names = st.sampled_from([f"p{i}" for i in range(6)])
nodes = st.sampled_from(["n0", "n1", "n2"])
seconds = st.sampled_from([0.1, 1, 3, 12, 400])
conditions = st.sampled_from(["nothing-pending", "preemption", "bound default/p0"])


def pods(name: str, cpu: str, priority: str, gated: bool, run_seconds: str | None) -> Manifest:
    gates = {"schedulingGates": [{"name": "example.com/gate"}]} if gated else {}
    made = pod(name, cpu, priorityClassName=priority, terminationGracePeriodSeconds=1, **gates)
    if run_seconds:
        made["metadata"]["annotations"] = {"schedviz/run-seconds": run_seconds}
    return made


manifests = st.builds(
    pods,
    names,
    st.sampled_from(["500m", "1", "2"]),
    st.sampled_from(["low", "high"]),
    st.sampled_from([False, False, True]),
    st.sampled_from([None, "2"]),
)
cordons = st.booleans().map(lambda cordoned: {"spec": {"unschedulable": cordoned}})
operations = st.one_of(
    st.tuples(st.just("create"), manifests),
    st.tuples(st.just("create"), manifests, manifests, manifests),
    st.tuples(st.just("create"), nodes.map(lambda name: node(name, cpu="2"))),
    st.tuples(st.just("delete"), st.just("pods"), names.map("default/{}".format)),
    st.tuples(st.just("delete"), st.just("nodes"), nodes),
    st.tuples(st.just("patch"), st.just("nodes"), nodes, cordons),
    st.tuples(st.just("let_time_pass"), seconds),
    st.tuples(st.just("run_until"), conditions, seconds),
    st.tuples(st.just("take_steps"), st.sampled_from(["point", "cycle"]), st.integers(1, 9)),
    st.tuples(st.just("pause")),
    st.tuples(st.just("slice")),
    st.tuples(st.just("take_over")),
    st.tuples(st.just("meet"), st.sampled_from(["lost", "answer lost", "fault", "contested", "full"])),
)


@settings(max_examples=40, phases=[Phase.generate], deadline=None, derandomize=True, print_blob=False)
@given(
    story=st.lists(operations, min_size=10, max_size=40),
    queue=st.sampled_from(sorted(QUEUES)),
    pace=st.sampled_from([0, SECOND // 4]),
)
def test_whatever_happens_is_told_again_as_it_was(
    store: Store, story: list[tuple[Any, ...]], queue: Any, pace: Micros
) -> None:
    world = World(store, seed=3, queue=queue, pace=pace)
    for name, value in (("low", 1), ("high", 100)):
        kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        world.create({**kind, "metadata": {"name": name}, "value": value})
    world.create(node("n0", cpu="2"))
    for operation, *arguments in story:
        if operation == "meet":
            world.trouble = arguments[0]
        else:
            getattr(world, operation)(*arguments)
        world.slice()
    world.trouble = ""
    world.slice()
    assert_told_again(store, world.sandbox)
    store.delete(world.sandbox.name)


def test_the_cycle_that_a_leader_leaves_and_faults_are_in_it(store: Store) -> None:
    world = World(store)
    world.create(node("n0"), pod("p0"), pod("p1"))
    world.take_steps("point", 3)
    world.slice()
    assert world.sandbox.under_way()
    world.take_over()
    world.slice()
    world.let_time_pass(1)
    world.trouble = "fault"
    world.slice()
    world.slice()
    told = assert_told_again(store, world.sandbox)
    events = [event for stored in told for _, event in stored.trace]
    kinds = LeaderElected | CycleCutOff | SchedulerError
    assert [type(event) for event in events if isinstance(event, kinds)] == [
        LeaderElected, LeaderElected, CycleCutOff, SchedulerError, LeaderElected,
    ]  # fmt: skip
    store.delete(world.sandbox.name)


@pytest.mark.parametrize("seed", range(5))
def test_a_recording_with_a_line_too_few_is_not_told(store: Store, seed: int) -> None:
    world = World(store)
    world.create(node("n0"), node("n1"), *(pod(f"p{i}") for i in range(3)))
    world.slice()
    world.let_time_pass(3)
    world.slice()
    lines = [decoder.decode(line) for line in record(world.sandbox)]
    store.delete(world.sandbox.name)
    assert [*Replay(lines).run()]
    without = random.Random(seed).randrange(2, len(lines) - 1)
    with pytest.raises(RecordingError):
        [*Replay(lines[:without] + lines[without + 1 :]).run()]
