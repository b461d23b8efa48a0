"""One round trip gives a reader every kind of write once and in order, or says that it must read again."""

from collections.abc import Callable

import msgspec
import pytest

from schedviz.store import Clock, Commit, Failure, Meta, Sandbox, Store
from schedviz.store.changes import TRACE_READ, Changes, Position, Values
from schedviz.store.commit_script import LIMITS
from schedviz.store.keys import Keys
from schedviz.store.wall import Wall
from simulator.api import Change
from simulator.client.informer import Pipeline, Stage
from simulator.decision import Decision, UnderWay
from simulator.trace import Bound, QueuePlace

from .test_commit import create


def read(store: Store, sandbox: Sandbox, position: Position) -> Changes:
    (changes,) = store.read_changes(
        [(sandbox.name, msgspec.structs.replace(position, server=store.starts(sandbox.name)))]
    )
    return changes


def here(store: Store, sandbox: Sandbox) -> Position:
    return store.read_whole(sandbox.name).position


def lane(pod: str, attempts: int = 0) -> QueuePlace:
    return QueuePlace(pod, "u", "activeQ", 0, 0, 0, attempts)


def test_a_reader_without_new_changes_gets_none(store: Store, sandbox: Sandbox) -> None:
    sandbox.commit(Commit([create("a")]))
    position = here(store, sandbox)
    changes = read(store, sandbox, position)
    assert (changes.outcome, changes.values) == ("same", None)
    assert changes.position == position
    assert abs(changes.wall - store.wall()) < 60


def test_writes_of_objects_are_returned_once_in_order_with_the_rest_of_their_commit(
    store: Store, sandbox: Sandbox, make_decision: Callable[[int], Decision]
) -> None:
    position = here(store, sandbox)
    sandbox.commit(Commit([create("a"), create("b")], trace=[Bound(1, 1, "default/a", "n")]))
    sandbox.commit(
        Commit(
            [Change("pods", "default/a", None, 1)],
            trace=[Bound(2, 2, "default/b", "n")],
            decisions=[make_decision(1), make_decision(2)],
            queue_places={"default/b": lane("default/b")},
        )
    )
    changes = read(store, sandbox, position)
    assert changes.outcome == "changes"
    assert [(entry.version, entry.type, entry.key) for entry in changes.log] == [
        (1, "ADDED", "default/a"),
        (2, "ADDED", "default/b"),
        (3, "DELETED", "default/a"),
    ]
    assert [number for number, _ in changes.trace] == [1, 2]
    assert [pod for pod, _ in changes.moved] == ["default/b"]
    assert changes.decision is not None
    assert '"cycle":2' in changes.decision
    assert changes.lanes is None
    assert changes.position == here(store, sandbox)
    assert read(store, sandbox, changes.position).outcome == "same"


def test_each_reply_has_the_hold_of_a_presenter(store: Store, sandbox: Sandbox) -> None:
    position, hold = here(store, sandbox), store.hold(sandbox.name)
    token = hold.take()
    for write in (lambda: None, lambda: sandbox.commit(Commit([create("a")]))):
        write()
        assert hold.token_in(read(store, sandbox, position).hold) == token
    assert hold.token_in(store.read_whole(sandbox.name).hold) == token
    hold.release()
    assert read(store, sandbox, position).hold == store.read_whole(sandbox.name).hold == b""


def test_each_other_write_is_a_revision_of_its_own(store: Store, sandbox: Sandbox) -> None:
    wall = store.wall()
    clock = Clock(5, wall, 2.0, paused=True)
    lease = None

    def take() -> None:
        nonlocal lease
        lease = sandbox.take_lease("w", None)
        assert lease

    def release() -> None:
        assert lease
        sandbox.release_lease(lease)

    under_way = UnderWay("Filter", 1, "default/a", None)
    stage = Stage(0, [])
    pipeline = Pipeline(1, 1, 0, stage, stage, stage, stage)
    writes: list[tuple[Callable[[], object], Callable[[Values], object]]] = [
        (lambda: sandbox.set_clock(clock), lambda now: '"speed":2.0' in now.clock),
        (take, lambda now: now.lease and now.lease.holder == "w"),
        (release, lambda now: now.lease is None),
        (lambda: sandbox.set_failure(Failure("x", 1, wall, wall)), lambda now: now.failure),
        (lambda: sandbox.set_failure(None), lambda now: not now.failure),
        (lambda: sandbox.commit(Commit(under_way=under_way)), lambda now: "Filter" in now.under_way),
        (lambda: sandbox.commit(Commit(under_way=None)), lambda now: not now.under_way),
        (lambda: sandbox.commit(Commit(pipeline=pipeline)), lambda now: now.pipeline),
    ]
    position = here(store, sandbox)
    for write, seen in writes:
        write()
        changes = read(store, sandbox, position)
        assert changes.outcome == "changes"
        assert changes.position.revision == position.revision + 1
        assert changes.values
        assert changes.meta is None
        assert seen(changes.values)
        position = changes.position
    sandbox.commit(Commit(meta=Meta(sandbox.name, title="another")))
    meta = read(store, sandbox, position).meta
    assert meta is not None
    assert "another" in meta


