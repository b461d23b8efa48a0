"""What the processes write to their logs."""

import logging
from pathlib import Path

import pytest
from django.test import Client

from schedviz import logs
from schedviz.logs import Repeated
from schedviz.up.embedded_redis import free_port
from schedviz.up.programs import SERVER
from tests.processes import Process, answers
from tests.waiting import eventually


def record(text: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord("celery", logging.ERROR, "", 0, text, arguments, None)


def test_a_repeated_record_is_dropped_for_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(logs.time, "monotonic", lambda: now)
    repeated = Repeated()
    assert repeated.filter(record("cannot connect to %s", "redis"))
    assert repeated.filter(record("something else"))
    assert not repeated.filter(record("cannot connect to %s", "the same redis"))
    now += logs.QUIET_SECONDS
    assert repeated.filter(record("cannot connect to %s", "redis"))


def test_a_body_that_cannot_be_parsed_is_not_logged(capfd: pytest.CaptureFixture[str]) -> None:
    client = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    client.cookies["csrftoken"] = "a" * 32
    answer = client.post("/sandboxes/", b"a", content_type="multipart/form-data; boundary=")
    assert answer.status_code == 400
    assert capfd.readouterr().err == ""


def test_a_refused_request_takes_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    answer = Client(headers={"host": "example.com"}).get("/healthz/")
    assert answer.status_code == 400
    written = capfd.readouterr().err
    assert "Invalid HTTP_HOST header: 'example.com'" in written
    assert "Traceback" not in written
    assert len(written.splitlines()) == 1


def test_a_server_without_errors_writes_nothing(redis_url: str, tmp_path: Path) -> None:
    """Neither that it started, nor its requests."""
    port = free_port()
    server = Process(["-m", SERVER, f"--port={port}"], tmp_path / "log", {"REDIS_URL": redis_url})
    eventually(lambda: server.alive() and answers(f"http://127.0.0.1:{port}/healthz"), "it responds")
    server.stop()
    assert server.output == ""
