"""When a leader lists all objects again."""

from itertools import count
from types import SimpleNamespace

import pytest

from schedviz.loop import leader, listed_objects
from schedviz.loop.driver import SLICE_SECONDS, Driver
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.store import Commit, Sandbox, Store
from schedviz.store.commit_script import LIMITS
from schedviz.store.keys import Keys
from simulator.api import Change, Manifest
from simulator.simulation import Simulation
from simulator.trace import PodRemoved, WatchRelisted
from tests.loop.stand_in import made, run, traced
from tests.store.test_commit import create


def config_map(name: str) -> Manifest:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


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
    while sandbox.name in store.unseen():  # one slice on a machine that is not busy
        run(driver, store, sandbox)
    [relisted] = [event for event in traced(sandbox) if isinstance(event, WatchRelisted)]
    assert relisted.gone == 1
    assert sandbox.queue_places().keys() == {"default/b", "default/c"}
    pipeline = sandbox.pipeline()
    assert pipeline
    assert pipeline.lists == 2
    assert pipeline.indexer.count >= 502, "events are objects, too"


def test_a_slice_ends_while_a_new_leader_decodes_the_objects(
    store: Store, sandbox: Sandbox, sandbox_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    presence = Presence(store, sandbox_name)
    presence.beat()
    driver = Driver(store, Wakes(store), presence, Simulation)
    monkeypatch.setitem(LIMITS, "log", 100)
    for start in range(0, 300, 100):  # the log has a gap: all objects begin a chapter of the archive
        sandbox.commit(Commit([create(f"p{start + i}") for i in range(100)]))
    monkeypatch.setattr(listed_objects, "DECODED_BYTES", 1)
    # Each question for the time takes a tenth of a slice.
    seconds = count(step=SLICE_SECONDS / 10)
    monkeypatch.setattr(leader, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    for _ in range(10):
        run(driver, store, sandbox)
        assert not sandbox.queue_places()
    sandbox.commit(Commit([Change("pods", "default/p0", None), create("late")]))
    for _ in range(100):
        run(driver, store, sandbox)
    assert sandbox.queue_places().keys() == {f"default/p{i}" for i in range(1, 300)} | {"default/late"}
    history = sandbox.history()
    began = history.chapters[0].began.version
    names = [manifest["metadata"]["name"] for manifest in history.collection("pods", began)]
    assert names == sorted(f"p{i}" for i in range(300))


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
