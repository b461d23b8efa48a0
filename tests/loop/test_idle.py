"""What a worker keeps of sandboxes in which nothing happens, and of those that do not exist any more."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from schedviz.loop import driver as driver_module
from schedviz.loop.driver import COLLECT_AFTER
from schedviz.loop.wakes import Wakes
from schedviz.store import Store
from simulator.api import Storage
from simulator.apiserver.component_writes import MakeServer
from simulator.simulation import Options, Simulation
from simulator.trace import LeaderElected
from tests.loop.conftest import node, pod
from tests.loop.test_recording import assert_replay_equals
from tests.loop.world import World


class Kept(World):
    """``kept``: which of the Simulations that were made are in memory."""

    def __init__(self, store: Store) -> None:
        self._made: weakref.WeakSet[Simulation] = weakref.WeakSet()
        super().__init__(store)

    def make(self, api: Storage, server: MakeServer, options: Options) -> Simulation:
        made = super().make(api, server, options)
        self._made.add(made)
        return made

    @property
    def kept(self) -> int:
        gc.collect()
        return len(self._made)

    @property
    def elections(self) -> int:
        return sum(isinstance(event, LeaderElected) for _, event in self.sandbox.trace(0))


@pytest.fixture
def world(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    monkeypatch.setattr(driver_module, "CHECK_SECONDS", 0.0)
    world = Kept(store)
    yield world
    if world.sandbox.name in store.names():
        store.delete(world.sandbox.name)


def pass_long_time(world: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the next slice, any idle time counts as long."""
    with monkeypatch.context() as patch:
        patch.setattr(driver_module, "IDLE_SECONDS", 0.0)
        world.slice()


@pytest.mark.long
def test_the_simulation_of_a_deleted_sandbox_does_not_stay_in_memory(world: Kept, store: Store) -> None:
    """Nothing wakes a deleted sandbox. The worker notices the deletion when it runs another one."""
    world.create(node("n0"))
    world.slice()
    assert world.kept == 1
    store.delete(world.sandbox.name)
    other = World(store)
    world.driver.slice(other.sandbox.name, other.mark())
    assert world.kept == 1, "that of the other sandbox"
    store.delete(other.sandbox.name)
    world.driver.slice(other.sandbox.name, other.mark())
    assert world.kept == 0


def test_the_simulation_of_an_idle_sandbox_is_built_again_when_something_is_written(
    world: Kept, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.create(node("n0", cpu="2"), pod("p0", "1"))
    world.slice()
    world.let_time_pass(60)
    world.slice()
    assert (world.kept, world.elections) == (1, 1)
    pass_long_time(world, monkeypatch)
    assert world.kept == 0
    lease = world.sandbox.lease()
    assert lease
    assert lease.holder == world.presence.worker
    world.create(pod("p1", "1"), pod("p2", "1"))
    world.slice()
    assert (world.kept, world.elections) == (1, 2)
    assert world.sandbox.queue_places()["default/p2"].lane == "unschedulable"
    assert world.sandbox.queue_places().keys() == {"default/p2"}
    assert_replay_equals(store, world.sandbox)


def test_the_simulation_of_a_sandbox_with_a_pod_in_its_queue_is_kept(
    world: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Simulation has the pod's waiting time and cause, which a new leader would not have."""
    world.create(node("n0"), pod("p0", schedulingGates=[{"name": "example.com/gate"}]))
    world.slice()
    world.let_time_pass(60)
    world.slice()
    places = world.sandbox.queue_places()
    pass_long_time(world, monkeypatch)
    world.create(node("n1"))
    world.slice()
    assert (world.kept, world.elections) == (1, 1)
    assert world.sandbox.queue_places() == places != {}
    world.delete("pods", "default/p0")
    world.let_time_pass(60)
    world.slice()
    pass_long_time(world, monkeypatch)
    assert world.kept == 0


def test_the_memory_of_many_deleted_sandboxes_is_freed_at_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By itself Python frees it only when the number of all objects has grown by a quarter."""
    world = World(store)
    made = [World(store).sandbox.name for _ in range(COLLECT_AFTER)]
    for name in made:
        world.driver.slice(name, Wakes(store).due.mark(name).order)
    kept = weakref.WeakSet(world.driver._leaders.values())
    assert len(kept) == COLLECT_AFTER
    for name in made:
        store.delete(name)
    gc.disable()
    monkeypatch.setattr(driver_module, "CHECK_SECONDS", 0.0)
    try:
        world.slice()
        assert not kept
    finally:
        gc.enable()
    store.delete(world.sandbox.name)


def test_a_sandbox_with_something_due_is_kept(world: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = pod("p0")
    ends["metadata"]["annotations"] = {"schedviz/run-seconds": "3600"}
    world.create(node("n0"), ends)
    world.slice()
    world.let_time_pass(60)
    world.slice()
    pass_long_time(world, monkeypatch)
    assert world.kept == 1
