"""The slice, with a small stand-in for the Simulation, on the real store."""

import base64
import json
import time
from collections.abc import Callable, Sequence
from typing import cast

import pytest
from msgspec.structs import replace

from schedviz.api import write
from schedviz.loop import driver as module
from schedviz.loop.archive_writer import ArchiveWriter
from schedviz.loop.driver import MAX_FAULT_SECONDS, Driver
from schedviz.loop.due import KEY, RETRY_SECONDS, SliceTime
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.processes.message_queues import KEY_PREFIX, SLICES_QUEUE, own_queue
from schedviz.store import Commit, Meta, Sandbox, Steps, Store
from schedviz.store.commit_script import LIMITS
from schedviz.store.keys import Keys
from simulator.api import SECOND, ApiError, ApiServer, Change, Manifest, Micros, WatchEvent
from simulator.client.informer import Informer, Pipeline
from simulator.decision import Decision
from simulator.simulation import Options, Simulation
from simulator.trace import (
    Bound,
    Event,
    LaneEntry,
    LeaderElected,
    PodRemoved,
    SchedulerError,
    WatchRelisted,
)
from tests.loop.conftest import node, pod
from tests.store.test_commit import create


class StandIn:
    """Observes event by event, and adds each to its trace; then calls ``work``, which returns whether there
    was work."""

    work: Callable[["StandIn"], bool] = lambda self: False
    due: Micros | None = None
    cycles = 0
    in_cycle = False
    waits_for_pace = False
    rests = True
    nothing_pending = True
    is_idle = True
    under_way = None

    def __init__(self, api: ApiServer, options: Options) -> None:
        self.api = api
        self.options = options
        self.now = 0
        self.lists = 0
        self.inbox: list[WatchEvent] = []
        self.seen: list[WatchEvent] = []
        self.pending_trace: list[Event] = []
        self.lanes: dict[str, LaneEntry | None] = {}
        made.append(self)

    def observe(self, events: Sequence[WatchEvent], wall: int | None = None) -> None:
        self.inbox += events
        self.seen += events

    def relist(self, listed: Sequence[WatchEvent], version: int) -> None:
        self.lists += 1
        self.observe(listed)

    def pipeline(self) -> Pipeline:
        return Informer().pipeline()

    def take_in(self, now: Micros) -> bool:
        if self.inbox:
            self.pending_trace.append(PodRemoved(now, self.inbox.pop(0).key, ""))
            return True
        return False

    def step(self, now: Micros, *, by_point: bool = False) -> bool:
        self.now = now
        return self.take_in(now) or type(self).work(self)

    def is_bound(self, pod: str) -> bool:
        return False

    def next_due(self) -> Micros | None:
        return self.due

    def take_trace(self) -> list[Event]:
        taken, self.pending_trace = self.pending_trace, []
        return taken

    def give_back_trace(self, trace: list[Event]) -> None:
        self.pending_trace[:0] = trace

    def take_decisions(self) -> list[Decision]:
        return []

    def take_lanes(self) -> dict[str, LaneEntry | None]:
        lanes, self.lanes = self.lanes, {}
        return lanes


def config_map(name: str) -> Manifest:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


made: list[StandIn] = []


@pytest.fixture
def stand_in() -> type[StandIn]:
    """A subclass for one test, whose work the test sets."""
    made.clear()
    return type("StandIn", (StandIn,), {})


@pytest.fixture
def driver(store: Store, stand_in: type[StandIn], sandbox_name: str) -> Driver:
    presence = Presence(store, sandbox_name)
    presence.beat()
    return Driver(store, Wakes(store), presence, stand_in)


def run(driver: Driver, store: Store, sandbox: Sandbox) -> None:
    driver.slice(sandbox.name, Wakes(store).due.mark(sandbox.name).order)


def due_at(store: Store, sandbox: Sandbox) -> float | None:
    """When the sandbox's next slice is asked for, in seconds by Redis's clock; None: only when woken."""
    at = store.redis.zscore(KEY, sandbox.name)
    return None if at is None else at / 1_000_000


def run_and_be_due_in(driver: Driver, store: Store, sandbox: Sandbox, seconds: float) -> None:
    """Run a slice, and return how many seconds after its end the next is due."""
    before = store.wall()
    run(driver, store, sandbox)
    due = due_at(store, sandbox)
    assert due
    assert before + seconds <= due <= store.wall() + seconds


def traced(sandbox: Sandbox) -> list[Event]:
    return [event for _, event in sandbox.trace(0)]


