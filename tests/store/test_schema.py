"""The schema version of the store: written, checked and migrated before a process does anything else."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from redis import Redis

from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS
from schedviz.store import Meta, Store, schema
from schedviz.store.keys import REGISTRY, SCHEMA, SCHEMA_LOCK, SCHEMA_TARGET
from schedviz.store.migrations import remove_old_jobs
from schedviz.store.schema import CHECK_SECONDS, END_SECONDS, LEAVE_SECONDS, VERSION, Migration, WrongSchema
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from schedviz.up.programs import SERVER
from tests.processes import CELERY, Process, answers
from tests.waiting import eventually

RAN = "ran"


def prepare(redis: Redis, migrations: Sequence[Migration]) -> None:
    """Without the wait for processes of older versions, of which there are none."""
    schema.prepare(redis, migrations, leave_seconds=0)


@pytest.fixture
def own_url(redis_url: str) -> str:
    """A database of the test's own in the session's Redis."""
    return f"{redis_url.removesuffix('/0')}/9"


@pytest.fixture
def redis(own_url: str) -> Iterator[Redis]:
    with Redis.from_url(own_url) as redis:
        redis.flushdb()
        yield redis
        redis.flushdb()


def migration(name: str, parts: int = 2) -> Callable[[Redis], Iterator[None]]:
    """One that notes that each part of it ran."""

    def run(redis: Redis) -> Iterator[None]:
        for part in range(parts):
            assert redis.exists(SCHEMA_LOCK)
            redis.rpush(RAN, f"{name}.{part}")
            yield

    return run


def ran(redis: Redis) -> list[str]:
    return [part.decode() for part in redis.lrange(RAN, 0, -1)]


def test_the_questions_and_comparisons_of_version_1_are_removed(redis: Redis) -> None:
    redis.sadd(REGISTRY, "kept")
    redis.set("schedviz:comparisons:{1f}", "{}")
    redis.zadd("schedviz:comparisons:kept", {"1f": 1})
    redis.zadd("schedviz:questions:waiting", {"a": 1})
    redis.lpush("schedviz:celery:questions", "{}")
    redis.hset("schedviz:heartbeats:workers", "w", 1)
    redis.lpush("schedviz:celery:slices.w", "{}")
    redis.lpush("schedviz:celery:slices", "{}")
    prepare(redis, [remove_old_jobs])
    assert sorted(redis.keys("*")) == [b"schedviz:celery:slices", REGISTRY.encode(), SCHEMA.encode()]


TO_2, TO_3 = migration("to 2"), migration("to 3")


def test_an_empty_store_gets_the_version_of_the_program(redis: Redis) -> None:
    prepare(redis, [TO_2, TO_3])
    assert redis.get(SCHEMA) == b"3"
    prepare(redis, [TO_2, TO_3])
    assert ran(redis) == []
    assert not redis.exists(SCHEMA_LOCK)


def test_the_first_sandbox_of_a_store_has_the_version_written(redis: Redis, own_url: str) -> None:
    store = Store(own_url)
    store.create(Meta("first"))
    assert redis.get(SCHEMA) == str(VERSION).encode()
    store.close()


def test_data_without_a_version_is_version_1(redis: Redis) -> None:
    redis.sadd(REGISTRY, "old")
    prepare(redis, [])
    assert redis.get(SCHEMA) == b"1"
    redis.delete(SCHEMA)
    prepare(redis, [TO_2, TO_3])
    assert redis.get(SCHEMA) == b"3"
    assert ran(redis) == ["to 2.0", "to 2.1", "to 3.0", "to 3.1"]


def test_an_older_store_is_migrated_from_its_version_on(redis: Redis) -> None:
    redis.set(SCHEMA, 2)
    prepare(redis, [TO_2, TO_3])
    assert redis.get(SCHEMA) == b"3"
    assert ran(redis) == ["to 3.0", "to 3.1"]


@pytest.mark.parametrize("stored", ["4", "0", "x", "-1", ""])
def test_a_newer_store_and_an_invalid_version_are_refused_and_not_changed(redis: Redis, stored: str) -> None:
    redis.set(SCHEMA, stored)
    with pytest.raises(WrongSchema):
        prepare(redis, [TO_2, TO_3])
    assert redis.keys("*") == [SCHEMA.encode()]
    assert redis.get(SCHEMA) == stored.encode()


def test_a_migration_that_failed_is_run_again_from_its_beginning(redis: Redis) -> None:
    def fails(redis: Redis) -> Iterator[None]:
        yield from migration("cut off", 1)(redis)
        raise ZeroDivisionError

    redis.set(SCHEMA, 1)
    with pytest.raises(ZeroDivisionError):
        prepare(redis, [TO_2, fails])
    assert redis.get(SCHEMA) == b"2"
    prepare(redis, [TO_2, TO_3])
    assert ran(redis) == ["to 2.0", "to 2.1", "cut off.0", "to 3.0", "to 3.1"]


def test_a_process_that_lost_the_lock_leaves_the_rest_to_another(redis: Redis) -> None:
    first = True

    def slow(redis: Redis) -> Iterator[None]:
        nonlocal first
        redis.rpush(RAN, "slow")
        if first:
            first = False
            redis.delete(SCHEMA_LOCK)  # as its expiry does
            prepare(redis, [migration("another", 1)])
        yield

    redis.set(SCHEMA, 1)
    prepare(redis, [slow])
    assert redis.get(SCHEMA) == b"2"
    assert ran(redis) == ["slow", "another.0"]


TWO = """
import sys
from redis import Redis
from schedviz.store.migrations import remove_old_jobs
from schedviz.store.schema import prepare
def to_2(redis):
    redis.rpush("ran", "to 2")
    yield
