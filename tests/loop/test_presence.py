"""Who is alive; and time that stands still while nobody is."""

import time

import pytest

from schedviz.loop import presence as module
from schedviz.loop.presence import Presence
from schedviz.store import Clock, Meta, Sandbox, Store
from simulator.api import SECOND

HOUR = 3600.0


@pytest.fixture
def alone(store: Store, monkeypatch: pytest.MonkeyPatch, sandbox_name: str) -> None:
    """Keys of the test's own, apart from those of the session's worker."""
    for key in ("ALIVE", "WORKERS", "REBASE_LOCK"):
        monkeypatch.setattr(module, key, f"test:{sandbox_name}:{key}")


@pytest.mark.usefixtures("alone")
def test_a_worker_is_alive_until_it_leaves_or_falls_silent(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = Presence(store, "one"), Presence(store, "other")
    for presence in (one, other):
        presence.beat()
    assert one.is_alive("other")
    assert one.bury() == []
    other.leave()
    assert not one.is_alive("other")
    monkeypatch.setattr(module, "TTL_SECONDS", 0.001)
    other.beat()
    while one.is_alive("other"):
        pass
    assert one.bury() == ["other"]
    assert one.bury() == []


@pytest.mark.usefixtures("alone")
def test_simulated_time_stands_still_while_no_worker_is_there(store: Store, sandbox: Sandbox) -> None:
    """The machine was off for an hour, and stopped ten minutes of simulated time after the clock was set."""
    wall = time.time()
    sandbox.set_clock(Clock(sim=1000 * SECOND, wall=wall - HOUR - 60, speed=10))
    paused = store.create(
        Meta(name=f"{sandbox.name[:55]}-paused"), clock=Clock(5, wall - 2 * HOUR, paused=True)
    )
    store.redis.set(module.ALIVE, wall - HOUR)

    presences = [Presence(store, f"worker-{number}") for number in range(3)]
    assert not presences[0].is_current()
    for presence in presences:
        presence.beat()
        assert presence.is_current()

    now = time.time()
    assert 1600 * SECOND <= sandbox.clock().now(now) <= (1600 + (now - wall) * 10 + 1) * SECOND
    assert sandbox.clock().speed == 10
    assert paused.clock().now(now) == 5
    store.delete(paused.name)


@pytest.mark.usefixtures("alone")
def test_a_sandbox_made_while_no_worker_was_there_starts_with_the_first(
    store: Store, sandbox: Sandbox
) -> None:
    wall = time.time()
    store.redis.set(module.ALIVE, wall - HOUR)
    sandbox.set_clock(Clock(sim=0, wall=wall - 100))
    Presence(store, "worker").beat()
    assert sandbox.clock().now(time.time()) < 10 * SECOND


@pytest.mark.usefixtures("alone")
def test_a_short_absence_is_made_up_for(store: Store, sandbox: Sandbox) -> None:
    wall = time.time()
    store.redis.set(module.ALIVE, wall - 3)
    clock = Clock(sim=0, wall=wall - 100)
    sandbox.set_clock(clock)
    Presence(store, "worker").beat()
    assert sandbox.clock() == clock
