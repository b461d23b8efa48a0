"""Sandboxes that are spread over several Redis servers by their names."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.exceptions import ConnectionError as RedisConnectionError

from schedviz.api import write
from schedviz.loop.clock import pause_many
from schedviz.operate.backup.backup_file import write_records
from schedviz.operate.backup.restore_backup import Refused, restore_backup
from schedviz.operate.backup.write_backup import backup_records
from schedviz.operate.spread import CannotSpread, spread_sandboxes
from schedviz.processes.heartbeats import Heartbeats
from schedviz.store import LimitReached, Meta, NoSandbox, SandboxExists, Store
from schedviz.store import store as store_module
from schedviz.store.keys import Keys
from schedviz.store.sandbox_servers import OtherServers, check_sandbox_servers, prepare_sandbox_servers
from schedviz.store.server import Server, assign
from schedviz.up.embedded_redis import EmbeddedRedis, lock

NAMES = [f"sandbox-{number}" for number in range(24)]
LABELS = st.lists(st.text("abcdefgh", min_size=1, max_size=4), min_size=1, max_size=6, unique=True)


class Named(NamedTuple):
    label: str


def places(labels: list[str], names: list[str]) -> dict[str, str]:
    return {name: assign(name, [Named(label) for label in labels]).label for name in names}


@given(LABELS, st.text("abcdefgh", min_size=5, max_size=5))
def test_a_further_server_only_takes_sandboxes_from_the_others(labels: list[str], further: str) -> None:
    before, after = places(labels, NAMES), places([*labels, further], NAMES)
    assert all(after[name] in (before[name], further) for name in NAMES)
    assert places([further, *reversed(labels)], NAMES) == after, "the order of the setting does not matter"


def test_each_server_gets_its_share() -> None:
    names = [f"room-{number}-learner" for number in range(3000)]
    counted = Counter(places(["a", "b", "c"], names).values())
    assert all(900 < count < 1100 for count in counted.values()), counted


class Site:
    """A main server and three for the sandboxes."""

    def __init__(self, directory: Path, ends: ExitStack) -> None:
        self._ends = ends
        self.servers: dict[str, EmbeddedRedis] = {}
        for label in ("main", "a", "b", "c"):
            folder = directory / label
            folder.mkdir()
            held = ends.enter_context(lock(folder))
            self.servers[label] = EmbeddedRedis.start(folder, held)
            ends.callback(self.servers[label].stop)

    def store(self, labels: str) -> Store:
        store = Store(self.servers["main"].url, {label: self.servers[label].url for label in labels})
        self._ends.callback(store.close)
        return store

    def server(self, label: str) -> Server:
        return Server(label, self.servers[label].url)


@pytest.fixture
def site(tmp_path: Path, redis_url: str) -> Iterator[Site]:
    with ExitStack() as ends:
        yield Site(tmp_path, ends)


def fill(store: Store) -> dict[str, object]:
    """Sandboxes with a node each; what they have."""
    for name in NAMES:
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-of-{name}"}}
        write.create_sandbox(store, Meta(name=name, created=store.wall()), [node])
    return contents(store)


def contents(store: Store) -> dict[str, object]:
    return {meta.name: store.sandbox(meta.name).list_all() for meta in store.sandboxes()}


def test_a_store_of_three_servers_behaves_as_one(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    store = site.store("abc")
    prepare_sandbox_servers(store)
    fill(store)
    held = {server.label: len([*server.redis.scan_iter("*}:state")]) for server in store.all_servers}
    assert held.pop("") == 0
    assert sum(held.values()) == len(NAMES)
    assert all(held.values()), held

    assert store.names() == {meta.name for meta in store.sandboxes()} == {*NAMES}
    summaries, unreadable = store.summaries(["nodes"])
    assert {summary.meta.name: summary.counts["nodes"] for summary in summaries} == dict.fromkeys(NAMES, 1)
    assert unreadable == {}
    assert store.holders([*NAMES, "none"]) == dict.fromkeys(NAMES, "")
    assert sorted(store.unseen()) == sorted(NAMES)
    assert store.access_records() == dict.fromkeys(NAMES, "")
    positions = [(name, store.read_whole(name).position) for name in NAMES]
    assert [changes.outcome for changes in store.read_changes(positions)].count("same") == len(NAMES)
    pause_many(store, NAMES)
    changed = [changes.outcome for changes in store.read_changes(positions)]
    assert changed == ["changes"] * len(NAMES)
    with pytest.raises(SandboxExists):
        store.create(Meta(name=NAMES[0]))
    monkeypatch.setattr(store_module, "MAX_SANDBOXES", len(NAMES))
    with pytest.raises(LimitReached):
        store.create(Meta(name="more"))
    store.delete(NAMES[0])
    with pytest.raises(NoSandbox):
        store.sandbox(NAMES[0])
    store.create(Meta(name="more"))


def test_without_one_server_the_sandboxes_of_the_others_are_there(site: Site) -> None:
    store = site.store("abc")
    fill(store)
    of_a = [name for name in NAMES if store.servers.of(name).label == "a"]
    others = [name for name in NAMES if name not in of_a]
    positions = [(name, store.read_whole(name).position) for name in others]
    site.servers["a"].stop()
    assert {changes.outcome for changes in store.read_changes(positions)} == {"same"}
    for name in others:
        assert store.sandbox(name).list("nodes").items
    with pytest.raises(RedisConnectionError):
        store.sandbox(of_a[0])
    assert store.names() == {*NAMES}
    assert [meta.name for meta in store.sandboxes()] == others
    assert sorted(store.unseen()) == sorted(others)
    assert store.holders(NAMES) == dict.fromkeys(NAMES, ""), "it is not known that they are deleted"
    site.servers["b"].stop()
    site.servers["c"].stop()
    with pytest.raises(RedisConnectionError):
        store.sandboxes()


def test_sandboxes_are_moved_when_servers_are_added_and_removed(site: Site) -> None:
    one = site.store("")
    prepare_sandbox_servers(one)
    before = fill(one)
    many = site.store("abc")
    with pytest.raises(OtherServers, match=r"the sandboxes are on the Redis of REDIS_URL, and .+ a, b, c"):
        check_sandbox_servers(many)
    Heartbeats(many.redis, "worker").beat("one")
    with pytest.raises(CannotSpread, match="stop the web servers"):
        spread_sandboxes(many)
    Heartbeats(many.redis, "worker").stop("one")

    assert spread_sandboxes(many) == len(NAMES)
    check_sandbox_servers(many)
    assert contents(many) == before
    assert [*one.redis.scan_iter("*}:state")] == []
    assert spread_sandboxes(many) == 0

    fewer = site.store("bc")
    with pytest.raises(CannotSpread, match="on the server a: give its URL with --from"):
        spread_sandboxes(fewer)
    moved = [name for name in NAMES if many.servers.of(name).label == "a"]
    assert spread_sandboxes(fewer, site.server("a")) == len(moved)
    check_sandbox_servers(fewer)
    assert contents(fewer) == before


def test_a_backup_of_three_servers_is_restored_to_one_and_back(site: Site, tmp_path: Path) -> None:
    store = site.store("abc")
    prepare_sandbox_servers(store)
    before = fill(store)
    write_records(tmp_path / "backup", backup_records(store))
    with pytest.raises(Refused, match="the sandboxes are on the servers a, b, c"):
        restore_backup(site.store(""), tmp_path / "backup")
    for server in store.all_servers:
        server.redis.flushall()
    one = site.store("")
    assert restore_backup(one, tmp_path / "backup") == len(NAMES)
    assert contents(one) == before
    assert one.redis.exists(Keys.of(NAMES[0]).state)
    write_records(tmp_path / "again", backup_records(one))
    one.redis.flushall()
    assert restore_backup(store, tmp_path / "again") == len(NAMES)
    assert contents(store) == before
