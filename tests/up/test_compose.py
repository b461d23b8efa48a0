"""docker-compose.yml and the Dockerfile agree with the code. These tests need no container engine."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import global_settings

from schedviz import environment, settings
from schedviz.celery import JOB_RUNNER_ARGUMENTS, WORKER_ARGUMENTS
from schedviz.up.embedded_redis import free_port, loopback_address, redis_conf, server_program
from tests.processes import ROOT
from tests.waiting import eventually

WEB = ["python", "manage.py", "web", "--host=0.0.0.0", "--port=8000"]
PROCESSES = ("web", "worker", "job-runner")
DEFAULTS = {
    "REDIS_URL": "redis://redis:6379/0",
    "ACCESS": "owners",
    "DATABASE_URL": "sqlite:////accounts/accounts.sqlite3",
}


REDIS_CLI = """\
# What redis-cli does with the words of the checks: no Python package brings it.
import os, socket, sys
_, *option, word = sys.argv
password = os.environ.get("REDISCLI_AUTH")
answer = "+OK"
with socket.create_connection(("127.0.0.1", int(option[1]) if option else 6379)) as server:
    with server.makefile("rw") as lines:
        for command in [*([f"AUTH {password}"] if password is not None else []), word]:
            if answer.startswith("+"):
                print(command, file=lines, flush=True)
                answer = lines.readline()
