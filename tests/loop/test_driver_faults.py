"""Slices that fail, and workers that lead a sandbox no more."""

import pytest
from msgspec.structs import replace

from schedviz.loop import driver as module
from schedviz.loop.archive_writer import ArchiveWriter
from schedviz.loop.driver import Driver
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.store import Commit, Meta, Sandbox, Steps, Store
from simulator.trace import LeaderElected, SchedulerError
from tests.loop.stand_in import StandIn, due_at, made, run, run_and_be_due_in, traced
from tests.store.test_commit import create


def test_a_fault_is_reported_and_the_slice_is_run_again_later_with_a_new_simulation(
    driver: Driver, store: Store, sandbox: Sandbox, stand_in: type[StandIn], caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: StandIn) -> bool:
        raise ZeroDivisionError("by a plugin")

    stand_in.work = fail
    sandbox.commit(Commit([create("a")]))
    for fault, delay in enumerate([5, 10, 20], start=1):
        run_and_be_due_in(driver, store, sandbox, delay)
        errors = [event for event in traced(sandbox) if isinstance(event, SchedulerError)]
        assert [error.message for error in errors] == ["ZeroDivisionError: by a plugin"] * fault
        assert len(made) == fault
        assert sandbox.name not in store.unseen()  # no sweep wakes it earlier
        failure = sandbox.failure()
        assert failure
        assert (failure.message, failure.times) == ("ZeroDivisionError: by a plugin", fault)
        assert failure.again - failure.at == delay
        assert sandbox.name in store.failing()
    assert "by a plugin" in caplog.text
    stand_in.work = lambda self: False
    run(driver, store, sandbox)
    assert due_at(store, sandbox) is None
    assert sandbox.failure() is None


def test_a_failed_loop_is_forgotten_when_another_worker_runs_it_or_the_sandbox_is_deleted(
    driver: Driver, store: Store, sandbox: Sandbox, stand_in: type[StandIn]
) -> None:
    def fail(self: StandIn) -> bool:
        raise ZeroDivisionError

    stand_in.work = fail
    run(driver, store, sandbox)
    assert sandbox.name in store.failing()
    stand_in.work = lambda self: False
    other = Presence(store, f"other-{sandbox.name}")
    other.beat()
    other.workers.stop(sandbox.name)
    run(Driver(store, Wakes(store), other, stand_in), store, sandbox)
    assert sandbox.name not in store.failing()
    stand_in.work = fail
    doomed = store.create(Meta(name=f"{sandbox.name[:55]}-doomed"))
    run(driver, store, doomed)
    assert doomed.name in store.failing()
    store.delete(doomed.name)
    assert doomed.name not in store.failing()


def test_a_worker_that_lost_the_lease_writes_nothing_and_drops_its_simulation(
    driver: Driver, store: Store, sandbox: Sandbox, stand_in: type[StandIn]
) -> None:
    run(driver, store, sandbox)
    other = Presence(store, f"other-{sandbox.name}")
    other.beat()

    def lose(self: StandIn) -> bool:
        sandbox.take_lease(other.worker, sandbox.lease())
        self.api.commit([create("a")])
        return True

    stand_in.work = lose
    run(driver, store, sandbox)
    assert sandbox.get("pods", "default/a") is None
    run(driver, store, sandbox)  # the other worker is alive and keeps the sandbox
    assert len(made) == 1
    assert sandbox.lease().holder == other.worker  # type: ignore[union-attr]  # it is held
    other.workers.stop(other.worker)
    stand_in.work = lambda self: False
    run(driver, store, sandbox)
    assert len(made) == 2
    assert [type(event) for event in traced(sandbox)] == [LeaderElected, LeaderElected]


def test_a_worker_that_lost_the_lease_does_not_run_the_steps_of_the_next_leader(
    driver: Driver, store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(driver, store, sandbox)
    paused = sandbox.clock().rebased(sandbox.wall(), paused=True)
    stepping = replace(paused, steps=Steps("cycle", 2))
    sandbox.set_clock(stepping)
    monkeypatch.setattr(
        ArchiveWriter, "slice_ended", lambda _, lease: sandbox.take_lease("another", sandbox.lease())
    )
    run(driver, store, sandbox)
    assert sandbox.clock() == stepping


def test_beyond_the_bound_of_led_sandboxes_the_least_recently_used_is_released(
    driver: Driver, store: Store, sandbox: Sandbox, sandbox_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_LEADERS", 1)
    second = store.create(Meta(name=f"{sandbox.name[:55]}-second"))
    run(driver, store, sandbox)
    run(driver, store, second)
    assert sandbox.lease() is None
    lease = second.lease()
    assert lease
    assert lease.holder == sandbox_name
    run(driver, store, sandbox)
    assert second.lease() is None
    assert len(made) == 3
    store.delete(second.name)
    run(driver, store, second)
    assert due_at(store, second) is None
