"""A backup, and its restore."""

import gzip
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from schedviz.api import write
from schedviz.loop.driver import Driver
from schedviz.loop.due import KEY as DUE
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.operate.backup.backup_file import BadBackup, Group, write_records
from schedviz.operate.backup.restore_backup import Refused, restore_backup
from schedviz.operate.backup.write_backup import backup_records
from schedviz.processes.heartbeats import Heartbeats
from schedviz.rooms.room import What
from schedviz.rooms.room_store import Rooms
from schedviz.store import Meta, Sandbox, Store
from schedviz.store.keys import USED, Keys
from schedviz.store.schema import VERSION
from schedviz.up.embedded_redis import EmbeddedRedis
from schedviz.web.lifetime import SWEEP_LOCK
from simulator.simulation import Simulation
from tests.loop.conftest import bound, node, pod
from tests.processes import ROOT
from tests.waiting import PATIENCE

numbers = itertools.count()


@pytest.fixture
def own_store(own_redis: EmbeddedRedis) -> Iterator[Store]:
    store = Store(own_redis.url)
    yield store
    store.close()


class Led:
    """A sandbox that a worker of this test leads."""

    def __init__(self, store: Store, name: str) -> None:
        presence = Presence(store, f"worker-{next(numbers)}")
        presence.beat()
        self.sandbox: Sandbox = store.handle(name)
        self._driver = Driver(store, Wakes(store), presence, Simulation)
        self.stop = lambda: presence.workers.stop(presence.worker)

    def run(self) -> None:
        self._driver.slice(self.sandbox.name, None)


def sandbox_of(store: Store, name: str, pods: int = 4) -> Led:
    meta = Meta(name=name, created=store.wall(), seed=7)
    write.create_sandbox(store, meta, [node("n1"), node("n2"), *(pod(f"p{i}") for i in range(pods))])
    led = Led(store, name)
    while len(bound(led.sandbox)) < pods:
        led.run()
    return led


def stored(store: Store, name: str) -> dict[str, object]:
    """All data of a sandbox except its clock, which a restore moves."""
    sandbox = store.sandbox(name)
    state = store.redis.hgetall(Keys.of(name).state)
    return {
        "state": {field: value for field, value in state.items() if field not in (b"clock", b"revision")},
        "objects": sandbox.list_all(),
        "trace": sandbox.trace_tail(10_000),
        "lanes": store.redis.hgetall(Keys.of(name).lanes),
        "log": store.redis.xinfo_stream(Keys.of(name).log)["last-generated-id"],
        "journal": store.redis.xrange(Keys.of(name).journal),
    }


def test_a_sandbox_continues_after_a_restore(own_store: Store, tmp_path: Path) -> None:
    led = sandbox_of(own_store, "demo")
    own_store.redis.delete(DUE)
    before, clock, wall = stored(own_store, "demo"), *led.sandbox.read_clock()
    assert len(bound(led.sandbox)) == 4
    write_records(tmp_path / "backup", backup_records(own_store))
    led.stop()
    own_store.redis.flushall()

    assert restore_backup(own_store, tmp_path / "backup") == 1
    assert stored(own_store, "demo") == before
    assert own_store.names() == {"demo"}
    assert own_store.redis.zscore(DUE, "demo") is not None
    again = Led(own_store, "demo")
    restored, now = again.sandbox.read_clock()
    # The time between backup and restore has not passed.
    assert 0 <= restored.now(now) - clock.now(wall) < (now - wall) * 1_000_000
    write.create(again.sandbox, [pod("later")])
    again.run()
    trace = again.sandbox.trace_tail(10_000)
    assert trace[: len(before["trace"])] == before["trace"]  # type: ignore[arg-type]
    assert [number for number, _ in trace] == [*range(1, len(trace) + 1)]
    assert bound(again.sandbox)["later"]
    epochs = [event.epoch for _, event in trace if type(event).__name__ == "LeaderElected"]
    assert epochs == [1, 2]


def test_a_backup_has_rooms_and_learners_and_no_messages(own_store: Store, tmp_path: Path) -> None:
    room, token = Rooms(own_store).create("Class", What("course"), "own", 3600)
    Rooms(own_store).join(room, "Ada")
    own_store.redis.hset("schedviz:learner:ada", "lesson", b"done")
    for transient in ("schedviz:celery:slices", "schedviz:jobs:questions:finished"):
        own_store.redis.rpush(transient, b"x")
    Heartbeats(own_store.redis, "worker").beat("one")
    own_store.redis.zadd(USED, {"demo": 1.0})
    own_store.redis.set(SWEEP_LOCK, b"")
    ttl = own_store.redis.pttl(f"schedviz:room:{{{room.code}}}")
    write_records(tmp_path / "backup", backup_records(own_store))
    own_store.redis.flushall()
    restore_backup(own_store, tmp_path / "backup")
    rooms = Rooms(own_store)
    assert rooms.codes() == [room.code]
    assert [member.name for member in rooms.read(room.code).members] == ["Ada"]
    assert rooms.is_teacher(rooms.find(room.code), token)
    assert own_store.redis.hget("schedviz:learner:ada", "lesson") == b"done"
    assert 0 < ttl - own_store.redis.pttl(f"schedviz:room:{{{room.code}}}") < PATIENCE * 1000
    keys = [key.decode() for key in own_store.redis.scan_iter()]
    assert not [key for key in keys if "celery" in key or "jobs" in key or "heartbeats" in key]
    assert USED not in keys, "the lifetime of a restored sandbox begins again"
    assert SWEEP_LOCK not in keys


