"""``manage.py up`` with real processes: it starts all, and leaves none."""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import psutil
import pytest
from redis import Redis

from schedviz.store import Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from schedviz.up.preflight import NotReady, check_room
from schedviz.up.programs import SERVER
from tests.processes import ROOT, Process, answers
from tests.waiting import PATIENCE, eventually

pytestmark = pytest.mark.alone

Up = Callable[..., Process]


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    """Starts ``manage.py up``, or another command, with its data under the test's own directory and without
    REDIS_URL."""
    started: list[Process] = []

    def start(command: str = "up", **environment: str) -> Process:
        defaults = {"DATA_DIR": str(tmp_path / "data"), "REDIS_URL": "", "PORT": str(free_port())}
        log = tmp_path / f"up-{len(started)}.log"
        started.append(Process(["manage.py", command], log, defaults | environment))
        return started[-1]

    yield start
    for process in started:
        process.stop()


def url_of(process: Process) -> str:
    """Wait for the URL that it prints."""
    found = eventually(
        lambda: (
            process.alive()
            and re.search(r"^schedviz is at (\S+)/ \(the demo: \1/s/demo/\)", process.output, re.MULTILINE)
        ),
        "the URL is printed",
    )
    return found[1]


def children(process: Process) -> list[psutil.Process]:
    """The running processes. An ended process stays in the table for up to a second."""
    family = psutil.Process(process.popen.pid).children(recursive=True)
    return [child for child in family if runs(child)]


def runs(process: psutil.Process) -> bool:
    return process.is_running() and words_of(process) != ""


def words_of(process: psutil.Process) -> str:
    """The command line of a process, which an ended one lacks."""
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return ""


def assert_gone(processes: list[psutil.Process]) -> None:
    assert processes
    _, left = psutil.wait_procs(processes, timeout=PATIENCE)
    assert [words_of(process) for process in left] == []


def child(process: Process, words: str) -> psutil.Process:
    return next(c for c in children(process) if words in words_of(c))


def servers(process: Process) -> list[psutil.Process]:
    """The processes of the web server that take connections."""
    found = (each for each in children(process) if SERVER in words_of(each))
    return [each for each in found if states(each)[psutil.CONN_LISTEN]]


def states(process: psutil.Process) -> Counter[str]:
    """The states of the connections at its port."""
    try:
        connections = process.net_connections("tcp")
    except psutil.NoSuchProcess:
        return Counter()
    ports = {each.laddr.port for each in connections if each.status == psutil.CONN_LISTEN}
    return Counter(each.status for each in connections if each.laddr.port in ports)


def accepted(process: psutil.Process) -> int:
    return states(process)[psutil.CONN_ESTABLISHED]


@contextmanager
def connected(url: str) -> Iterator[list[socket.socket]]:
    """Forty connections: one of two processes gets none of them in one of 10^12 runs."""
    place = urlsplit(url)
    with ExitStack() as ends:
        made = [ends.enter_context(socket.create_connection((place.hostname, place.port))) for _ in range(40)]
        yield made


def read(url: str) -> str:
    with urlopen(url, timeout=PATIENCE) as answer:
        return str(answer.read().decode())


def refusal(process: Process) -> str:
    """The one line of an ``up`` that does not start."""
    assert process.wait() == 1
    (line,) = process.output.splitlines()
    return line.removeprefix("schedviz: ")


def assert_stops_whole(process: Process, number: signal.Signals) -> None:
    """A signal to `up` alone, as a terminal's Ctrl-C reaches no other process: its children have groups of
    their own."""
    family = children(process)
    process.send(number)
    assert process.wait() == 0
    assert_gone(family)
    assert f"received {number.name}; stopping" in process.output


