"""Which workers are alive, and simulated time, which stands still while none is."""

import pytest

from schedviz.loop import due
from schedviz.loop import presence as module
from schedviz.loop.presence import Presence
from schedviz.processes import heartbeats
from schedviz.store import Clock, Meta, Sandbox, Store
from schedviz.store.keys import Keys
from simulator.api import SECOND

HOUR = 3600.0


@pytest.fixture
def alone(store: Store, monkeypatch: pytest.MonkeyPatch, sandbox_name: str) -> None:
    """Keys of the test's own, apart from those of the session's worker."""
    for key in ("ALIVE", "REBASE_LOCK", "SWEEP_LOCK"):
        monkeypatch.setattr(module, key, f"test:{sandbox_name}:{key}")
    monkeypatch.setattr(heartbeats, "heartbeats_key", lambda role: f"test:{sandbox_name}:{role}")
    monkeypatch.setattr(due, "KEY", f"test:{sandbox_name}:due")


@pytest.mark.usefixtures("alone")
def test_a_worker_is_alive_until_it_stops_or_sends_no_heartbeat(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = Presence(store, "one"), Presence(store, "other")
    for presence in (one, other):
        presence.beat()
    assert one.is_alive("other")
    assert one.workers.dead() == []
    other.workers.stop("other")
    assert not one.is_alive("other")
    assert one.workers.dead() == ["other"]
    other.beat()
    assert one.is_alive("other")
    assert one.workers.dead() == []
    monkeypatch.setattr(heartbeats, "TTL_SECONDS", 0.001)
    other.beat()
    while one.is_alive("other"):
        pass
    assert "other" in one.workers.dead()
    one.workers.forget(["other"])
    assert "other" not in one.workers.dead()


@pytest.mark.usefixtures("alone")
def test_simulated_time_stands_still_while_no_worker_is_alive(store: Store, sandbox: Sandbox) -> None:
    """The machine was off for an hour, and stopped ten minutes of simulated time after the clock was set."""
    wall = store.wall()
    sandbox.set_clock(Clock(sim=1000 * SECOND, wall=wall - HOUR - 60, speed=10))
    paused = store.create(
        Meta(name=f"{sandbox.name[:55]}-paused"), clock=Clock(5, wall - 2 * HOUR, paused=True)
    )
    store.redis.set(module.ALIVE, wall - HOUR)

    presences = [Presence(store, f"worker-{number}") for number in range(3)]
    assert not presences[0].is_current(wall)
    for presence in presences:
        presence.beat()
        assert presence.is_current(store.wall())

    now = store.wall()
    assert 1600 * SECOND <= sandbox.clock().now(now) <= (1600 + (now - wall) * 10 + 1) * SECOND
    assert sandbox.clock().speed == 10
    assert paused.clock().now(now) == 5
    store.delete(paused.name)


@pytest.mark.usefixtures("alone")
def test_an_unreadable_clock_does_not_stop_other_clocks(store: Store, sandbox: Sandbox) -> None:
    wall = store.wall()
    sandbox.set_clock(Clock(sim=0, wall=wall - HOUR))
    broken = store.create(Meta(name=f"a-{sandbox.name[:50]}"))
    store.redis.hset(Keys.of(broken.name).state, "clock", "{nonsense")
    store.redis.set(module.ALIVE, wall - HOUR)
    presence = Presence(store, "worker")
    presence.beat()
    assert presence.is_current(store.wall())
    assert sandbox.clock().wall >= wall
    store.delete(broken.name)


@pytest.mark.usefixtures("alone")
def test_a_sandbox_made_while_no_worker_was_there_starts_with_the_first(
    store: Store, sandbox: Sandbox
) -> None:
    wall = store.wall()
    store.redis.set(module.ALIVE, wall - HOUR)
    sandbox.set_clock(Clock(sim=0, wall=wall - 100))
    Presence(store, "worker").beat()
    assert sandbox.now() <= (store.wall() - wall) * SECOND


@pytest.mark.usefixtures("alone")
def test_simulated_time_does_not_jump_when_the_clock_of_redis_is_set_back(
    store: Store, sandbox: Sandbox
) -> None:
    """The clock is set back by an hour, so that the stored times are in the future."""
    wall = store.wall()
    sandbox.set_clock(Clock(sim=1000 * SECOND, wall=wall + HOUR - 60, speed=10))
    store.redis.set(module.ALIVE, wall + HOUR)
    store.redis.zadd(due.KEY, {sandbox.name: (wall + HOUR) * SECOND})
    store.redis.set(module.SWEEP_LOCK, "a worker")
    worker, dead = Presence(store, "worker"), Presence(store, "dead")
    store.redis.hset(heartbeats.heartbeats_key("worker"), "dead", wall + HOUR)
    assert not worker.is_alive("dead")

    worker.beat()
    assert worker.is_current(store.wall())
    assert 1600 * SECOND <= sandbox.now() <= (1600 + (store.wall() - wall) * 10 + 1) * SECOND
    assert due.Due(store.redis).claim() == [sandbox.name], "it does not wait for an hour"
    assert not store.redis.exists(module.SWEEP_LOCK)
    assert worker.workers.dead() == [dead.worker]


@pytest.mark.usefixtures("alone")
def test_a_worker_that_did_not_notice_that_the_clock_of_redis_jumped_runs_no_slice(
    store: Store, sandbox: Sandbox
) -> None:
    worker = Presence(store, "worker")
    worker.beat()
    for jump in (HOUR, -HOUR):
        assert not worker.is_current(store.wall() + jump)


@pytest.mark.usefixtures("alone")
def test_simulated_time_catches_up_after_a_short_absence_of_workers(store: Store, sandbox: Sandbox) -> None:
    wall = store.wall()
    store.redis.set(module.ALIVE, wall - 3)
    clock = Clock(sim=0, wall=wall - 100)
    sandbox.set_clock(clock)
    Presence(store, "worker").beat()
    assert sandbox.clock() == clock
