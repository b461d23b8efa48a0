"""The slice, with a small stand-in for the Simulation, on the real store."""

import json
import time
from typing import cast

import pytest

from schedviz.api import write
from schedviz.loop import driver as module
from schedviz.loop.driver import MAX_FAULT_SECONDS, Driver
from schedviz.loop.due import RETRY_SECONDS
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.processes.message_queues import SLICES_QUEUE, list_key, own_queue_name
from schedviz.store import Commit, Sandbox, Store
from schedviz.store.commit_script import LIMITS
from schedviz.store.keys import Keys
from simulator.api import SECOND, ApiError, Change, Micros
from simulator.simulation import Simulation
from simulator.trace import Bound, LeaderElected, PodRemoved, QueuePlace, SchedulerError
from tests.loop.conftest import node, pod
from tests.loop.stand_in import StandIn, due_at, made, run, run_and_be_due_in, traced
from tests.store.test_commit import create


def test_a_slice_observes_the_log_stores_its_leader_and_asks_for_the_next_slice(
    driver: Driver, store: Store, sandbox: Sandbox, stand_in: type[StandIn]
) -> None:
    sandbox.commit(Commit([create("a"), create("b")]))
    sandbox.commit(
        Commit(queue_places={"default/of-the-last-leader": QueuePlace("", "", "activeQ", 0, 0, 0, 1)})
    )
    stand_in.due = sandbox.clock().now(time.time()) + 3600 * SECOND
    before = store.wall()
    run(driver, store, sandbox)
    elected, *rest = traced(sandbox)
    lease = sandbox.lease()
    assert lease
    assert isinstance(elected, LeaderElected)
    assert (elected.holder, elected.epoch) == (lease.holder, lease.epoch)
    assert [event.pod for event in rest if isinstance(event, PodRemoved)] == ["default/a", "default/b"]
    assert sandbox.queue_places() == {}
    assert store.unseen().count(sandbox.name) == 0
    due = due_at(store, sandbox)
    assert due
    # The clocks of the two processes may be some milliseconds apart.
    assert before + 3599 < due < store.wall() + 3601

    stand_in.due = None
    run(driver, store, sandbox)
    assert due_at(store, sandbox) is None
    assert len(made) == 1
    assert sandbox.lease().epoch == lease.epoch  # type: ignore[union-attr]  # it is held


@pytest.mark.parametrize("field", ["meta", "clock"])
def test_a_sandbox_that_cannot_be_read_is_tried_again_later(
    driver: Driver, store: Store, sandbox: Sandbox, field: str
) -> None:
    readable = store.redis.hget(Keys.of(sandbox.name).state, field)
    store.redis.hset(Keys.of(sandbox.name).state, field, "{nonsense")
    run_and_be_due_in(driver, store, sandbox, MAX_FAULT_SECONDS)
    store.redis.hset(Keys.of(sandbox.name).state, field, readable)
    run(driver, store, sandbox)
    assert any(isinstance(event, LeaderElected) for event in traced(sandbox))


def test_a_message_older_than_the_last_slice_is_ignored(
    driver: Driver, store: Store, sandbox: Sandbox
) -> None:
    asked = Wakes(store).due.mark(sandbox.name).order
    run(driver, store, sandbox)
    sandbox.commit(Commit([create("a")]))
    driver.slice(sandbox.name, asked)
    assert store.unseen().count(sandbox.name) == 1


def test_one_message_of_a_sandbox_waits_at_its_leader_however_often_it_is_woken(
    driver: Driver, store: Store, sandbox: Sandbox
) -> None:
    run(driver, store, sandbox)
    lease = sandbox.lease()
    assert lease
    queue = list_key(own_queue_name(SLICES_QUEUE, lease.holder))
    wakes = Wakes(store)
    for _ in range(5):
        wakes.wake(sandbox.name)
    assert store.redis.llen(queue) == 1
    run(driver, store, sandbox)  # takes one
    for _ in range(5):
        wakes.wake(sandbox.name)
    assert store.redis.llen(queue) == 2
    store.redis.delete(queue)


def test_a_message_that_waits_at_the_leader_covers_later_wakes(
    driver: Driver, store: Store, sandbox: Sandbox
) -> None:
    run(driver, store, sandbox)
    lease = sandbox.lease()
    assert lease
    queue = list_key(own_queue_name(SLICES_QUEUE, lease.holder))
    wakes = Wakes(store)
    wakes.wake(sandbox.name)
    sandbox.commit(Commit([create("a")]))
    wakes.wake(sandbox.name, lease.holder)
    assert store.redis.llen(queue) == 1
    message = json.loads(cast("bytes", store.redis.rpop(queue)))
    arguments, *_ = json.loads(message["body"])
    driver.slice(*arguments)
    assert sandbox.name not in store.unseen()
    wakes.wake(sandbox.name)
    assert store.redis.llen(queue) == 1
    store.redis.delete(queue)


def test_a_paused_sandbox_observes_writes_and_does_nothing(
    driver: Driver, store: Store, sandbox: Sandbox, stand_in: type[StandIn]
) -> None:
    worked: list[Micros] = []
    stand_in.work = lambda self: bool(worked.append(self.now))
    clock = sandbox.clock().rebased(time.time(), paused=True)
    sandbox.set_clock(clock)
    stand_in.due = clock.sim
    sandbox.commit(Commit([create("a")]))
    run(driver, store, sandbox)
    sandbox.commit(Commit([create("b")]))
    run(driver, store, sandbox)
    assert [event.t for event in traced(sandbox) if isinstance(event, PodRemoved)] == [clock.sim] * 2
    assert worked == []
    assert due_at(store, sandbox) is None


