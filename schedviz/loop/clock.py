"""Controls the clock of a sandbox: pause, resume, speed, steps, and runs up to a condition.

Every function wakes the sandbox's loop; those for one sandbox return the new clock."""

from collections.abc import Callable, Sequence
from typing import Final, Literal

from msgspec import UNSET
from msgspec.structs import replace

from schedviz.loop.doorbell import ring
from schedviz.loop.wakes import wake, wake_many
from schedviz.store import Clock, Sandbox, Steps, Store
from schedviz.store.clocks import read_clocks, set_clocks
from simulator.api import Micros
from simulator.scheduler.stepping import Unit, Until

Change = Callable[[Clock, float], Clock]
"""A change of a clock at a wall time."""

Move = Callable[[Sandbox], Clock]
"""The type of the functions below that change the clock of one sandbox."""

MIN_SPEED = 0.1
MAX_SPEED = 100.0
"""The greatest speed. At 100x a 50 ms frame is 5 simulated seconds; at a greater speed people cannot
follow."""

MAX: Final = "max"
"""The speed "as fast as it can": MAX_SPEED, at which no scheduling cycle waits until its pace is over. While
the scheduler has a pod to schedule, simulated time moves on to the end of each cycle, as fast as the worker
runs them. A cycle still takes its pace of simulated time, and what is due meanwhile happens in its order.
Without such a pod time goes at MAX_SPEED: a sandbox in which nothing happens does not run ahead. In a run
that ends at a time at the latest, time moves on at once to the next due work."""

MAX_STEPS = 1000
"""Maximum number of pending steps of a sandbox. So many scheduling cycles take some seconds of work."""


def pause(sandbox: Sandbox) -> Clock:
    """Stop simulated time. Pending steps are dropped."""
    return _change(sandbox, _paused)


def pause_many(store: Store, names: Sequence[str]) -> None:
    """Pause those of the sandboxes that exist, as :func:`pause` does, in a few round trips for all."""
    _change_many(store, names, _paused)


def resume(sandbox: Sandbox) -> Clock:
    """Let simulated time run on, without a condition."""
    return _change(sandbox, _resumed)


def resume_many(store: Store, names: Sequence[str]) -> None:
    """Resume those of the sandboxes that exist, as :func:`resume` does, in a few round trips for all."""
    _change_many(store, names, _resumed)


def set_speed(sandbox: Sandbox, speed: float | Literal["max"]) -> Clock:
    """Set the ratio of simulated time to wall time, or MAX. Raises ValueError for a speed out of bounds."""
    factor = MAX_SPEED if isinstance(speed, str) else speed
    if not MIN_SPEED <= factor <= MAX_SPEED:
        raise ValueError(f"the speed must be from {MIN_SPEED:g} to {MAX_SPEED:g}, or {MAX}")
    return _change(sandbox, lambda clock, wall: clock.rebased(wall, speed=factor, unpaced=speed == MAX))


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
    """Resume, and pause when the condition becomes true. Raises ValueError for a condition that is none of
    :class:`simulator.scheduler.stepping.Until`."""
    until = Until(condition).condition
    return _change(sandbox, lambda clock, wall: replace(clock.rebased(wall, paused=False), until=until))


def move_to(sandbox: Sandbox, time: Micros) -> Clock:
    """Move a paused clock forward to a simulated time up to which nothing is due."""
    return _change(
        sandbox, lambda clock, _: replace(clock, sim=max(clock.sim, time)) if clock.paused else clock
    )


def _paused(clock: Clock, wall: float) -> Clock:
    return replace(clock.rebased(wall, paused=True), steps=UNSET)


def _resumed(clock: Clock, wall: float) -> Clock:
    return replace(clock.rebased(wall, paused=False), until=UNSET)


def _change(sandbox: Sandbox, change: Change) -> Clock:
    while True:
        old, wall = sandbox.read_clock()
        clock = change(old, wall)
        if sandbox.set_clock(clock, old):
            wake(sandbox.name)
            ring(sandbox.name)
            return clock


def _change_many(store: Store, names: Sequence[str], change: Change) -> None:
    changed: list[str] = []
    for server, its_names in store.servers.group(names).items():
        waiting = its_names
        while waiting:
            clocks, wall = read_clocks(server.redis, waiting)
            done = set_clocks(server.redis, [(name, old, change(old, wall)) for name, old in clocks.items()])
            changed += done
            waiting = [name for name in clocks if name not in done]  # another process has set it meanwhile
    wake_many(changed)
    for name in changed:
        ring(name)
