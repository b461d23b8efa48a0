"""The health checks of the containers, as docker-compose.yml runs them, on real processes."""

import os
import subprocess
import sys
from typing import Any

import pytest
from django.test import Client
from redis import Redis

from schedviz.processes.heartbeats import Heartbeats
from schedviz.processes.process_name import make_process_name, runs_here
from schedviz.processes.role import ROLES, Role
from tests.processes import ROOT, Process
from tests.waiting import PATIENCE, eventually


def health(service: str, **environment: str) -> tuple[int, str]:
    """The exit status of a health check, and the line that it prints."""
    ended = subprocess.run(
        [sys.executable, "-m", "schedviz.up.health", service],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.stderr == ""
    return ended.returncode, ended.stdout.rstrip("\n")


@pytest.mark.long
def test_a_worker_and_a_job_runner_are_healthy_while_they_send_heartbeats(
    worker: Process, job_runner: Process
) -> None:
    for role in ROLES:
        eventually(lambda role=role: health(role) == (0, "ok"), f"the {role} is healthy")
    with job_runner.halted():
        failed = (1, "no job-runner here has sent a heartbeat for 2 s")
        eventually(lambda: health("job-runner") == failed, "a job runner that hangs is not healthy")
    eventually(lambda: health("job-runner") == (0, "ok"), "it goes on")


@pytest.mark.parametrize("role", ROLES)
def test_the_heartbeat_of_another_container_does_not_count(redis_url: str, role: Role) -> None:
    url = f"{redis_url.removesuffix('/0')}/8"
    with Redis.from_url(url) as redis:
        redis.flushdb()
        heartbeats = Heartbeats(redis, role)
        here = make_process_name()
        heartbeats.beat(f"other-{here}")
        heartbeats.beat(f"{here}-0")
        assert health(role, REDIS_URL=url)[0] == 1
        redis.flushdb()


def test_the_name_of_a_process_has_its_host() -> None:
    here = make_process_name()
    assert runs_here(here)
    assert not runs_here(f"other-{here}")
    assert not runs_here(here.rpartition("-")[0])


def test_a_server_is_healthy_while_it_answers(server: str) -> None:
    assert health(f"{server}/healthz") == (0, "ok")
    status, line = health(f"{server}/nothing")
    assert status == 1
    assert line.endswith("/nothing: HTTP Error 404: Not Found")


def test_monitoring_is_answered_at_any_host(client: Client, settings: Any) -> None:
    """The server's own machine, container or pod asks by an address."""
    settings.METRICS_TOKEN = "s3cret"
    elsewhere = {"Host": "10.1.2.3:8000", "Authorization": "Bearer s3cret"}
    for path in ("/healthz", "/readyz", "/metrics"):
        assert client.get(path, headers=elsewhere).status_code in (200, 503), path
    assert client.get("/rooms/", headers=elsewhere).status_code == 400


def test_a_server_that_does_not_respond_is_not_healthy() -> None:
    nowhere = "127.0.0.1:1"
    status, line = health(f"http://{nowhere}/healthz")
    assert (status, line) == (1, f"http://{nowhere}/healthz: <urlopen error [Errno 111] Connection refused>")
    status, line = health("worker", REDIS_URL=f"redis://{nowhere}/0")
    assert status == 1
    assert line.startswith("Redis does not answer: ")
    assert health("masters") == (1, "'masters' is none of worker, job-runner")
