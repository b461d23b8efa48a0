"""docker-compose.yml and the Dockerfile say what the code says; no container engine is needed to know."""

import json
import re
from typing import Any

import pytest
import yaml

from schedviz import environment, settings
from schedviz.celery import THINKER_ARGUMENTS, WORKER_ARGUMENTS
from schedviz.embedded_redis import config
from schedviz.up.parts import SERVER
from tests.processes import ROOT

WEB = ["python", "-m", *SERVER, "--host=0.0.0.0", "--port=8000"]


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    assert parsed["services"].keys() == {"redis", "web", "worker", "thinker"}
    assert parsed["volumes"].keys() == {"data"}
    return parsed["services"]


def test_the_commands_are_those_that_up_starts(services: dict[str, Any]) -> None:
    assert services["web"]["command"] == WEB
    for name, arguments in (("worker", WORKER_ARGUMENTS), ("thinker", THINKER_ARGUMENTS)):
        assert services[name]["command"] == [
            "python", "-m", "celery", "--app=schedviz", "--quiet", *arguments,
        ]  # fmt: skip


def test_every_variable_is_a_setting_and_all_share_one_redis(services: dict[str, Any]) -> None:
    assert settings.REDIS_URL
    for name in ("web", "worker", "thinker"):
        variables = services[name]["environment"]
        assert variables.keys() <= environment.KNOWN.keys()
        assert variables["REDIS_URL"] == "redis://redis:6379/0"
        assert services[name]["depends_on"]["redis"] == {"condition": "service_healthy"}
    taken = re.findall(r"\$\{(\w+):-", (ROOT / "docker-compose.yml").read_text())
    assert set(taken) <= environment.KNOWN.keys()


def test_a_worker_can_be_scaled(services: dict[str, Any]) -> None:
    for name in ("worker", "thinker"):
        assert not {"ports", "container_name", "hostname"} & services[name].keys()
    assert services["web"]["ports"] == ["127.0.0.1:${PORT:-8000}:8000"]


def test_its_redis_keeps_what_the_embedded_one_keeps(services: dict[str, Any], tmp_path: Any) -> None:
    program, *arguments = services["redis"]["command"]
    assert program == "redis-server"
    options = dict(zip(arguments[::2], arguments[1::2], strict=True))
    embedded = dict(line.split(" ", 1) for line in config(tmp_path, 1, "x").splitlines())
    assert options == {f"--{name}": embedded[name] for name in ("appendonly", "maxmemory-policy")}


def test_the_image_holds_all_that_the_code_needs(services: dict[str, Any]) -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = {source for line in lines if line.startswith("COPY") for source in line.split()[1:-1]}
    assert copied == {"requirements/runtime.txt", "manage.py", "simulator", "schedviz", "templates", "static"}
    assert all((ROOT / source).exists() for source in copied)
    (command,) = [line.removeprefix("CMD ") for line in lines if line.startswith("CMD")]
    assert json.loads(command) == WEB