def test_a_write_without_a_visible_change_is_no_revision(store: Store, sandbox: Sandbox) -> None:
    lease = sandbox.take_lease("w", None)
    assert lease
    position = here(store, sandbox)
    sandbox.renew_lease(lease)
    sandbox.set_failure(None)
    sandbox.set_clock(sandbox.clock(), Clock(1, 1.0))  # refused
    assert read(store, sandbox, position).outcome == "same"


def test_a_replaced_queue_is_returned_completely(store: Store, sandbox: Sandbox) -> None:
    sandbox.commit(Commit(queue_places={"default/a": lane("default/a")}))
    position = here(store, sandbox)
    sandbox.commit(Commit(queue_places={"default/b": lane("default/b")}, reset_queue_places=True))
    changes = read(store, sandbox, position)
    assert changes.lanes is not None
    assert [*changes.lanes] == ["default/b"]
    sandbox.commit(Commit(queue_places={"default/b": None}))
    assert read(store, sandbox, changes.position).moved == [("default/b", "")]


def test_a_reader_behind_a_trimmed_log_must_read_everything(
    store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, "log", 100)
    position = here(store, sandbox)
    for start in range(0, 500, 100):
        sandbox.commit(Commit([create(f"p{start + i}") for i in range(100)]))
    assert read(store, sandbox, position).outcome == "anew"


def test_the_last_events_of_a_long_trace_are_returned(store: Store, sandbox: Sandbox) -> None:
    position = here(store, sandbox)
    sandbox.commit(Commit(trace=[Bound(i, i, "p", "n") for i in range(TRACE_READ + 5)]))
    changes = read(store, sandbox, position)
    assert [number for number, _ in changes.trace] == [*range(6, TRACE_READ + 6)]


@pytest.mark.parametrize("counter", ["revision", "version", "seq", "move", "cycle"])
def test_a_reader_at_a_lost_position_must_read_everything(
    store: Store, sandbox: Sandbox, counter: str
) -> None:
    sandbox.commit(Commit([create("a")]))
    position = Position(revision=1)
    ahead = {"revision": 100} if counter == "revision" else {"revision": 1, counter: 100}
    assert read(store, sandbox, position).outcome == "changes"
    assert read(store, sandbox, Position(**ahead)).outcome == "anew"


def test_a_reader_of_a_recreated_sandbox_must_read_everything(store: Store, sandbox: Sandbox) -> None:
    sandbox.commit(Commit([create("a")]))
    position = here(store, sandbox)
    store.delete(sandbox.name)
    assert read(store, sandbox, position).outcome == "gone"
    store.create(Meta(sandbox.name))
    assert read(store, sandbox, position).outcome == "anew"


def test_sandboxes_are_read_together_though_redis_forgot_the_script(store: Store, sandbox: Sandbox) -> None:
    store.redis.script_flush()
    first, second = store.read_changes(
        [(sandbox.name, here(store, sandbox)), ("there-is-none", Position(server=store.starts(sandbox.name)))]
    )
    assert (first.outcome, second.outcome) == ("same", "gone")
    assert Wall(first.wall).now() >= first.wall


@pytest.mark.parametrize("text", [b"9 A", b"9 ////"])
def test_a_sandbox_with_an_unreadable_object_does_not_keep_others_from_being_read(
    store: Store, sandbox: Sandbox, text: bytes
) -> None:
    other = store.create(Meta("readable"))
    try:
        positions = [(each.name, here(store, each)) for each in (sandbox, other)]
        for each in (sandbox, other):
            each.commit(Commit([create("a")]))
        log = Keys.of(sandbox.name).log
        store.redis.delete(log)
        fields = {"type": "ADDED", "resource": "pods", "key": "default/a", "object": text}
        store.redis.xadd(log, fields, id="1-0")  # type: ignore[arg-type] # its stubs want no bytes
        assert [changes.outcome for changes in store.read_changes(positions)] == ["anew", "changes"]
    finally:
        store.delete(other.name)