redis = Redis.from_url(sys.argv[1])
redis.incr("started")
while int(redis.get("started")) < 2:
    pass
prepare(redis, [to_2], leave_seconds=0)
assert redis.get("schedviz:schema") == b"2"
"""


def test_one_of_two_concurrent_processes_migrates(redis: Redis, own_url: str, tmp_path: Path) -> None:
    redis.set(SCHEMA, 1)
    processes = [Process(["-c", TWO, own_url], tmp_path / str(number)) for number in range(2)]
    for process in processes:
        assert process.wait() == 0, process.output
    assert ran(redis) == ["to 2"]


def test_a_process_that_starts_waits_for_its_redis(tmp_path: Path) -> None:
    port = free_port()
    demo = Process(["manage.py", "demo"], tmp_path / "demo", {"REDIS_URL": f"redis://:x@127.0.0.1:{port}/0"})
    eventually(lambda: demo.alive() and "waiting for Redis" in demo.output, "it waits")
    with lock(tmp_path) as held:
        server = EmbeddedRedis.start(tmp_path, held, port, "x")
        assert demo.wait() == 0
        with Redis.from_url(server.url) as redis:
            assert redis.get(SCHEMA) == str(VERSION).encode()
        server.stop()


@pytest.mark.long
def test_every_process_refuses_a_newer_store_with_one_line(
    redis: Redis, own_url: str, tmp_path: Path
) -> None:
    redis.set(SCHEMA, VERSION + 1)
    port = str(free_port())
    commands = {
        "server": ["-m", SERVER, f"--port={port}"],
        "worker": [*CELERY, *WORKER_ARGUMENTS],
        "job-runner": [*CELERY, *JOB_RUNNER_ARGUMENTS],
        "demo": ["manage.py", "demo"],
        "up": ["manage.py", "up"],
    }
    environment = {"REDIS_URL": own_url, "PORT": port}
    processes = {name: Process(command, tmp_path / name, environment) for name, command in commands.items()}
    for name, process in processes.items():
        assert process.wait() == 1, f"{name}: {process.output}"
        assert process.output == (
            f"schedviz: the data in Redis has schema version {VERSION + 1}, and this schedviz reads versions "
            f"up to {VERSION}: start the newer schedviz that wrote it\n"
        ), name
    assert redis.keys("*") == [SCHEMA.encode()]


@pytest.mark.long
def test_processes_of_the_older_version_end_before_a_migration_begins(
    redis: Redis, own_url: str, tmp_path: Path
) -> None:
    """A rolling upgrade: the newer version announces its migration, and the older processes read that."""
    assert LEAVE_SECONDS > CHECK_SECONDS + END_SECONDS
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    commands = {
        "server": ["-m", SERVER, f"--port={port}"],
        "worker": [*CELERY, *WORKER_ARGUMENTS],
        "job-runner": [*CELERY, *JOB_RUNNER_ARGUMENTS],
    }
    processes = {
        name: Process(command, tmp_path / name, {"REDIS_URL": own_url}) for name, command in commands.items()
    }
    eventually(
        lambda: all(process.alive() for process in processes.values()) and answers(f"{url}/readyz"), "all run"
    )
    redis.set(SCHEMA_TARGET, VERSION + 1)  # the announcement
    for name, process in processes.items():
        process.wait()
        line, *rest = process.output.splitlines()
        assert line == (
            f"schedviz: the data in Redis is being migrated to schema version {VERSION + 1}, and this "
            f"schedviz reads versions up to {VERSION}: start the newer schedviz that wrote it"
        ), name
        assert rest in ([], ["", "worker: Warm shutdown (MainProcess)"]), "Celery says that it ends"
    prepare(redis, [*schema.MIGRATIONS, TO_3])
    assert redis.get(SCHEMA) == str(VERSION + 1).encode()
    assert not redis.exists(SCHEMA_TARGET)


def test_a_migration_is_announced_before_the_wait(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[tuple[float, bytes | None]] = []
    monkeypatch.setattr(schema, "sleep", lambda seconds: waits.append((seconds, redis.get(SCHEMA_TARGET))))
    redis.set(SCHEMA, 1)
    schema.prepare(redis, [TO_2])
    assert waits == [(LEAVE_SECONDS, b"2")]
    schema.prepare(redis, [TO_2])
    assert len(waits) == 1


def test_an_interrupted_migration_keeps_older_versions_from_starting(redis: Redis) -> None:
    redis.set(SCHEMA, 1)
    redis.set(SCHEMA_TARGET, 3)
    with pytest.raises(WrongSchema, match="is being migrated to schema version 3"):
        prepare(redis, [TO_2])
    prepare(redis, [TO_2, TO_3])
    assert redis.get(SCHEMA) == b"3"
