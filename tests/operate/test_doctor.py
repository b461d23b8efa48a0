"""The doctor finds each fault, and reports none where there is none."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS
from schedviz.loop.due import KEY as DUE
from schedviz.operate.doctor import settings_checks
from schedviz.operate.doctor.examine import examine
from schedviz.operate.doctor.process_checks import check_processes
from schedviz.operate.doctor.redis_checks import check_server, check_stored
from schedviz.operate.doctor.settings_checks import check_data_directory, check_settings
from schedviz.processes.heartbeats import Heartbeats
from schedviz.processes.message_queues import BACKLOG, KEY_PREFIX
from schedviz.store import Failure, Meta, Store
from schedviz.store.keys import SCHEMA, Keys
from schedviz.store.schema import VERSION
from schedviz.up.embedded_redis import EmbeddedRedis, lock
from schedviz.up.operator_store import operator_redis_url
from tests.processes import CELERY, ROOT, Process
from tests.waiting import PATIENCE, eventually


@pytest.fixture
def own_store(tmp_path: Path, redis_url: str) -> Iterator[Store]:
    """A store as `manage.py up` makes it, in which nothing is wrong."""
    directory = tmp_path / "redis"
    with lock(directory) as held:
        server = EmbeddedRedis.start(directory, held, memory_mb=64)
        store = Store(server.url)
        store.redis.set(SCHEMA, VERSION)
        for role in ("worker", "job-runner"):
            Heartbeats(store.redis, role).beat(f"a-{role}")
        yield store
        store.close()
        server.stop()


def one(findings: list[Any]) -> str:
    [finding] = findings
    assert finding.remedy
    assert "\n" not in str(finding)
    return str(finding.problem)


@contextmanager
def info(store: Store, **values: object) -> Iterator[None]:
    """The notes that Redis's own state causes."""
    real = store.redis.info()
    with patch.object(store.redis, "info", lambda: {**real, **values}):
        yield


def check_redis(store: Store, own_time: float | None = None) -> list[Any]:
    return [
        *(finding for server in store.all_servers for finding in check_server(server, own_time)),
        *check_stored(store),
    ]


def test_nothing_is_wrong_with_a_new_server(own_store: Store) -> None:
    assert check_redis(own_store) == []
    assert check_processes(own_store) == []
    assert check_settings() == []


# Redis


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"redis_version": "6.0.20"}, "Redis is version 6.0.20"),
        ({"used_memory": 60 << 20}, "Redis uses 60 of 64 MiB of memory"),
        ({"aof_last_write_status": "err"}, "Redis failed at the last write to its append-only file"),
        ({"aof_last_bgrewrite_status": "err"}, "Redis failed at the last rewrite of its append-only file"),
        ({"rdb_last_bgsave_status": "err"}, "Redis failed at its last snapshot"),
        ({"loading": 1}, "Redis still reads its file"),
    ],
)
def test_the_doctor_reports_the_version_and_memory_of_redis(
    own_store: Store, values: dict[str, object], problem: str
) -> None:
    with info(own_store, **values):
        assert one(check_redis(own_store)) == problem


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("maxmemory-policy", "allkeys-lru", "maxmemory-policy allkeys-lru"),
        ("maxmemory", "0", "Redis has no limit of memory"),
        ("appendonly", "no", "Redis does not write each change to its disk"),
    ],
)
def test_options_of_redis(own_store: Store, option: str, value: str, problem: str) -> None:
    own_store.redis.config_set(option, value)
    assert problem in one(check_redis(own_store))


def test_a_redis_that_refuses_writes(own_store: Store) -> None:
    own_store.redis.config_set("maxmemory", "1")
    problems = [finding.problem for finding in check_redis(own_store)]
    assert "Redis refuses writes (full)" in problems


def test_a_replica(own_store: Store) -> None:
    with info(own_store, role="slave"):
        assert one(check_redis(own_store)) == "this Redis is a replica and takes no writes"