def test_up_shows_the_demo_stops_all_processes_and_keeps_the_data(up: Up, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    log = tmp_path / "data" / "redis.log"
    log.touch(mode=0o644)
    first = up()
    url = url_of(first)
    checks = (
        "redis",
        "redis-writes",
        "redis-cluster",
        "broker",
        "worker",
        "job-runner",
        "queues",
        "sandboxes",
    )
    ready = "".join(f"[+]{check} ok\n" for check in checks)
    eventually(lambda: read(f"{url}/readyz") == ready, "the job runner is there, too")
    eventually(lambda: '"Nominated"' in read(f"{url}/s/demo/trace?after=0"), "a preemption")
    before = read(f"{url}/s/demo/trace?after=0").splitlines()
    # parent_death, Redis, web, two workers, job runner; Redis may have a child while it rewrites its file.
    eventually(lambda: len(children(first)) == 6, "these and no others")
    assert_stops_whole(first, signal.SIGINT)

    second = up(WORKERS="1", REDIS_MEMORY_MB="100")
    url = url_of(second)
    with Redis.from_url(child(second, SERVER).environ()["REDIS_URL"]) as redis:
        assert redis.config_get("maxmemory") == {"maxmemory": str(100 << 20)}
    assert read(f"{url}/s/demo/trace?after=0").splitlines()[: len(before)] == before
    eventually(lambda: len(children(second)) == 5, "one worker less")
    files = [path for path in tmp_path.glob("data/**/*") if path.is_file()]
    assert len(files) >= 5
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert_stops_whole(second, signal.SIGTERM)


@pytest.mark.long
def test_up_replaces_a_dead_worker_and_redis_and_leaves_no_process_when_killed(up: Up) -> None:
    process = up()
    url_of(process)
    worker = child(process, "worker-1")
    worker.kill()
    eventually(lambda: "worker-1 ended (SIGKILL) and is started again" in process.output)
    eventually(lambda: any("worker-1" in words_of(c) for c in children(process)))
    url = url_of(process)
    before = read(f"{url}/s/demo/trace?after=0").splitlines()
    child(process, "valkey-server").kill()
    eventually(lambda: "redis ended (SIGKILL) and is started again" in process.output)
    eventually(lambda: answers(f"{url}/readyz"), "all processes use it again")
    assert read(f"{url}/s/demo/trace?after=0").splitlines()[: len(before)] == before
    family = children(process)
    process.popen.kill()
    assert_gone(family)


@pytest.mark.long
def test_a_damaged_file_gets_one_error_line_and_repair_cuts_its_end_off(up: Up, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with lock(data) as held:
        redis = EmbeddedRedis.start(data, held)
        with Redis.from_url(redis.url) as client:
            client.set("kept", "yes")
        redis.stop()
    (file,) = data.glob("appendonlydir/*.incr.aof")
    whole = file.read_bytes()
    file.write_bytes(whole + bytes(4096))
    line = refusal(up())
    assert line.startswith(f"the append-only file in {data} is damaged: `schedviz repair` ")

    environment = {**os.environ, "DATA_DIR": str(data), "REDIS_URL": ""}
    repair = [sys.executable, "manage.py", "repair"]
    done = subprocess.run(repair, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    copy = data / "appendonlydir.before-repair"
    assert done.stdout == f"4096 bytes were cut off; a copy of before is {copy}\n"
    assert (copy / file.name).read_bytes() == whole + bytes(4096)
    assert file.read_bytes() == whole
    with lock(data) as held:
        redis = EmbeddedRedis.start(data, held)
        with Redis.from_url(redis.url) as client:
            assert client.get("kept") == b"yes"
        redis.stop()
        done = subprocess.run(repair, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        f"CommandError: schedviz: the data directory {data} is in use by another schedviz\n",
    )


def test_a_full_disk_is_refused_with_what_is_left(tmp_path: Path) -> None:
    check_room(tmp_path)
    with pytest.raises(
        NotReady, match=rf"^the disk of DATA_DIR={tmp_path} has \d+ MB left, and a start needs"
    ):
        check_room(tmp_path, megabytes=1 << 40)


@pytest.mark.long
def test_up_with_redis_url_starts_no_redis_and_replaces_a_dead_process_of_the_server(
    up: Up, own_redis: EmbeddedRedis
) -> None:
    process = up(REDIS_URL=own_redis.url, WORKERS="1", WEB_PROCESSES="2")
    url = url_of(process)
    assert not any("valkey-server" in c.name() for c in children(process))
    store = Store(own_redis.url)
    assert [meta.name for meta in store.sandboxes()] == ["demo"]
    store.close()
    eventually(lambda: len(servers(process)) == 2, "both listen")
    with connected(url) as connections:
        eventually(lambda: all(map(accepted, servers(process))), "the kernel shares connections out")
        assert sum(map(accepted, servers(process))) == len(connections)
    dead, _ = servers(process)
    dead.kill()
    assert_gone([dead])  # until then the kernel gives it connections
    for _ in range(10):
        assert read(f"{url}/healthz") == "ok\n", "the other one answers"
    eventually(lambda: re.search(r"^web-[12] ended \(SIGKILL\) and is started again", process.output, re.M))
    eventually(lambda: len(servers(process)) == 2, "the server is back")
    family = children(process)
    process.stop()
    assert_gone(family)


COMMAND = re.compile(r"((?:[A-Z_]+=(?:'[^']*'|\S+) )*)make (up|workshop)\b")
ELSEWHERE = {"PORT", "DATA_DIR", "REDIS_URL", "REDIS_PASSWORD_FILE", "REDIS_CLUSTER_URLS"}
"""Settings of documented commands that name what this machine does not have. Other tests set them."""


def documented_starts() -> list[tuple[str, tuple[str, ...]]]:
    """The commands that start schedviz in the documents, each with its settings."""
    texts = [path.read_text() for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))]
    return sorted(
        {
            (command, tuple(each for each in shlex.split(given) if each.split("=")[0] not in ELSEWHERE))
            for given, command in (match.groups() for text in texts for match in COMMAND.finditer(text))
        }
    )


@pytest.mark.long
@pytest.mark.parametrize(("command", "given"), documented_starts())
def test_each_documented_start_leads_to_its_address(command: str, given: tuple[str, ...], up: Up) -> None:
    process = up(command, BROWSER="true", **dict(each.split("=", 1) for each in given))
    place = urlsplit(url_of(process))
    request = Request(f"http://127.0.0.1:{place.port}/rooms/", headers={"Host": place.netloc})
    with urlopen(request, timeout=PATIENCE) as page:
        assert page.status == 200
    if command == "workshop":
        eventually(lambda: f"Learners open {place.geturl()}/rooms/" in process.output)
        eventually(lambda: f"Open the room: {place.geturl()}/rooms/new/" in process.output)
    assert "Invalid HTTP_HOST" not in process.output


def test_a_port_in_use_gets_one_error_line(up: Up) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        line = refusal(up(PORT=str(port)))
    assert line == f"port {port} is in use: stop what listens there, or choose another: PORT={port + 1}"


def test_a_redis_that_does_not_respond_gets_one_error_line(up: Up) -> None:
    line = refusal(up(REDIS_URL=f"redis://127.0.0.1:{free_port()}/0"))
    assert line.startswith("the Redis at REDIS_URL does not answer: ")


def test_a_data_directory_in_use_gets_one_error_line(up: Up, tmp_path: Path) -> None:
    with lock(tmp_path / "data"):
        line = refusal(up())
    assert line == f"the data directory {tmp_path / 'data'} is in use by another schedviz"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ['[ "$1" = -V ] && echo "Python 3.9.2"', "exit 1"],
            "schedviz needs Python 3.11 or newer; {python} is Python 3.9.2",
        ),
        (
            # Debian's python3 without the package python3-venv.
            ['case "$2" in *ensurepip*) exit 1;; esac', "exit 0"],
            "schedviz needs Python's module venv (Debian: apt-get install python3-venv)",
        ),
    ],
    ids=["too old", "without venv"],
)
def test_an_unsuitable_python_gets_one_error_line(tmp_path: Path, lines: list[str], message: str) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    python = tmp_path / "python"
    python.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    python.chmod(0o755)
    made = subprocess.run(
        ["make", "--silent", "up", f"PYTHON={python}"],
        cwd=tmp_path,
        env={**os.environ, "MAKEFLAGS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode != 0
    assert made.stderr.splitlines()[0] == message.format(python=python)
    assert not (tmp_path / ".venv").exists()
