"""A Redis that does not serve: the reason is reported, reads work where they can, and nothing is stored in
part."""

from collections.abc import Callable, Iterator

import pytest
from kombu.exceptions import OperationalError

from schedviz.store import Commit, Meta, Sandbox, Store, Trouble, trouble_of
from schedviz.up.embedded_redis import EmbeddedRedis
from simulator.api import Change
from simulator.trace import QueuePlace
from tests.store.test_commit import create


@pytest.fixture
def own_store(own_redis: EmbeddedRedis) -> Iterator[Store]:
    store = Store(own_redis.url)
    yield store
    store.close()


def writes(store: Store, sandbox: Sandbox) -> list[Callable[[], object]]:
    """A script that writes, a command, a transaction, a new sandbox."""

    def transaction() -> None:
        with store.redis.pipeline(transaction=True) as pipe:
            pipe.set("b", 1)
            pipe.execute()

    return [
        lambda: sandbox.commit(Commit([create("c")])),
        lambda: store.redis.set("b", 1),
        transaction,
        lambda: store.create(Meta("another")),
        lambda: sandbox.take_lease("w", None),
    ]


def everything(store: Store) -> dict[bytes, bytes]:
    return {key: store.redis.dump(key) or b"" for key in sorted(store.redis.keys("*"))}


def test_a_redis_without_memory_or_file_reports_it_reads_and_stores_nothing(own_store: Store) -> None:
    store = own_store
    sandbox = store.create(Meta("sandbox"), [create("a"), create("b")])
    sandbox.commit(Commit(queue_places={"default/a": QueuePlace("", "", "activeQ", 0, 0, 0, 1)}))
    read = [sandbox.list("pods"), sandbox.list_all(), sandbox.queue(), sandbox.clock(), sandbox.mark()]
    before = everything(store)
    for trouble in (Trouble.FULL, Trouble.READ_ONLY):
        if trouble is Trouble.FULL:
            store.redis.config_set("maxmemory", 1)
        else:
            store.redis.replicaof("127.0.0.1", 1)
        assert store.probe()[1] == trouble
        for write in writes(store, sandbox):
            with pytest.raises(Exception, match=r".") as refused:
                write()
            assert trouble_of(refused.value) == trouble
        now = [sandbox.list("pods"), sandbox.list_all(), sandbox.queue(), sandbox.clock(), sandbox.mark()]
        assert now == read
        assert sandbox.now() > 0
        store.redis.config_set("maxmemory", 0)
        store.redis.replicaof("no", "one")
        assert store.probe()[1] is None
    assert everything(store) == before
    for write in writes(store, sandbox):
        write()


def test_without_memory_what_is_not_needed_can_be_deleted(own_store: Store) -> None:
    store = own_store
    sandbox = store.create(Meta("sandbox"), [create("a"), create("b")])
    store.redis.config_set("maxmemory", 1)
    sandbox.commit(Commit([Change("pods", "default/a", None)]))
    assert sandbox.names("pods") == ["default/b"]
    store.delete("sandbox")
    assert store.sandboxes() == []


def test_a_stopped_redis_is_reported_as_away_also_by_kombus_exception(
    own_redis: EmbeddedRedis, own_store: Store
) -> None:
    own_redis.stop()
    with pytest.raises(Exception, match=r".") as refused:
        own_store.probe()
    assert trouble_of(refused.value) == Trouble.AWAY
    raised = OperationalError("by kombu")
    raised.__cause__ = refused.value
    assert trouble_of(raised) == Trouble.AWAY
    assert trouble_of(ValueError()) is None
    assert trouble_of(None) is None


def test_an_object_is_deleted_and_created_in_one_commit(sandbox: Sandbox) -> None:
    [version] = sandbox.commit(Commit([create("a")]))
    delete, change = Change("pods", "default/a", None, version), create("a", nodeName="n")
    assert sandbox.commit(Commit([delete, change])) == [version + 1, version + 2]
    assert [event.type for event in sandbox.events(version)] == ["DELETED", "ADDED"]
    assert sandbox.get("pods", "default/a") is not None
    assert sandbox.size() == 1
    for twice in ([change, change], [delete, delete], [change, delete]):
        with pytest.raises(ValueError, match="a further change"):
            sandbox.commit(Commit(twice))


def test_an_object_is_changed_and_deleted_in_one_commit_with_a_version_for_each(sandbox: Sandbox) -> None:
    [version] = sandbox.commit(Commit([create("a")]))
    changed = Change("pods", "default/a", create("a", nodeName="n").object, version)
    again = Change("pods", "default/a", create("a", nodeName="m").object)
    assert sandbox.commit(Commit([changed, again, Change("pods", "default/a", None)])) == [
        version + number for number in (1, 2, 3)
    ]
    events = sandbox.events(version)
    assert [(event.type, event.version) for event in events] == [
        ("MODIFIED", version + 1),
        ("MODIFIED", version + 2),
        ("DELETED", version + 3),
    ]
    assert events[-1].object["spec"]["nodeName"] == "m"
    assert sandbox.get("pods", "default/a") is None
    assert sandbox.size() == 0