print(answer)
"""


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    assert parsed["services"].keys() == {"redis", "accounts", *PROCESSES}
    assert parsed["volumes"].keys() == {"data", "accounts"}
    return parsed["services"]


def read_by_processes() -> set[str]:
    """The settings that the web server, a worker or the job runner read: those that Django reads, and those
    that the code names anywhere but in ``manage.py up``, which runs in no container, and in ``manage.py
    doctor``, which looks at the settings of ``up``, too."""
    assert settings.REDIS_URL
    known = environment.KNOWN.keys()
    code = [path for path in (ROOT / "schedviz").rglob("*.py") if not {"up", "doctor"} & {*path.parts}]
    named = {name for path in code for name in re.findall(r"\bsettings\.([A-Z_]+)", path.read_text())}
    # Other settings are made of them.
    parts = {
        "REDIS_PASSWORD", "HSTS_SECONDS", "PROXY_SSL_HEADER", "LOG_FORMAT", "LOG_LEVEL", "DATABASE_URL",
        "EMAIL_SECURITY", "WEB_PROCESSES",
    }  # fmt: skip
    return (
        parts
        | settings.LIMITS.keys()
        | {name for name in known if name in named or hasattr(global_settings, name)}
    )


def interpolated(value: str, variables: dict[str, str]) -> str:
    """As Compose does it: ``${NAME:-default}`` is the default where NAME is not set or empty."""
    return re.sub(r"\$\{(\w+):-([^}]*)\}", lambda found: variables.get(found[1]) or found[2], value)


def test_the_commands_are_those_that_up_starts(services: dict[str, Any]) -> None:
    assert services["web"]["command"] == WEB
    for name, arguments in (("worker", WORKER_ARGUMENTS), ("job-runner", JOB_RUNNER_ARGUMENTS)):
        assert services[name]["command"] == [
            "python", "-m", "celery", "--app=schedviz", "--quiet", *arguments,
        ]  # fmt: skip


@pytest.mark.parametrize("name", PROCESSES)
def test_every_setting_that_a_process_reads_reaches_it(services: dict[str, Any], name: str) -> None:
    variables = services[name]["environment"]
    assert "EXTENDER_HOSTS" in variables
    assert variables.keys() == read_by_processes()
    for setting, value in variables.items():
        assert interpolated(value, {setting: "given"}) == "given"
        default = DEFAULTS.get(setting, "")
        assert interpolated(value, {}) == default
    assert services[name]["depends_on"]["redis"] == {"condition": "service_healthy"}


def test_the_settings_of_up_mean_the_same_here(services: dict[str, Any]) -> None:
    """But for DATA_DIR: Redis writes to the volume; for WORKSHOP, which is of a terminal; for files with
    secrets, which are the containers' own; for the image of Redis, and for limits of memory; for the contexts
    of a kubeconfig, which containers do not have."""
    text = (ROOT / "docker-compose.yml").read_text()
    taken = {name for name, _ in re.findall(r"\$\{(\w+)(:-[^}]*)?\}", text)}
    of_containers = {"REDIS_CONTAINER_MEMORY", "REDIS_IMAGE", "WEB_CONTAINER_MEMORY"}
    assert of_containers <= taken
    assert taken - of_containers == {
        name
        for name in environment.KNOWN
        if name not in ("DATA_DIR", "WORKSHOP", "MIRROR_CONTEXTS") and not name.endswith("_FILE")
    }
    [port] = services["web"]["ports"]
    assert interpolated(port, {}) == f"{environment.KNOWN['HOST']}:{environment.KNOWN['PORT']}:8000"
    assert interpolated(port, {"HOST": "0.0.0.0", "PORT": "80"}) == "0.0.0.0:80:8000"
    assert interpolated(services["worker"]["deploy"]["replicas"], {}) == environment.KNOWN["WORKERS"]


def test_the_database_of_accounts_is_migrated_before_the_server_starts(services: dict[str, Any]) -> None:
    accounts, web = services["accounts"], services["web"]
    assert accounts["command"] == ["python", "manage.py", "migrate_accounts"]
    assert accounts["environment"] == web["environment"]
    assert web["depends_on"]["accounts"] == {"condition": "service_completed_successfully"}
    for service in (accounts, web):
        assert "accounts:/accounts" in service["volumes"]
    assert "--owner=schedviz --mode=700 /accounts" in (ROOT / "Dockerfile").read_text()


def test_a_worker_can_be_scaled(services: dict[str, Any]) -> None:
    for name in ("worker", "job-runner"):
        assert not {"ports", "container_name", "hostname"} & services[name].keys()


def test_its_redis_keeps_what_the_embedded_one_keeps(services: dict[str, Any], tmp_path: Path) -> None:
    program, *arguments = services["redis"]["command"]
    assert program == "redis-server"
    assert interpolated(arguments[-1], {}) == ""
    own = {"REDIS_MEMORY_MB": "100", "REDIS_PASSWORD": "x"}
    for variables, megabytes in (({"REDIS_PASSWORD": "x"}, settings.REDIS_MEMORY_MB), (own, 100)):
        given = [interpolated(argument, variables) for argument in arguments]
        options = dict(zip(given[::2], given[1::2], strict=True))
        lines = redis_conf(tmp_path, loopback_address(1, "x"), megabytes).splitlines()
        embedded = dict(line.split(" ", 1) for line in lines)
        assert options["--maxmemory"] == f"{megabytes}mb"
        assert options == {
            f"--{name}": embedded[name]
            for name in ("appendonly", "maxmemory", "maxmemory-policy", "requirepass")
        }


HEALTH = ["python", "-m", "schedviz.up.health"]


def test_every_service_has_a_health_check(services: dict[str, Any]) -> None:
    checks = {name: service["healthcheck"] for name, service in services.items() if name != "accounts"}
    assert checks["redis"]["test"] == [
        "CMD-SHELL", "[ -n \"$$REDISCLI_AUTH\" ] || unset REDISCLI_AUTH; redis-cli ping | grep -q PONG",
    ]  # fmt: skip
    assert checks["web"]["test"] == ["CMD", *HEALTH, "http://127.0.0.1:8000/healthz"]
    assert checks["worker"]["test"] == ["CMD", *HEALTH, "worker"]
    assert checks["job-runner"]["test"] == ["CMD", *HEALTH, "job-runner"]
    for name in PROCESSES:
        assert {"interval", "timeout", "retries", "start_period"} < checks[name].keys()


def test_every_service_that_runs_has_a_limit_of_memory(services: dict[str, Any]) -> None:
    assert {name: services[name]["mem_limit"] for name in ("redis", *PROCESSES)} == {
        "redis": "${REDIS_CONTAINER_MEMORY:-4g}",
        "web": "${WEB_CONTAINER_MEMORY:-2g}",
        "worker": "2g",
        "job-runner": "4g",
    }


def test_its_redis_is_reached_by_the_other_containers_only(services: dict[str, Any]) -> None:
    """It has a password only if one is set."""
    assert not {"ports", "network_mode"} & services["redis"].keys()
    assert services["redis"]["networks"] == ["redis"]
    networks = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["networks"]
    assert networks == {"default": None, "redis": {"internal": True}}
    for name in PROCESSES:
        assert services[name]["networks"] == ["default", "redis"]


def test_the_check_of_its_redis_passes_with_and_without_a_password(
    services: dict[str, Any], tmp_path: Path
) -> None:
    port = free_port()
    _, check = services["redis"]["healthcheck"]["test"]
    check = check.replace("$$", "$").replace("redis-cli", f"redis-cli -p {port}")
    (tmp_path / "redis-server").symlink_to(server_program())
    client = tmp_path / "redis-cli"
    client.write_text(f"#!{sys.executable}\n{REDIS_CLI}")
    client.chmod(0o700)
    for password in ("", "secret"):
        command = [interpolated(word, {"REDIS_PASSWORD": password}) for word in services["redis"]["command"]]
        environment = {
            name: interpolated(value, {"REDIS_PASSWORD": password})
            for name, value in services["redis"]["environment"].items()
        }
        everything = {**os.environ, **environment, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        with subprocess.Popen(
            [*command, "--port", str(port)], cwd=tmp_path, env=everything, stdout=subprocess.DEVNULL
        ) as redis:

            def passes(found: dict[str, str] = everything) -> bool:
                return subprocess.run(["sh", "-c", check], env=found, check=False).returncode == 0

            try:
                eventually(passes, "Redis responds")
                assert not passes({**everything, "REDISCLI_AUTH": "wrong"})
            finally:
                redis.terminate()


def test_the_command_of_a_worker_elsewhere_is_documented() -> None:
    command = " ".join(["-m celery --app=schedviz --quiet", *WORKER_ARGUMENTS])
    documented = re.sub(r" \\\n +", " ", (ROOT / "docs" / "SETTINGS.md").read_text())
    assert f"python {command}\n" in documented


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the Dockerfile copies, where nothing else of the project is."""
    root = tmp_path_factory.mktemp("image")
    ignored = shutil.ignore_patterns(*(ROOT / ".dockerignore").read_text().split(), "__pycache__")
    for line in (ROOT / "Dockerfile").read_text().splitlines():
        if line.startswith("COPY "):
            source, target = line.split()[1:]
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, root / target, ignore=ignored)
            else:
                place = root / target
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / source, place)
    return root


