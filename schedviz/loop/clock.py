"""Pause, resume, faster, slower."""

import time

from schedviz.loop.doorbell import ring
from schedviz.loop.wakes import wake
from schedviz.store import Clock, Sandbox

MIN_SPEED = 0.1
MAX_SPEED = 100.0
"""At 100x a 50 ms frame is 5 simulated seconds: faster, nothing could be seen."""


def change_clock(sandbox: Sandbox, *, speed: float | None = None, paused: bool | None = None) -> Clock:
    """Set the speed, pause or resume; simulated time goes on from where it is. The new clock.

    Raises ValueError for a speed out of bounds.
    """
    if speed is not None and not MIN_SPEED <= speed <= MAX_SPEED:
        raise ValueError(f"the speed must be from {MIN_SPEED:g} to {MAX_SPEED:g}")
    while True:
        was = sandbox.clock()
        clock = was.rebased(time.time(), speed=speed, paused=paused)
        if sandbox.set_clock(clock, was):
            wake(sandbox.name)
            ring(sandbox.name)
            return clock
