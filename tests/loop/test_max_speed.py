"""At the speed "max" no cycle waits for its pace: time moves to the end of each, and no further.

Time stands still otherwise, so that every outcome is exact."""

import time
from collections.abc import Iterator
from typing import Literal

import pytest
from msgspec import UNSET, UnsetType

from schedviz.store import Clock, Sandbox, Store
from simulator.api import SECOND, Micros
from simulator.trace import Bound, CycleStarted, Event
from tests.loop.conftest import node, pod
from tests.loop.test_recording import assert_replay_equals
from tests.loop.world import START, STILL, World

PACE: Micros = 400_000
PODS = 20


@pytest.fixture
def world(store: Store) -> Iterator[World]:
    world = World(store, pace=PACE)
    world.create(node("n0", cpu="100"), *(pod(f"p{number}") for number in range(PODS)))
    yield world
    store.delete(world.sandbox.name)


def set_clock(sandbox: Sandbox, *, paused: bool = False, until: str | UnsetType = UNSET) -> None:
    unpaced: Literal[True] = True
    sim = sandbox.clock().sim
    sandbox.set_clock(Clock(sim, time.time(), STILL, paused, until=until, unpaced=unpaced))


def happened(sandbox: Sandbox, kind: type[Event]) -> list[Event]:
    return [event for _, event in sandbox.trace(0, count=100_000) if isinstance(event, kind)]


def test_with_a_pace_no_cycle_ends_while_time_stands_still(world: World) -> None:
    world.slice()
    assert len(happened(world.sandbox, CycleStarted)) == 1
    assert not happened(world.sandbox, Bound)


def test_each_cycle_takes_its_pace_of_simulated_time_without_waiting(world: World, store: Store) -> None:
    set_clock(world.sandbox)
    world.slice()
    started = [event.t for event in happened(world.sandbox, CycleStarted)]
    assert started == [START + number * PACE for number in range(PODS)]
    assert len(happened(world.sandbox, Bound)) == PODS
    clock = world.sandbox.clock()
    assert clock.sim == START + PODS * PACE
    assert (clock.unpaced, clock.paused) == (True, False)
    assert_replay_equals(store, world.sandbox)


def test_time_does_not_run_ahead_of_the_scheduler_s_work(world: World) -> None:
    """An unschedulable pod is tried again after five minutes. These do not pass at once."""
    world.create(pod("huge", cpu="1000"))
    set_clock(world.sandbox)
    for _ in range(3):
        world.slice()
    assert len(happened(world.sandbox, CycleStarted)) == PODS + 1
    assert world.sandbox.clock().sim == START + (PODS + 1) * PACE


@pytest.mark.parametrize("kind", ["time", "before", "bound default/huge before"])
def test_a_run_with_an_end_waits_for_nothing(world: World, store: Store, kind: str) -> None:
    """An unschedulable pod is tried again after five minutes, in the same slice."""
    end = START + 400 * SECOND
    world.create(pod("huge", cpu="1000"))
    set_clock(world.sandbox, until=f"{kind} {end}")
    world.slice()
    clock = world.sandbox.clock()
    assert clock.paused
    last = happened(world.sandbox, CycleStarted)[-1].t
    assert START + 300 * SECOND < last < end
    assert (clock.sim == end) == (kind == "time")
    assert_replay_equals(store, world.sandbox)


def test_a_paused_sandbox_stays_paused_and_can_be_stepped(world: World) -> None:
    set_clock(world.sandbox, paused=True)
    world.slice()
    assert world.sandbox.clock().sim == START
    assert not happened(world.sandbox, Bound)
    world.take_steps("cycle", 1)
    world.slice()
    assert len(happened(world.sandbox, Bound)) == 1


def test_a_run_ends_when_its_condition_is_true(world: World) -> None:
    set_clock(world.sandbox, until="bound default/p4")
    world.slice()
    clock = world.sandbox.clock()
    assert (clock.paused, clock.unpaced, clock.sim) == (True, True, START + 5 * PACE)
    assert len(happened(world.sandbox, Bound)) == 5


@pytest.mark.parametrize("condition", ["nothing-pending", f"before {START + 60 * SECOND}"])
def test_writes_before_a_run_are_observed_before_its_condition_is_checked(
    world: World, condition: str
) -> None:
    """The run is asked for right after a pod was created: nothing is pending before the pod is observed."""
    set_clock(world.sandbox, until="nothing-pending")
    world.slice()
    assert world.sandbox.clock().paused
    world.create(pod("late"))
    set_clock(world.sandbox, until=condition)
    world.slice()
    assert len(happened(world.sandbox, Bound)) == PODS + 1


def test_writes_are_observed_before_time_moves_on(world: World) -> None:
    set_clock(world.sandbox, until="bound default/p4")
    world.slice()
    world.delete("pods", "default/p5")
    set_clock(world.sandbox)
    world.slice()
    assert {event.pod for event in happened(world.sandbox, Bound) if isinstance(event, Bound)} == {
        f"default/p{number}" for number in range(PODS) if number != 5
    }