def test_the_image_starts_the_web_server() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    (command,) = [line.removeprefix("CMD ") for line in lines if line.startswith("CMD")]
    assert json.loads(command) == WEB


@pytest.mark.parametrize("name", PROCESSES)
def test_the_image_holds_the_health_checks(
    image: Path, services: dict[str, Any], name: str, redis_url: str
) -> None:
    """Each is run where no such process is."""
    program, *command = services[name]["healthcheck"]["test"][1:]
    assert program == "python"
    answer = subprocess.run(
        [sys.executable, *(argument.replace(":8000/", ":1/") for argument in command)],
        cwd=image,
        env={**os.environ, "REDIS_URL": f"{redis_url.removesuffix('/0')}/7"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (answer.returncode, answer.stderr) == (1, "")
    assert re.fullmatch(r"(no .+|http://.+Connection refused>)\n", answer.stdout)


HOME = """
import django
django.setup()
from django.test import Client
from schedviz import bundled_scenarios
assert bundled_scenarios.FOLDER.is_relative_to({root!r})
answer = Client().get("/ideas/", headers={{"Accept-Language": "zh-CN"}})
print(answer.status_code, answer.headers["Content-Language"])
print(answer.content.decode())
"""


@pytest.mark.long
def test_the_image_holds_all_that_pages_need_in_every_language(image: Path, redis_url: str) -> None:
    """From the image's own files: code, templates, words."""
    answer = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", HOME.format(root=str(image))],
        cwd=image,
        env={**os.environ, "REDIS_URL": redis_url, "ALLOWED_HOSTS": "testserver",
             "DJANGO_SETTINGS_MODULE": "schedviz.settings"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    status, _, page = answer.stdout.partition("\n")
    assert status == "200 zh-hans"
    assert "调度" in page
    for folder in ("static", "locale", "templates"):
        assert (image / folder).is_dir()
