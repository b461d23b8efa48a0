"""A sandbox led in this process, and the operations that can happen to it."""

import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Literal

import pytest
from hypothesis import strategies as st
from redis.exceptions import ConnectionError as RedisConnectionError

from schedviz.api import removal, write
from schedviz.loop import driver as driver_module
from schedviz.loop.driver import Driver
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.store import Clock, Meta, Sandbox, Steps, Store
from schedviz.store.commit_script import LIMITS
from simulator.api import SECOND, Change, Manifest, Micros, Storage
from simulator.apiserver.component_writes import MakeServer
from simulator.apiserver.status import StatusError
from simulator.simulation import Options, Simulation
from tests.loop.conftest import node, pod

START: Micros = 1_735_689_600 * SECOND
STILL = 1e-9
"""A speed so small that only the test moves time."""

Operation = tuple[Any, ...]
Trouble = Literal["", "lost", "answer lost", "fault", "contested", "full"]


class Fault(Exception):
    """An exception that no code expects."""


class Contested:
    """The store that the Simulation uses, with failures of commits that a test asks for."""

    def __init__(self, api: Storage, world: "World") -> None:
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
                    patch.setitem(LIMITS, "objects", 1)
                    return self._api.commit(changes)
        versions = self._api.commit(changes)
        if trouble == "answer lost":
            raise RedisConnectionError("after it was stored")
        return versions


class World:
    """A sandbox, the workers that lead it, and those who write to it."""

    def __init__(self, store: Store, sandbox: Sandbox | None = None, workers: str = "", **meta: Any) -> None:
        """``sandbox``: an existing one. ``workers``: the name of its workers, to which a number is added."""
        self.store = store
        self.trouble: Trouble = ""
        self._workers = (f"{workers}-{number}" for number in count()) if workers else None
        name = f"recorded-{uuid.uuid4().hex[:8]}"
        clock = Clock(START, time.time(), STILL)
        made = Meta(name, created=START / SECOND, **meta)
        self.sandbox = sandbox or write.create_sandbox(store, made, [], clock)
        self.take_over()

    def make(self, api: Storage, server: MakeServer, options: Options) -> Simulation:
        return Simulation(Contested(api, self), server, options)

    def take_over(self) -> None:
        """The worker ends without releasing its lease, and another one takes over."""
        name = next(self._workers) if self._workers else f"{self.sandbox.name}-{uuid.uuid4().hex[:8]}"
        self.presence = Presence(self.store, name)
        self.presence.beat()
        self.driver = Driver(self.store, Wakes(self.store), self.presence, self.make)
        lease = self.sandbox.lease()
        if lease:
            self.presence.workers.stop(lease.holder)

    def slice(self) -> None:
        """Run a slice without a time limit, as a slice that is cut on a slow machine would change the
        history."""
        self.presence.beat()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(driver_module, "SLICE_SECONDS", 60)
            self.driver.slice(self.sandbox.name, self.mark())

    def mark(self) -> int | None:
        """The order of a new request for a slice."""
        return Wakes(self.store).due.mark(self.sandbox.name).order

    def let_time_pass(self, seconds: float) -> None:
        sim = self.sandbox.clock().sim
        self.sandbox.set_clock(Clock(sim + round(seconds * SECOND), time.time(), STILL))

    def take_steps(self, unit: Literal["point", "cycle"], count: int) -> None:
        clock = Clock(self.sandbox.clock().sim, time.time(), STILL, paused=True, steps=Steps(unit, count))
        self.sandbox.set_clock(clock)

    def pause(self) -> None:
        self.sandbox.set_clock(Clock(self.sandbox.clock().sim, time.time(), STILL, paused=True))

    def break_watch(self) -> None:
        lease = self.sandbox.lease()
        if lease:
            self.sandbox.break_watch(lease)

    def perform(self, story: list[Operation]) -> None:
        """Each operation, and then a slice."""
        for name, value in (("low", 1), ("high", 100)):
            kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
            self.create({**kind, "metadata": {"name": name}, "value": value})
        self.create(node("n0", cpu="2"))
        for operation, *arguments in story:
            if operation == "meet":
                self.trouble = arguments[0]
            else:
                getattr(self, operation)(*arguments)
            self.slice()
        self.trouble = ""
        self.slice()

    def run_until(self, condition: str, seconds: float) -> None:
        sim = self.sandbox.clock().sim + round(seconds * SECOND)
        self.sandbox.set_clock(Clock(sim, time.time(), STILL, until=condition))

    def create(self, *manifests: Manifest) -> None:
        with suppress(StatusError):  # the name may be taken, or time out of bounds
            write.create(self.sandbox, manifests)

    def delete(self, resource: str, key: str) -> None:
        with suppress(StatusError):
            removal.delete(self.sandbox, resource, key)

    def patch(self, resource: str, key: str, changes: Manifest) -> None:
        with suppress(StatusError):
            write.patch(self.sandbox, resource, key, changes)


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
    st.tuples(st.just("break_watch")),
    st.tuples(st.just("meet"), st.sampled_from(["lost", "answer lost", "fault", "contested", "full"])),
)
