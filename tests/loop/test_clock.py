"""Pausing and changing the speed never make simulated time jump."""

import pytest

from schedviz.loop import clock, driver
from schedviz.loop.clock import (
    MAX,
    MAX_SPEED,
    pause,
    pause_many,
    resume,
    resume_many,
    run_until,
    set_speed,
    step,
)
from schedviz.store import Clock, Meta, Sandbox, Store, codec
from simulator.api import SECOND
from tests.loop.conftest import node, pod
from tests.loop.world import World
from tests.round_trips import round_trips


def test_time_does_not_jump_when_the_clock_is_changed() -> None:
    clock = Clock(sim=100 * SECOND, wall=10.0)
    assert clock.now(12.5) == 102.5 * SECOND
    assert clock.now(9.0) == 100 * SECOND  # another machine's wall clock is behind
    faster = clock.rebased(20.0, speed=10)
    assert faster.now(20.0) == 110 * SECOND
    assert faster.now(21.0) == 120 * SECOND
    paused = faster.rebased(21.0, paused=True)
    assert paused.now(1000.0) == 120 * SECOND
    resumed = paused.rebased(1000.0, paused=False)
    assert resumed.now(1000.5) == 125 * SECOND
    assert resumed.wall_at(130 * SECOND) == 1001.0
    assert paused.wall_at(130 * SECOND) is None
    assert resumed.starting(5000.0).now(5001.0) == 130 * SECOND


def test_the_speed_without_pace_is_kept_until_another_is_chosen(sandbox: Sandbox) -> None:
    set_speed(sandbox, MAX)
    for change in (pause, resume, step, resume, lambda each: run_until(each, "preemption"), pause):
        change(sandbox)
        assert (sandbox.clock().speed, sandbox.clock().unpaced) == (MAX_SPEED, True)
    assert not set_speed(sandbox, MAX_SPEED).unpaced


def test_a_clock_that_was_stored_before_there_was_this_speed_can_be_set(sandbox: Sandbox) -> None:
    assert "unpaced" not in codec.encode(sandbox.clock())
    assert sandbox.set_clock(sandbox.clock().rebased(1.0, unpaced=True), sandbox.clock())
    assert sandbox.set_clock(sandbox.clock().rebased(1.0, unpaced=False), sandbox.clock())
    assert "unpaced" not in codec.encode(sandbox.clock())


def test_a_clock_that_another_process_set_is_not_overwritten(sandbox: Sandbox) -> None:
    read = sandbox.clock()
    assert sandbox.set_clock(read.rebased(read.wall + 1, paused=True), read)
    assert not sandbox.set_clock(read.rebased(read.wall + 2, speed=5), read)
    assert sandbox.clock().paused
    assert sandbox.clock().speed == 1


@pytest.mark.parametrize("speed", [0.0, 0.09, 101.0, -1.0, float("nan"), float("inf")])
def test_a_speed_out_of_bounds_is_refused(sandbox: Sandbox, speed: float) -> None:
    before = sandbox.clock()
    with pytest.raises(ValueError, match="speed"):
        set_speed(sandbox, speed)
    assert sandbox.clock() == before


def test_a_clock_whose_loop_has_work_that_was_due_a_while_ago_is_late(store: Store) -> None:
    world = World(store, pace=SECOND)
    world.create(node("n0", cpu="100"), *(pod(f"p{number}") for number in range(3)))
    world.slice()
    sandbox = world.sandbox
    sandbox.set_clock(Clock(sandbox.clock().sim, sandbox.wall() - 10, speed=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "SLICE_SECONDS", 0)
        world.driver.slice(sandbox.name, world.mark())
        assert sandbox.clock().late
    # After a change by a user the loop checks again whether the clock is late.
    assert not sandbox.clock().rebased(sandbox.wall(), speed=5).late
    world.slice()
    assert not sandbox.clock().late
    sandbox.set_clock(sandbox.clock().rebased(sandbox.wall(), paused=True))
    store.delete(sandbox.name)


def test_many_clocks_are_paused_and_resumed_in_few_round_trips(
    store: Store, sandbox_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{sandbox_name[:50]}-{number}" for number in range(30)]
    made = [store.create(Meta(name)) for name in names]
    rung: list[str] = []
    monkeypatch.setattr(clock, "ring", rung.append)
    set_clocks = clock.set_clocks

    def after_another(*arguments: object) -> list[str]:
        monkeypatch.setattr(clock, "set_clocks", set_clocks)
        set_speed(made[0], 5)
        return set_clocks(*arguments)  # type: ignore[arg-type] # passed on as they come

    monkeypatch.setattr(clock, "set_clocks", after_another)
    pause_many(store, [*names, "not-there"])
    assert all(each.clock().paused for each in made)
    assert made[0].clock().speed == 5
    assert {*rung} == {*names}
    with round_trips() as sent:
        resume_many(store, names)
    assert not any(each.clock().paused for each in made)
    assert sent() < 2 * len(names), "a message each, and some for all"
    pause_many(store, [])
    for name in names:
        store.delete(name)
