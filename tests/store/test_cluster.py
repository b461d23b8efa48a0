"""Sandboxes on the masters of a Redis Cluster."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from schedviz.api import write
from schedviz.api.health import CHECKS
from schedviz.loop.clock import pause_many
from schedviz.operate.backup.backup_file import write_records
from schedviz.operate.backup.restore_backup import Refused, restore_backup
from schedviz.operate.backup.write_backup import backup_records
from schedviz.operate.doctor.examine import examine
from schedviz.store import Commit, Failure, LimitReached, Meta, NoSandbox, Sandbox, SandboxExists, Store
from schedviz.store import store as store_module
from schedviz.store.cluster import Moved
from schedviz.store.errors import WrongServers
from schedviz.store.keys import SANDBOX_SERVERS, Keys
from schedviz.store.sandbox_servers import prepare_sandbox_servers
from schedviz.up.embedded_redis import EmbeddedRedis
from simulator.api import Change
from tests.redis_cluster import PASSWORD, Node, RedisCluster

NAMES = [f"sandbox-{number}" for number in range(12)]


RIGHTS = (
    f"schedviz on >{PASSWORD} ~schedviz:* resetchannels &schedviz:* +@all -@admin -@dangerous +info +restore"
)
"""Those that docs/OPERATIONS.md names, and that of a restore."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[RedisCluster]:
    with ExitStack() as ends:
        cluster = RedisCluster(tmp_path_factory.mktemp("cluster"), ends)
        for node in cluster.masters:
            node.redis.execute_command("ACL SETUSER", *RIGHTS.split())
        yield cluster


class Site(NamedTuple):
    """One main server, with the sandboxes on itself and on a cluster."""

    cluster: RedisCluster
    one: Store
    many: Store


@pytest.fixture
def site(cluster: RedisCluster, own_redis: EmbeddedRedis) -> Iterator[Site]:
    urls = [url.replace(":secret@", "schedviz:secret@") for url in cluster.urls]
    one, many = Store(own_redis.url), Store(own_redis.url, urls)
    yield Site(cluster, one, many)
    for store in (one, many):
        store.close()
    empty(cluster)


def empty(cluster: RedisCluster) -> None:
    for node in cluster.masters:
        node.redis.flushall()


def fill(store: Store) -> dict[str, object]:
    """Sandboxes with a node each; what they have."""
    for name in NAMES:
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-of-{name}"}}
        write.create_sandbox(store, Meta(name=name, created=store.wall()), [node])
    return contents(store)


def contents(store: Store) -> dict[str, object]:
    return {meta.name: store.sandbox(meta.name).list_all() for meta in store.sandboxes()}


