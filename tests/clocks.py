"""Simulated time, as tests on the real stack set it and wait for it."""

from msgspec.structs import replace

from schedviz.loop import due, wake
from schedviz.store import Sandbox
from schedviz.store.default import default_store
from simulator.api import SECOND
from tests.waiting import eventually


def at_rest(sandbox: Sandbox) -> None:
    """Wait until the leader has done all requested work on a clock that stands still. From then on the trace
    grows only after a write."""
    assert sandbox.clock().paused
    redis = default_store().redis
    eventually(lambda: redis.zscore(due.KEY, sandbox.name) is None, "no slice is due")


def pass_time(sandbox: Sandbox, seconds: float) -> None:
    """Move simulated time on at once."""
    while True:
        clock = sandbox.clock()
        if sandbox.set_clock(replace(clock, sim=clock.sim + round(seconds * SECOND)), clock):
            break
    wake(sandbox.name)