def test_a_redis_that_does_not_answer(own_store: Store) -> None:
    own_store.redis.shutdown(nosave=True)
    assert "Redis does not answer" in examine(own_store)[0].problem


def test_a_wrong_password(redis_url: str) -> None:
    store = Store(redis_url.replace(":test@", ":wrong@"))
    assert "Redis refuses the password" in examine(store)[0].problem
    assert "wrong" not in str(examine(store)[0])


@pytest.mark.parametrize(("seconds", "words"), [(60.0, "behind"), (-60.0, "ahead of")])
def test_a_clock_that_differs(own_store: Store, seconds: float, words: str) -> None:
    found = one(check_redis(own_store, time.time() + seconds))
    assert found.startswith("the clock of Redis is ")
    assert f"s {words} that of this machine" in found


def test_stored_data_of_another_version(own_store: Store) -> None:
    own_store.redis.set(SCHEMA, VERSION + 1)
    assert f"has schema version {VERSION + 1}" in one(check_redis(own_store))
    own_store.redis.set(SCHEMA, VERSION - 1)
    assert f"has schema version {VERSION - 1}" in one(check_redis(own_store))


def test_sandboxes_elsewhere_than_the_setting_says(own_store: Store) -> None:
    own_store.create(Meta(name="one"))
    found = one(check_stored(Store(own_store.redis_url, ["redis://127.0.0.1:1"])))
    assert found.startswith("the sandboxes are on the Redis of REDIS_URL, and REDIS_CLUSTER_URLS is set: ")


# Processes


@pytest.mark.parametrize("role", ["worker", "job-runner"])
def test_no_process_of_a_role(own_store: Store, role: Any) -> None:
    Heartbeats(own_store.redis, role).stop(f"a-{role}")
    assert one(check_processes(own_store)).startswith(f"no {role.replace('-', ' ')} is alive")


def test_messages_that_no_process_receives(own_store: Store) -> None:
    own_store.redis.rpush(f"{KEY_PREFIX}slices", *([b"x"] * (BACKLOG + 1)))
    assert one(check_processes(own_store)) == f"{BACKLOG + 1} messages wait in the queue slices"


def test_sandboxes_that_wait_for_a_slice(own_store: Store) -> None:
    names = {f"late-{number}": (own_store.wall() - 10) * 1e6 for number in range(7)}
    own_store.redis.zadd(DUE, {**names, "soon": own_store.wall() * 1e6})
    found = one(check_processes(own_store))
    assert found.startswith("7 sandboxes wait for a slice for more than 5 s (late-0, ")
    assert found.endswith(" and 2 more)")


def test_a_loop_that_failed(own_store: Store) -> None:
    sandbox = own_store.create(Meta(name="broken"))
    sandbox.set_failure(Failure("ValueError: no", 1, 0.0, 1.0))
    assert one(check_processes(own_store)) == "the loop of 1 sandboxes failed (broken)"


def test_a_sandbox_that_cannot_be_read(own_store: Store) -> None:
    own_store.create(Meta(name="strange"))
    own_store.redis.hset(Keys.of("strange").state, "meta", "{")
    assert one(check_processes(own_store)) == "1 sandboxes cannot be read (strange)"


# Settings