def test_a_store_of_a_cluster_behaves_as_one_of_a_server(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    store = site.many
    prepare_sandbox_servers(store)
    fill(store)
    held = [len([*node.redis.scan_iter("*}:state")]) for node in site.cluster.masters]
    assert all(held), held
    assert sum(held) == len(NAMES)
    assert [*store.redis.scan_iter("*}:state")] == []

    assert store.names() == {meta.name for meta in store.sandboxes()} == {*NAMES}
    summaries, unreadable = store.summaries(["nodes"])
    assert {summary.meta.name: summary.counts["nodes"] for summary in summaries} == dict.fromkeys(NAMES, 1)
    assert unreadable == {}
    assert store.holders([*NAMES, "none"]) == dict.fromkeys(NAMES, "")
    assert sorted(store.unseen()) == sorted(NAMES)
    assert store.access_records() == dict.fromkeys(NAMES, "")
    positions = [(name, store.read_whole(name).position) for name in NAMES]
    assert [changes.outcome for changes in store.read_changes(positions)].count("same") == len(NAMES)
    held_names = {name for name in NAMES[:3] if store.hold(name).take()}
    assert store.held_among(store.sandboxes()) == held_names == {*NAMES[:3]}
    store.end_holds(NAMES[:2])
    assert store.held_among(store.sandboxes()) == {NAMES[2]}
    assert [bool(changes.hold) for changes in store.read_changes(positions)].count(True) == 1
    pause_many(store, NAMES)
    changed = [changes.outcome for changes in store.read_changes(positions)]
    assert changed == ["changes"] * len(NAMES)
    store.sandbox(NAMES[0]).set_failure(Failure("x", 1, 0.0, 1.0))
    assert store.failing() == NAMES[:1]
    with pytest.raises(SandboxExists):
        store.create(Meta(name=NAMES[0]))
    monkeypatch.setattr(store_module, "MAX_SANDBOXES", len(NAMES))
    with pytest.raises(LimitReached):
        store.create(Meta(name="more"))
    store.delete(NAMES[0])
    assert store.failing() == []
    with pytest.raises(NoSandbox):
        store.sandbox(NAMES[0])
    store.create(Meta(name="more"))
    for node in site.cluster.masters:
        assert all(b"}:" in key for key in node.redis.scan_iter()), "only keys of sandboxes"


def add(sandbox: Sandbox, name: str) -> None:
    sandbox.commit(Commit([Change("nodes", name, {"kind": "Node", "metadata": {"name": name}}, expected=0)]))


def nodes_of(sandbox: Sandbox) -> set[str]:
    return {*sandbox.names("nodes")}


class Move:
    """An operator moves the slot of a sandbox to another node."""

    def __init__(self, cluster: RedisCluster, store: Store, name: str) -> None:
        label = store.servers.of(name).label
        (self.source,) = (node for node in cluster.masters if label in node.url)
        self.target = next(node for node in cluster.masters if node is not self.source)
        self._cluster = cluster
        self._slot = self.source.cluster("KEYSLOT", f"{{{name}}}")

    def begin(self) -> None:
        self._set(self.target, "IMPORTING", self.source)
        self._set(self.source, "MIGRATING", self.target)

    def end(self) -> None:
        keys = self.source.cluster("GETKEYSINSLOT", self._slot, 100)
        port = self.target.redis.connection_pool.connection_kwargs["port"]
        self.source.redis.migrate("127.0.0.1", port, keys, 0, 5000, auth=PASSWORD)
        for node in (self.target, self.source, *self._cluster.masters):
            self._set(node, "NODE", self.target)

    def _set(self, node: Node, how: str, other: Node) -> None:
        node.cluster("SETSLOT", self._slot, how, other.cluster("MYID"))


def test_a_slot_that_moves_is_found_again_and_no_old_handle_writes(site: Site) -> None:
    store, name = site.many, NAMES[0]
    fill(store)
    old, [(_, position)] = store.sandbox(name), [(name, store.read_whole(name).position)]
    move = Move(site.cluster, store, name)
    move.begin()
    with pytest.raises(RedisConnectionError, match="TryAgainError"):
        add(old, "a")  # some keys of the commit are not there, so the server cannot know where they are
    move.end()
    with pytest.raises(Moved):
        add(old, "a")
    assert nodes_of(store.sandbox(name)) == {f"node-of-{name}"}
    add(store.sandbox(name), "a")
    [changes] = store.read_changes([(name, position)])
    assert changes.outcome == "anew"
    assert contents(store).keys() == {*NAMES}


def test_a_commit_whose_answer_is_lost_is_not_sent_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    store, name = site.many, NAMES[0]
    fill(store)
    sandbox, before = store.sandbox(name), store.sandbox(name).version()
    redis = store.servers.of(name).redis
    answers: list[object] = []

    def lose(*arguments: Any, **options: Any) -> object:
        answers.append(type(redis).parse_response(redis, *arguments, **options))
        raise RedisTimeoutError("lost")

    monkeypatch.setattr(redis, "parse_response", lose)
    with pytest.raises(RedisTimeoutError):
        add(sandbox, "a")
    monkeypatch.undo()
    assert len(answers) == 1
    assert store.sandbox(name).version() == before + 1


def test_a_backup_moves_the_sandboxes_to_a_cluster_and_back(site: Site, tmp_path: Path) -> None:
    one, many = site.one, site.many
    prepare_sandbox_servers(one)
    before = fill(one)
    write_records(tmp_path / "backup", backup_records(one))
    refused = "the sandboxes are on the Redis of REDIS_URL, and REDIS_CLUSTER_URLS is set: make a backup"
    with pytest.raises(WrongServers, match=refused):
        prepare_sandbox_servers(many)
    with pytest.raises(Refused, match=refused):
        restore_backup(many, tmp_path / "backup")

    one.redis.flushall()
    assert restore_backup(many, tmp_path / "backup") == len(NAMES)
    assert contents(many) == before
    with pytest.raises(WrongServers, match="are on a Redis Cluster, and REDIS_CLUSTER_URLS is not set"):
        prepare_sandbox_servers(one)
    write_records(tmp_path / "again", backup_records(many))

    many.redis.flushall()
    empty(site.cluster)
    assert restore_backup(one, tmp_path / "again") == len(NAMES)
    assert contents(one) == before
    assert one.redis.exists(Keys.of(NAMES[0]).state)
    one.redis.set(SANDBOX_SERVERS, "a,b")  # of an earlier release
    with pytest.raises(WrongServers, match=r"on the servers a,b, over which an earlier release"):
        prepare_sandbox_servers(many)


def test_each_master_is_examined(site: Site) -> None:
    """The doctor and /readyz write to each of them."""
    (find_problem,) = (check.find_problem for check in CHECKS if check.name == "redis-cluster")
    assert find_problem(site.one) == find_problem(site.many) == ""
    without_replica = "this master of the cluster has no replica, so its sandboxes stand still when it fails"
    labels = [server.label for server in site.many.servers.all]
    of_cluster = [each.problem for each in examine(site.many) if each.problem.startswith("server ")]
    assert of_cluster == [f"server {label}: {without_replica}" for label in labels]
    node = site.cluster.masters[0]
    (label,) = (label for label in labels if label in node.url)
    node.redis.config_set("maxmemory", 1)
    assert find_problem(site.many).startswith(f"{label}: Redis is out of memory")
    node.redis.config_set("maxmemory", 64 << 20)


def test_wrong_urls_are_refused_and_a_cluster_that_is_away_is_waited_for(
    cluster: RedisCluster, own_redis: EmbeddedRedis, redis_url: str
) -> None:
    password = cluster.urls[0].replace(PASSWORD, "other")
    for url, refused in ((redis_url, "Cluster mode is not enabled"), (password, "invalid username-password")):
        with closing(Store(own_redis.url, [url])) as wrong, pytest.raises(WrongServers, match=refused):
            prepare_sandbox_servers(wrong)
    with closing(Store(own_redis.url, ["redis://127.0.0.1:1"])) as away:
        with pytest.raises(RedisConnectionError):
            prepare_sandbox_servers(away)
        away.redis.sadd("schedviz:sandboxes", "a")
        with pytest.raises(RedisConnectionError):
            away.sandboxes()
        assert any(found.problem.startswith("the Redis Cluster does not answer") for found in examine(away))
