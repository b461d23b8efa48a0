"""Each pod of the queue gets one attempt, and then the sandbox is paused again."""

from collections import Counter
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from schedviz.loop import clock
from schedviz.store import Store
from simulator.api import SECOND
from simulator.trace import CycleStarted, QueueMoved
from tests.loop.conftest import node, pod
from tests.loop.test_recording import assert_replay_equals
from tests.loop.world import START, World

PACE = 100_000


@pytest.fixture
def world(store: Store) -> Iterator[World]:
    made = World(store, pace=PACE)
    made.create(
        node("n0", cpu="2"),
        pod("web", cpu="1"),
        pod("big", cpu="8"),
        pod("large", cpu="9"),
        pod("gated", schedulingGates=[{"name": "not-yet"}]),
    )
    made.pause()
    yield made
    store.delete(made.sandbox.name)


def tries(world: World) -> Counter[str]:
    events = [event for _, event in world.sandbox.trace_tail(1000)]
    return Counter(event.pod for event in events if isinstance(event, CycleStarted))


def try_each(world: World) -> None:
    clock.run_until(world.sandbox, "tried")
    # Time passes only by the cycles.
    known = world.sandbox.clock()
    assert world.sandbox.set_clock(replace(known, speed=1e-9), known)
    world.slice()


def test_each_pod_gets_one_attempt_and_time_stands_still_again(world: World, store: Store) -> None:
    try_each(world)
    assert tries(world) == {"default/web": 1, "default/big": 1, "default/large": 1}
    after = world.sandbox.clock()
    assert (after.paused, after.until or "", after.sim) == (True, "", START + 3 * PACE)
    assert {each.lane for each in world.sandbox.queue()[0].values()} == {"unschedulable", "gated"}

    # Those that wait for an event, or back off, get one more; a pod that was created meanwhile, too.
    world.create(pod("late", cpu="7"))
    try_each(world)
    assert tries(world) == {"default/web": 1, "default/big": 2, "default/large": 2, "default/late": 1}
    assert world.sandbox.clock().paused
    assert world.sandbox.clock().sim == START + 6 * PACE
    moved = [event for _, event in world.sandbox.trace_tail(1000) if isinstance(event, QueueMoved)]
    assert [
        event.event for event in moved if (event.pod, event.source) == ("default/big", "unschedulable")
    ] == ["ForceActivate"]
    assert_replay_equals(store, world.sandbox)


def test_a_cycle_that_stands_at_a_point_ends_first(world: World) -> None:
    world.take_steps("point", 2)
    world.slice()
    assert world.sandbox.under_way() is not None
    try_each(world)
    assert tries(world) == {"default/web": 1, "default/big": 1, "default/large": 1}
    assert world.sandbox.clock().paused


def test_without_a_pod_to_try_nothing_happens(world: World) -> None:
    for name in ("web", "big", "large"):
        world.delete("pods", f"default/{name}")
    try_each(world)
    assert not tries(world)
    assert world.sandbox.clock().paused
    assert world.sandbox.clock().sim < START + SECOND


def test_a_new_leader_goes_on_with_the_run(world: World) -> None:
    clock.run_until(world.sandbox, "tried")
    world.take_over()
    world.slice()
    assert tries(world) == {"default/web": 1, "default/big": 1, "default/large": 1}
    assert world.sandbox.clock().paused