@pytest.fixture(autouse=True)
def real_hosts(settings: Any) -> None:
    """pytest-django adds the host of Django's client."""
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (
            {"ALLOWED_HOSTS": ["*"], "ACCESS": "owners", "HAS_SECRET_KEY": True},
            "ALLOWED_HOSTS allows every name",
        ),
        (
            {"HOST": "0.0.0.0", "ACCESS": "owners", "HAS_SECRET_KEY": True},
            "HOST=0.0.0.0 lets others in, and ALLOWED_HOSTS refuses all their requests",
        ),
        (
            {"CSRF_TRUSTED_ORIGINS": ["https://a.example"]},
            "CSRF_TRUSTED_ORIGINS trusts a.example, and ALLOWED_HOSTS refuses requests to it",
        ),
        ({"ALLOWED_HOSTS": ["a.example"]}, "ACCESS=open lets everybody who reaches a.example"),
        ({"ACCESS": "owners", "DATA_DIR": Path("/nowhere")}, "ACCESS=owners needs a SECRET_KEY"),
        (
            {"REDIS_URL": "rediss://redis.example.com/0"},
            "a Redis on another machine (redis.example.com) without",
        ),
        (
            {"REDIS_URL": "redis://:p@redis.example.com/0"},
            "REDIS_URL: all data go to redis.example.com without encryption",
        ),
        (
            {"REDIS_CLUSTER_URLS": ["redis://:p@b.example.com/0"]},
            "REDIS_CLUSTER_URLS: all data go to b.example.com without encryption",
        ),
    ],
)
def test_settings_that_contradict_each_other(settings: Any, values: dict[str, Any], problem: str) -> None:
    settings.HAS_SECRET_KEY = False
    for name, value in values.items():
        setattr(settings, name, value)
    assert problem in one(check_settings())


def test_traces_without_the_packages_for_them(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:4318"
    assert check_settings() == []
    monkeypatch.setattr(settings_checks, "find_spec", lambda name: None)
    assert "the packages that send traces are not installed" in one(check_settings())


def test_a_lesson_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_checks, "check_lessons", lambda: "lesson.yaml:3: no such step")
    assert one(check_settings()) == "a lesson cannot be read: lesson.yaml:3: no such step"


# The disk


def test_a_directory_that_others_may_read(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert "other users of this machine can look into DATA_DIR" in one(
        [*check_data_directory(tmp_path, 1, 1 << 30)]
    )
    tmp_path.chmod(0o700)
    assert [*check_data_directory(tmp_path, 1, 1 << 30)] == []
    (tmp_path / "secret-key").touch(0o644)
    assert one([*check_data_directory(tmp_path, 1, 1 << 30)]).endswith("secret-key")


def test_a_disk_that_is_nearly_full(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    found = one([*check_data_directory(tmp_path, 64, 10 << 20)])
    assert found == "the disk of DATA_DIR has 10 MiB left, and Redis may need 64"


def test_a_new_data_directory_is_private(tmp_path: Path) -> None:
    with lock(tmp_path / "new"):
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


# The command


def test_the_embedded_redis_is_found_without_its_url(
    own_store: Store, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REDIS_URL")
    settings.DATA_DIR = tmp_path / "redis"
    assert operator_redis_url() == own_store.redis_url
    monkeypatch.setenv("REDIS_URL", settings.REDIS_URL)
    assert operator_redis_url() == settings.REDIS_URL


def doctor(url: str) -> tuple[int, list[str]]:
    ended = subprocess.run(
        [sys.executable, "manage.py", "doctor"],
        cwd=ROOT,
        env={**os.environ, "REDIS_URL": url},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.stderr == ""
    return ended.returncode, ended.stdout.splitlines()


@pytest.mark.long
def test_the_command_checks_real_processes(own_store: Store, tmp_path: Path) -> None:
    for role in ("worker", "job-runner"):
        Heartbeats(own_store.redis, role).stop(f"a-{role}")
    status, lines = doctor(own_store.redis_url)
    assert status == 1
    assert [line.partition(",")[0] for line in lines] == ["no worker is alive", "no job runner is alive"]
    environment = {"REDIS_URL": own_store.redis_url}
    processes = [
        Process([*CELERY, *arguments], tmp_path / f"{number}.log", environment)
        for number, arguments in enumerate((WORKER_ARGUMENTS, JOB_RUNNER_ARGUMENTS))
    ]
    try:
        eventually(lambda: check_processes(own_store) == [] and all(p.alive() for p in processes))
        assert doctor(own_store.redis_url) == (0, ["No problems found."])
    finally:
        for process in processes:
            process.stop()
