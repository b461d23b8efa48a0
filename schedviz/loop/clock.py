"""Pause, resume, faster, slower, a step, a run until something happens."""

import time
from collections.abc import Callable

from msgspec.structs import replace

from schedviz.loop.doorbell import ring
from schedviz.loop.wakes import wake
from schedviz.store import Clock, Sandbox, Steps
from simulator.scheduler.stepping import Unit, Until

MIN_SPEED = 0.1
MAX_SPEED = 100.0
"""At 100x a 50 ms frame is 5 simulated seconds: faster, nothing could be seen."""

MAX_STEPS = 1000
"""Steps that may wait to be taken: a lesson's worth of cycles, and seconds of work."""


def pause(sandbox: Sandbox) -> Clock:
    """Stop time where it is; the new clock, as of all functions here. Steps not yet taken are dropped."""
    return _change(sandbox, lambda clock, wall: Clock(clock.now(wall), wall, clock.speed, paused=True))


def resume(sandbox: Sandbox) -> Clock:
    """Simulated time goes on from where it is, whatever it ran for before."""
    return _change(sandbox, lambda clock, wall: Clock(clock.now(wall), wall, clock.speed))


def set_speed(sandbox: Sandbox, speed: float) -> Clock:
    """Raises ValueError for a speed out of bounds."""
    if not MIN_SPEED <= speed <= MAX_SPEED:
        raise ValueError(f"the speed must be from {MIN_SPEED:g} to {MAX_SPEED:g}")
    return _change(sandbox, lambda clock, wall: clock.rebased(wall, speed=speed))


def step(sandbox: Sandbox, unit: Unit = "point", count: int = 1) -> Clock:
    """Pause, and take steps from there (see :class:`simulator.scheduler.stepping.Stride`), beside those not
    yet taken.

    Raises ValueError for a count that is not positive, or for more than MAX_STEPS.
    """
    if not 0 < count <= MAX_STEPS:
        raise ValueError(f"from 1 to {MAX_STEPS:,} steps may be taken at once")

    def stepped(clock: Clock, wall: float) -> Clock:
        waiting = clock.steps.left if clock.steps and clock.steps.unit == unit else 0
        steps = Steps(unit, min(waiting + count, MAX_STEPS))
        return replace(clock.rebased(wall, paused=True), steps=steps)

    return _change(sandbox, stepped)


def run_until(sandbox: Sandbox, condition: str) -> Clock:
    """Resume, and pause when the condition comes true. Raises ValueError for one that
    :class:`simulator.scheduler.stepping.Until` does not know."""
    until = Until(condition).condition
    return _change(sandbox, lambda clock, wall: replace(clock.rebased(wall, paused=False), until=until))


def _change(sandbox: Sandbox, change: Callable[[Clock, float], Clock]) -> Clock:
    while True:
        was = sandbox.clock()
        clock = change(was, time.time())
        if sandbox.set_clock(clock, was):
            wake(sandbox.name)
            ring(sandbox.name)
            return clock
