"""Moves the clock of a sandbox over a time in which no worker was there for it."""

from schedviz.store import NoSandbox, Store, Unreadable


def move_clock(store: Store, name: str, last: float) -> None:
    """Set the clock as if it had been paused from the wall time ``last`` until now. Nothing changes if there
    is no such sandbox, or it cannot be read."""
    try:
        sandbox = store.sandbox(name)
        while True:
            clock, wall = sandbox.read_clock()
            # If the clock was set while no worker was alive, its time starts now.
            stopped = clock.rebased(max(last, clock.wall))
            if sandbox.set_clock(stopped.starting(wall), clock):
                return
    except (NoSandbox, Unreadable):
        return
