"""Controls the clock of a sandbox: pause, resume, speed, steps, and runs up to a condition.

Every function returns the new clock, and wakes the sandbox's loop."""

from collections.abc import Callable

from msgspec.structs import replace

from schedviz.loop.doorbell import ring
from schedviz.loop.wakes import wake
from schedviz.store import Clock, Sandbox, Steps
from simulator.scheduler.stepping import Unit, Until

MIN_SPEED = 0.1
MAX_SPEED = 100.0
"""At 100x a 50 ms frame is 5 simulated seconds; at a greater speed people cannot follow."""

MAX_STEPS = 1000
"""Pending steps of a sandbox. So many scheduling cycles take some seconds of work."""


def pause(sandbox: Sandbox) -> Clock:
    """Stop simulated time. Pending steps are dropped."""
    return _change(sandbox, lambda clock, wall: Clock(clock.now(wall), wall, clock.speed, paused=True))


def resume(sandbox: Sandbox) -> Clock:
    """Let simulated time run on, without a condition."""
    return _change(sandbox, lambda clock, wall: Clock(clock.now(wall), wall, clock.speed))


def set_speed(sandbox: Sandbox, speed: float) -> Clock:
    """Set the ratio of simulated time to wall time. Raises ValueError for a speed out of bounds."""
    if not MIN_SPEED <= speed <= MAX_SPEED:
        raise ValueError(f"the speed must be from {MIN_SPEED:g} to {MAX_SPEED:g}")
    return _change(sandbox, lambda clock, wall: clock.rebased(wall, speed=speed))


def step(sandbox: Sandbox, unit: Unit = "point", count: int = 1) -> Clock:
    """Pause, and add ``count`` steps to the pending steps of the same unit (see
    :class:`simulator.scheduler.stepping.Stride`). Pending steps of another unit are dropped.

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
    """Resume, and pause when the condition becomes true. Raises ValueError for a condition that
    :class:`simulator.scheduler.stepping.Until` does not know."""
    until = Until(condition).condition
    return _change(sandbox, lambda clock, wall: replace(clock.rebased(wall, paused=False), until=until))


def _change(sandbox: Sandbox, change: Callable[[Clock, float], Clock]) -> Clock:
    while True:
        old, wall = sandbox.read_clock()
        clock = change(old, wall)
        if sandbox.set_clock(clock, old):
            wake(sandbox.name)
            ring(sandbox.name)
            return clock
