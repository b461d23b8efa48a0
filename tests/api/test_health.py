"""/readyz says what is wrong, with real processes that are stopped one by one."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.test import RequestFactory
from redis import Redis

from schedviz.api import health
from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS, app
from schedviz.processes.message_queues import JOBS_QUEUE, KEY_PREFIX
from schedviz.store import Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port
from schedviz.up.programs import SERVER
from tests.processes import CELERY, Process, answers
from tests.waiting import PATIENCE, eventually

CHECKS = ("redis", "redis-writes", "redis-cluster", "broker", "worker", "job-runner", "queues", "sandboxes")
REQUIRED = ("redis", "redis-writes", "broker", "worker")
NO_WORKER = "[-]worker failed: no worker is alive, so the sandboxes stand still"
NO_JOB_RUNNER = "[!]job-runner failed: no job runner is alive, so what-if questions and comparisons wait"


class Whole:
    """A Redis and a server; workers and job runners are started by the test."""

    def __init__(self, directory: Path, redis: EmbeddedRedis, ends: ExitStack) -> None:
        self.redis = redis
        self._directory = directory
        self._ends = ends
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.start("server", ["-m", SERVER, f"--port={port}"])
        eventually(lambda: answers(f"{self.url}/healthz"), "the server answers")

    def start(self, name: str, command: list[str]) -> Process:
        process = Process(command, self._directory / name, {"REDIS_URL": self.redis.url})
        self._ends.callback(process.kill)
        return process

    def start_celery(self, name: str, arguments: list[str]) -> Process:
        return self.start(name, [*CELERY, *arguments])

    def readyz(self) -> tuple[int, list[str]]:
        """The status, and the lines of failed checks."""
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=PATIENCE) as response:
                status, text = response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        lines = text.splitlines()
        for check, line in zip(CHECKS, lines, strict=True):
            assert line == f"[+]{check} ok" or line[3:].startswith(f"{check} failed: ")
        return status, [line for line in lines if not line.startswith("[+]")]


@pytest.fixture
def whole(tmp_path: Path, own_redis: EmbeddedRedis) -> Iterator[Whole]:
    with ExitStack() as ends:
        yield Whole(tmp_path, own_redis, ends)


@pytest.mark.long
def test_each_missing_process_is_named_with_its_error(whole: Whole) -> None:
    assert whole.readyz() == (503, [NO_WORKER, NO_JOB_RUNNER])
    worker = whole.start_celery("worker", WORKER_ARGUMENTS)
    job_runner = whole.start_celery("job-runner", JOB_RUNNER_ARGUMENTS)
    eventually(lambda: worker.alive() and job_runner.alive() and whole.readyz() == (200, []), "all is ready")

    job_runner.kill()
    eventually(lambda: whole.readyz() == (200, [NO_JOB_RUNNER]), "without a job runner the sandboxes run")
    with Redis.from_url(whole.redis.url) as redis:
        redis.rpush(f"{KEY_PREFIX}{JOBS_QUEUE}", *["{}"] * 1_001)
        waiting = "[!]queues failed: 1001 messages wait in the queue jobs"
        assert whole.readyz() == (200, [NO_JOB_RUNNER, waiting])
        redis.delete(f"{KEY_PREFIX}{JOBS_QUEUE}")

        redis.config_set("maxmemory", 1)
        full = "[-]redis-writes failed: Redis is out of memory (its maxmemory) and stores nothing"
        status, lines = whole.readyz()
        assert (status, lines[0]) == (503, full)
        redis.config_set("maxmemory", 0)
    worker.kill()
    eventually(lambda: whole.readyz() == (503, [NO_WORKER, NO_JOB_RUNNER]), "no worker is left")

    whole.redis.stop()
    status, lines = whole.readyz()
    assert status == 503
    assert lines == [
        "[-]redis failed: Redis does not answer, or is still reading its file",
        *(
            f"[{'-' if check in REQUIRED else '!'}]{check} failed: not checked, as Redis does not answer"
            for check in CHECKS[1:]
        ),
    ]


def test_a_broker_that_does_not_answer_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.conf, "broker_write_url", "redis://127.0.0.1:1/0")
    response = health.readyz(RequestFactory().get("/readyz"))
    assert response.status_code == 503
    lines = response.content.decode().splitlines()
    assert lines[:4] == [
        "[+]redis ok",
        "[+]redis-writes ok",
        "[+]redis-cluster ok",
        "[-]broker failed: Celery's broker does not answer",
    ]
    assert not any("not checked" in line for line in lines)