def test_endless_work_is_cut_into_slices(
    driver: Driver, store: Store, sandbox: Sandbox, stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SLICE_SECONDS", 0.02)
    stand_in.work = lambda self: True
    run(driver, store, sandbox)
    due = due_at(store, sandbox)
    assert due
    assert due <= store.wall() + RETRY_SECONDS  # asked for again, at once


def test_a_slice_ends_with_the_step_in_which_its_time_is_over(
    driver: Driver, store: Store, sandbox: Sandbox, stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time is that of the steps here: each takes 0.1 s."""
    run(driver, store, sandbox)
    steps = 0

    def work(self: StandIn) -> bool:
        nonlocal steps
        steps += 1
        return True

    stand_in.work = work
    monkeypatch.setattr("schedviz.loop.leader.time.monotonic", lambda: steps / 10)
    for slices in range(1, 4):
        run(driver, store, sandbox)
        assert steps == 3 * slices, "0.25 s are over in the third"
        assert due_at(store, sandbox)


def test_what_others_wrote_is_taken_in_over_several_slices_before_any_step(
    driver: Driver, store: Store, sandbox: Sandbox, stand_in: type[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 nodes beside 8,000 unschedulable pods held a worker for 10 s. Here, an object takes 0.1 s."""
    run(driver, store, sandbox)
    [simulation] = made
    sandbox.commit(Commit([create(f"p{number}") for number in range(8)]))
    stepped: list[int] = []
    stand_in.work = lambda self: bool(stepped.append(len(self.inbox)))
    monkeypatch.setattr(
        "schedviz.loop.leader.time.monotonic", lambda: (len(simulation.seen) - len(simulation.inbox)) / 10
    )
    for left in (5, 2):
        run(driver, store, sandbox)
        assert len(simulation.inbox) == left
        assert not any(isinstance(event, PodRemoved) for event in traced(sandbox)), "stored with their input"
        assert due_at(store, sandbox)
    assert stepped == [0], "what was due before"
    run(driver, store, sandbox)
    assert len([event for event in traced(sandbox) if isinstance(event, PodRemoved)]) == 8
    assert len(stepped) > 1
    assert {*stepped} == {0}
    assert sandbox.name not in store.unseen()


def test_a_slice_for_which_others_waited_long_is_logged(
    driver: Driver,
    store: Store,
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    run(driver, store, sandbox)
    assert caplog.messages == []
    monkeypatch.setattr(module, "LONG_SLICE_SECONDS", 0.0)
    run(driver, store, sandbox)
    (message,) = caplog.messages
    assert message.startswith(f"a slice of {sandbox.name} took ")


def test_the_trace_has_the_events_before_a_refused_write_and_not_the_write(
    driver: Driver, store: Store, sandbox: Sandbox, stand_in: type[StandIn]
) -> None:
    def work(self: StandIn) -> bool:
        if self.pending_trace or self.inbox:
            return False
        led, bound = SchedulerError(self.now, 1, "p", "led to it"), Bound(self.now, 1, "p", "n")
        self.pending_trace += [led, bound]
        try:
            self.api.commit([create("a")])
        except ApiError:
            self.pending_trace.remove(bound)
        return False

    sandbox.commit(Commit([create("a")]))
    stand_in.work = work
    run(driver, store, sandbox)
    assert [type(event) for event in traced(sandbox)] == [LeaderElected, PodRemoved, SchedulerError]


def test_in_a_full_sandbox_pods_are_bound_and_their_events_are_dropped(
    store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    write.create(sandbox, [node("node-1"), pod("web")])
    full = sum(sandbox.count(resource) for resource in sandbox.resources())
    monkeypatch.setitem(LIMITS, "objects", full)
    presence = Presence(store, sandbox.name)
    presence.beat()
    run(Driver(store, Wakes(store), presence, Simulation), store, sandbox)
    bound = sandbox.get("pods", "default/web")
    assert bound
    assert bound["spec"]["nodeName"] == "node-1"
    assert sandbox.count("events") == 0
    assert not [event for event in traced(sandbox) if isinstance(event, SchedulerError)]


def test_a_simulation_sees_its_own_writes_before_it_acts_again_as_the_log_has_them(
    driver: Driver, store: Store, sandbox: Sandbox, stand_in: type[StandIn]
) -> None:
    """Whether others write in between or not, and with several writes in one step."""
    steps: list[tuple[int, int]] = []

    def work(self: StandIn) -> bool:
        turn = len(steps)
        steps.append((len(self.seen), sandbox.version()))
        if turn == 4:
            return False
        self.api.commit([create(f"a{turn}"), create(f"b{turn}")])
        if turn % 2:
            sandbox.commit(Commit([create(f"of-others-{turn}")]))
        renamed = create(f"a{turn}", nodeName="n").object
        self.api.commit([Change("pods", f"default/a{turn}", renamed)])
        if turn > 1:
            self.api.commit([Change("pods", f"default/b{turn}", None)])
        return True

    stand_in.work = work
    run(driver, store, sandbox)
    assert [seen for seen, _ in steps] == [version for _, version in steps]
    assert made[0].seen == sandbox.events(0)
    assert sandbox.name not in store.unseen()