def test_a_restore_overwrites_only_with_the_option(own_store: Store, tmp_path: Path) -> None:
    led = sandbox_of(own_store, "demo")
    before = stored(own_store, "demo")
    write_records(tmp_path / "backup", backup_records(own_store))
    write.create(led.sandbox, [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}])
    changed = stored(own_store, "demo")
    with pytest.raises(Refused, match=r"Redis has sandbox demo already: .+\(--overwrite\)"):
        restore_backup(own_store, tmp_path / "backup")
    with pytest.raises(Refused, match="stop the web servers, workers and job runners"):
        restore_backup(own_store, tmp_path / "backup", overwrite=True)
    assert stored(own_store, "demo") == changed
    led.stop()
    assert restore_backup(own_store, tmp_path / "backup", overwrite=True) == 1
    assert stored(own_store, "demo") == before


def test_what_is_left_of_a_deleted_sandbox_is_neither_in_a_backup_nor_in_the_way_of_a_restore(
    own_store: Store, tmp_path: Path
) -> None:
    sandbox_of(own_store, "demo").stop()
    before = stored(own_store, "demo")
    write_records(tmp_path / "backup", backup_records(own_store))
    own_store.delete("demo")
    left = [each for each in backup_records(own_store) if isinstance(each, Group) and each.keys]
    assert left == []
    assert restore_backup(own_store, tmp_path / "backup") == 1
    assert stored(own_store, "demo") == before


def test_a_backup_of_another_schema_version_is_refused(own_store: Store, tmp_path: Path) -> None:
    sandbox_of(own_store, "demo").stop()
    [header, *rest] = backup_records(own_store)
    write_records(tmp_path / "backup", [replace(header, schema=VERSION + 1), *rest])
    own_store.redis.flushall()
    with pytest.raises(Refused) as refused:
        restore_backup(own_store, tmp_path / "backup")
    assert str(refused.value).startswith(
        f"the backup has schema version {VERSION + 1}, and this schedviz {VERSION}"
    )
    assert "\n" not in str(refused.value)
    assert own_store.redis.keys() == []


def test_an_incomplete_backup_writes_nothing(own_store: Store, tmp_path: Path) -> None:
    sandbox_of(own_store, "demo").stop()
    file = tmp_path / "backup"
    write_records(file, backup_records(own_store))
    assert file.stat().st_mode & 0o777 == 0o600
    whole = file.read_bytes()
    plain = gzip.decompress(whole)
    own_store.redis.flushall()
    for name, data in {
        "cut": whole[: len(whole) // 2],
        "damaged": whole[:10] + b"\xff" * 50 + whole[60:],
        "no end": gzip.compress(plain[:-20]),
        "cut in a length": gzip.compress(plain[:4]),
        "empty": b"",
        "other": b"PK\x03\x04 something else",
        "garbage": gzip.compress(plain[:8] + b"\xff" * 100),
        "other records": gzip.compress((2).to_bytes(8) + msgspec.msgpack.encode([1])),
    }.items():
        file.write_bytes(data)
        with pytest.raises(BadBackup, match="is no"):
            restore_backup(own_store, file)
        assert own_store.redis.keys() == [], name


def test_a_write_that_fails_leaves_no_file(tmp_path: Path) -> None:
    def records() -> Iterator[Group]:
        yield Group("", 0.0, [])
        raise ConnectionError

    with pytest.raises(ConnectionError):
        write_records(tmp_path / "backup", records())
    assert [*tmp_path.iterdir()] == []


def test_a_value_that_redis_does_not_accept_is_named(own_store: Store, tmp_path: Path) -> None:
    sandbox_of(own_store, "demo").stop()
    records = [
        replace(each, keys=[replace(key, value=b"x" + key.value) for key in each.keys])
        if isinstance(each, Group)
        else each
        for each in backup_records(own_store)
    ]
    write_records(tmp_path / "backup", records)
    own_store.redis.flushall()
    with pytest.raises(BadBackup, match="Redis does not take demo of the backup"):
        restore_backup(own_store, tmp_path / "backup")


def run(command: str, file: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", command, str(file), *options],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.long
def test_the_commands(own_store: Store, tmp_path: Path) -> None:
    sandbox_of(own_store, "demo").stop()
    before, url = stored(own_store, "demo"), own_store.redis_url
    file = tmp_path / "backup"
    made = run("backup", file, REDIS_URL=url)
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.startswith(f"{file}: 1 sandboxes, ")
    refused = run("restore", file, REDIS_URL=url)
    assert (refused.returncode, refused.stdout) == (1, "")
    [line] = refused.stderr.splitlines()
    assert line.startswith("CommandError: schedviz: Redis has sandbox demo already")
    own_store.redis.flushall()
    restored = run("restore", file, REDIS_URL=url)
    assert (restored.returncode, restored.stdout) == (0, "1 sandboxes were restored\n")
    assert stored(own_store, "demo") == before


@pytest.mark.long
def test_the_commands_start_the_embedded_redis_where_up_does_not_run(
    own_store: Store, tmp_path: Path
) -> None:
    sandbox_of(own_store, "demo").stop()
    write_records(tmp_path / "backup", backup_records(own_store))
    data = {"REDIS_URL": "", "DATA_DIR": str(tmp_path / "data")}
    for options in ([], ["--overwrite"]):
        restored = run("restore", tmp_path / "backup", *options, **data)
        assert (restored.returncode, restored.stdout) == (0, "1 sandboxes were restored\n"), restored.stderr
    made = run("backup", tmp_path / "again", **data)
    assert made.stdout.startswith(f"{tmp_path / 'again'}: 1 sandboxes, ")