def test_a_slice_observes_the_log_stores_its_leader_and_asks_for_the_next_slice(
    driver: Driver, store: Store, sandbox: Sandbox, stand_in: type[StandIn]
) -> None:
    sandbox.commit(Commit([create("a"), create("b")]))
    sandbox.commit(Commit(lanes={"default/of-the-last-leader": LaneEntry("", "", "activeQ", 0, 0, 0, 1)}))
    stand_in.due = sandbox.clock().now(time.time()) + 3600 * SECOND
    before = store.wall()
    run(driver, store, sandbox)
    elected, *rest = traced(sandbox)
    lease = sandbox.lease()
    assert lease
    assert isinstance(elected, LeaderElected)
    assert (elected.holder, elected.epoch) == (lease.holder, lease.epoch)
    assert [event.pod for event in rest if isinstance(event, PodRemoved)] == ["default/a", "default/b"]
    assert sandbox.lanes() == {}
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
    queue = f"{KEY_PREFIX}{own_queue(SLICES_QUEUE, lease.holder).name}"
    wakes = Wakes(store)
    for _ in range(5):
        wakes.wake(sandbox.name)
    assert store.redis.llen(queue) == 1
    run(driver, store, sandbox)  # takes one
    for _ in range(5):
        wakes.wake(sandbox.name)
    assert store.redis.llen(queue) == 2
    store.redis.delete(queue)


def test_a_message_at_the_leader_stands_for_all_wakes_that_found_it_there(
    driver: Driver, store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(driver, store, sandbox)
    lease = sandbox.lease()
    assert lease
    queue = f"{KEY_PREFIX}{own_queue(SLICES_QUEUE, lease.holder).name}"
    slow = Wakes(store)
    mark = slow.due.mark

    def mark_and_be_overtaken(name: str) -> SliceTime:
        asked = mark(name)
        run(driver, store, sandbox)
        return asked

    monkeypatch.setattr(slow.due, "mark", mark_and_be_overtaken)
    slow.wake(sandbox.name)  # sends a message for changes that a slice has observed already
    sandbox.commit(Commit([create("a")]))
    Wakes(store).wake(sandbox.name)
    assert store.redis.llen(queue) == 1
    message = json.loads(cast("bytes", store.redis.rpop(queue)))
    arguments, *_ = json.loads(base64.b64decode(message["body"]))
    driver.slice(*arguments)
    assert sandbox.name not in store.unseen()
    Wakes(store).wake(sandbox.name)
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


def test_a_worker_that_lost_the_lease_does_not_take_the_steps_asked_of_the_next_leader(
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


def test_a_trimmed_watch_log_causes_a_new_list(
    driver: Driver, store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(driver, store, sandbox)
    monkeypatch.setitem(LIMITS, "log", 100)
    for start in range(0, 500, 100):
        sandbox.commit(Commit([create(f"p{start + i}") for i in range(100)]))
    run(driver, store, sandbox)  # finds the log trimmed
    assert [simulation.lists for simulation in made] == [2], "it is the same leader"
    assert len([event for event in traced(sandbox) if isinstance(event, PodRemoved)]) == 500
    assert sandbox.name not in store.unseen()


def test_a_list_has_the_changes_that_the_trimmed_watch_log_lost(
    store: Store, sandbox: Sandbox, sandbox_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    presence = Presence(store, sandbox_name)
    presence.beat()
    driver = Driver(store, Wakes(store), presence, Simulation)
    sandbox.commit(Commit([create("a"), create("b")]))
    run(driver, store, sandbox)
    monkeypatch.setitem(LIMITS, "log", 100)
    sandbox.commit(Commit([Change("pods", "default/a", None), create("c")]))
    for start in range(0, 500, 100):
        names = [str(number) for number in range(start, start + 100)]
        changes = [Change("configmaps", f"default/{name}", config_map(name), 0) for name in names]
        sandbox.commit(Commit(changes))
    run(driver, store, sandbox)
    [relisted] = [event for event in traced(sandbox) if isinstance(event, WatchRelisted)]
    assert relisted.gone == 1
    assert sandbox.lanes().keys() == {"default/b", "default/c"}
    pipeline = sandbox.pipeline()
    assert pipeline
    assert pipeline.lists == 2
    assert pipeline.indexer.count >= 502, "events are objects, too"


def test_a_redis_that_lost_its_last_second_causes_a_new_list(
    driver: Driver, store: Store, sandbox: Sandbox
) -> None:
    sandbox.commit(Commit([create("a"), create("b")]))
    run(driver, store, sandbox)
    store.redis.hset(Keys.of(sandbox.name).state, "version", 1)
    run(driver, store, sandbox)
    run(driver, store, sandbox)
    assert len(made) == 2


def test_a_restart_of_redis_causes_a_new_list_even_if_the_revision_is_the_same(
    driver: Driver, store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(driver, store, sandbox)
    before = {key: store.redis.dump(key) for key in keys_of(store, sandbox)}
    sandbox.commit(Commit([create("lost")]))
    run(driver, store, sandbox)
    for key in keys_of(store, sandbox):
        store.redis.delete(key)
    for key, data in before.items():
        store.redis.restore(key, 0, data or b"")
    server = store.servers.of(sandbox.name)
    monkeypatch.setattr(server, "starts", server.starts + 1)
    sandbox.commit(Commit([create("next")]))
    run(driver, store, sandbox)
    run(driver, store, sandbox)
    assert [event.key for event in made[-1].seen] == ["default/next"]
    assert sandbox.name not in store.unseen()


def keys_of(store: Store, sandbox: Sandbox) -> list[bytes]:
    return store.redis.keys(f"schedviz:{{{sandbox.name}}}:*")


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
