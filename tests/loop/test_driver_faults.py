"""Slices that fail, and workers that lead a sandbox no more."""

import pytest
from msgspec.structs import replace
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError, RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from schedviz.loop import driver as module
from schedviz.loop.archive_writer import ArchiveWriter
from schedviz.loop.driver import Driver
from schedviz.loop.due import RETRY_SECONDS
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.store import Commit, Meta, Sandbox, Steps, Store
from schedviz.store import sandbox as sandbox_module
from schedviz.store.commit_script import LIMITS
from simulator.trace import ControllerFailed, LeaderElected, SchedulerError
from tests.loop.conftest import node, pod
from tests.loop.stand_in import StandIn, due_at, made, run, run_and_be_due_in, traced
from tests.loop.world import World
from tests.simulator.controllers.workloads import workload
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


@pytest.mark.parametrize(
    "error", [RedisTimeoutError("Timeout reading from socket"), ResponseError("too many results")]
)
def test_a_slice_that_redis_ends_again_and_again_is_told_and_postponed(
    driver: Driver, store: Store, sandbox: Sandbox, stand_in: type[StandIn], error: RedisError
) -> None:
    """As one that writes or reads too much at once. Before, it was repeated every two seconds without end."""

    def fail(self: StandIn) -> bool:
        raise error

    stand_in.work = fail
    for _ in range(module.LOSSES - 1):
        run_and_be_due_in(driver, store, sandbox, RETRY_SECONDS)
        assert sandbox.failure() is None
    for times, delay in enumerate([5, 10, 20], start=1):
        run_and_be_due_in(driver, store, sandbox, delay)
        failure = sandbox.failure()
        assert failure
        assert (failure.message, failure.times) == (f"{module.NOT_DONE}: {error}", times)
        assert sandbox.name in store.failing()
    stand_in.work = lambda self: False
    run(driver, store, sandbox)
    assert due_at(store, sandbox) is None
    assert sandbox.failure() is None
    assert sandbox.name not in store.failing()


def test_a_redis_that_is_away_is_no_failure_of_the_sandbox(
    driver: Driver, store: Store, sandbox: Sandbox, stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RedisConnectionError("Error 111 connecting")

    run(driver, store, sandbox)
    with monkeypatch.context() as patch:
        patch.setattr(driver._wakes.due, "begin", fail)
        for _ in range(2 * module.LOSSES):
            run(driver, store, sandbox)
    assert sandbox.failure() is None
    full = OutOfMemoryError("command not allowed when used memory > 'maxmemory'")
    with monkeypatch.context() as patch:
        patch.setattr(sandbox_module.Sandbox, "renew_lease", lambda *_: (_ for _ in ()).throw(full))
        for _ in range(2 * module.LOSSES):
            run(driver, store, sandbox)
    assert sandbox.failure() is None


def test_a_sandbox_that_is_full_waits_and_goes_on_when_there_is_room(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(store)
    try:
        world.create(node("n0"), pod("other"))
        world.slice()
        held = world.sandbox.stored_bytes().all
        world.create(workload("ReplicaSet", annotations={"a": "x" * 1_000}, replicas=10))
        with monkeypatch.context() as patch:
            patch.setitem(LIMITS, "bytes", held + 10_000)
            for _ in range(20):
                world.slice()
                world.let_time_pass(1)
            assert len(world.sandbox.list("pods").items) == 1
            refused = [each for each in traced(world.sandbox) if isinstance(each, ControllerFailed)]
            assert len(refused) == 1, "told once, and repeated with back-off"
            (told,) = [
                each for each in world.sandbox.list("events").items if each["reason"] == "FailedCreate"
            ]
            assert "TooManyRequests" in told["message"]
            assert world.sandbox.failure() is None
        for _ in range(8):
            world.let_time_pass(10)
            world.slice()
        assert len(world.sandbox.list("pods").items) == 11
    finally:
        store.delete(world.sandbox.name)


def test_a_slice_ends_when_its_sandbox_is_deleted_in_the_middle_of_it(
    driver: Driver, store: Store, stand_in: type[StandIn], sandbox_name: str
) -> None:
    sandbox = store.create(Meta(sandbox_name))
    steps = 0

    def work(self: StandIn) -> bool:
        nonlocal steps
        steps += 1
        if steps == 3:
            store.delete(sandbox.name)
        self.api.commit([create(f"p{steps}")])
        return True

    stand_in.work = work
    run(driver, store, sandbox)
    assert steps == 3
    assert not store.exists(sandbox.name)
    assert due_at(store, sandbox) is None
    assert sandbox.name not in driver._leaders
    assert sandbox.name not in store.names()


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
