"""The number of a request, in its response and in the log."""

import json
import logging
import re
from pathlib import Path

import pytest
from django.test import Client

from schedviz.celery import WORKER_ARGUMENTS
from schedviz.log_context import AddContext, known, log_context, note
from schedviz.log_formats import JsonFormatter, TextFormatter
from schedviz.loop.due import Due
from schedviz.store import Meta, Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port
from schedviz.up.programs import SERVER
from tests.processes import CELERY, Process, answers
from tests.waiting import eventually

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@pytest.fixture
def client() -> Client:
    return Client(headers={"Host": "localhost"})


def formatted(formatter: logging.Formatter, **arguments: object) -> str:
    record = logging.LogRecord("app.part", logging.ERROR, "", 0, "it %s", ("failed",), None)
    for name, value in arguments.items():
        setattr(record, name, value)
    AddContext().filter(record)
    return formatter.format(record)


def test_a_request_has_a_number_of_its_own(client: Client) -> None:
    numbers = {client.get("/healthz").headers["X-Request-ID"] for _ in range(2)}
    assert len(numbers) == 2
    assert all(re.fullmatch("[0-9a-f]{16}", number) for number in numbers)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("4bf92f35-77b3.4da6:a3ce_929d", True),
        ("a" * 64, True),
        ("a" * 65, False),
        ("two words", False),
        ("a\r\nERROR b", False),
        ("名", False),
        ("", False),
    ],
)
def test_a_number_is_taken_from_the_client_if_it_is_harmless(client: Client, given: str, kept: bool) -> None:
    number = client.get("/healthz", headers={"X-Request-ID": given}).headers["X-Request-ID"]
    assert (number == given) is kept


def test_the_fields_end_with_their_context() -> None:
    with log_context(request="1", sandbox="demo"):
        with log_context(sandbox="", job="2"):
            note(cycle="7")
            assert known() == {"cycle": "7", "request": "1", "job": "2"}
        assert known() == {"sandbox": "demo", "request": "1"}
    assert known() == {}


def test_a_log_line_as_text() -> None:
    with log_context(sandbox="demo", cycle="12"):
        line = formatted(TextFormatter())
    assert re.fullmatch(TIME + r" ERROR app\.part: it failed \[sandbox=demo cycle=12\]", line)
    assert re.fullmatch(TIME + r" ERROR app\.part: it failed", formatted(TextFormatter()))


def test_a_log_line_as_json() -> None:
    try:
        raise ValueError("wrong\nvalue")
    except ValueError as error:
        caught = (ValueError, error, error.__traceback__)
    with log_context(sandbox="demo", request="r1"):
        line = formatted(JsonFormatter(), exc_info=caught, unrelated=object())
    assert "\n" not in line
    found = json.loads(line)
    assert re.fullmatch(TIME, found.pop("time"))
    assert found.pop("exception").endswith("ValueError: wrong\nvalue")
    assert found == {
        "level": "ERROR", "logger": "app.part", "message": "it failed", "sandbox": "demo", "request": "r1",
    }  # fmt: skip


@pytest.mark.long
def test_all_processes_log_json(own_redis: EmbeddedRedis, tmp_path: Path) -> None:
    """A web server and a worker, whose Redis ends."""
    environment = {"REDIS_URL": own_redis.url, "LOG_FORMAT": "json", "LOG_LEVEL": "INFO"}
    port, store = free_port(), Store(own_redis.url)
    server = Process(["-m", SERVER, f"--port={port}"], tmp_path / "server.log", environment)
    worker = Process([*CELERY, *WORKER_ARGUMENTS], tmp_path / "worker.log", environment)
    try:
        eventually(lambda: server.alive() and answers(f"http://127.0.0.1:{port}/healthz"))
        eventually(lambda: worker.alive() and store.redis.hlen("schedviz:heartbeats:worker"))
        sandbox = store.create(Meta(name="demo"))
        Due(store.redis).mark("demo")
        eventually(sandbox.lease, "a slice has run")
        own_redis.stop()
        assert not answers(f"http://127.0.0.1:{port}/readyz")
        eventually(lambda: "a periodic call failed" in worker.output)
        lines = [json.loads(line) for line in server.output.splitlines()]
        [refused] = [line for line in lines if line["message"].startswith("readyz: redis: ")]
        assert re.fullmatch("[0-9a-f]{16}", refused["request"])
        assert (refused["level"], refused["logger"]) == ("WARNING", "schedviz.api.health")
        assert "uvicorn.error" in {line["logger"] for line in lines}
        assert "uvicorn.access" not in {line["logger"] for line in lines}, "paths have the tokens of links"
        lines = [json.loads(line) for line in worker.output.splitlines()]
        assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
        assert "celery.worker.strategy" not in {line["logger"] for line in lines}, "two lines for each slice"
    finally:
        for process in (server, worker):
            process.kill()
