"""The supervisor of ``manage.py up``: what the end of a program means, and how all are stopped."""

import signal
import sys
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from schedviz.up.supervisor import LINE_BYTES, Program
from tests.processes import Process
from tests.waiting import PATIENCE, eventually

pytestmark = pytest.mark.alone

PAUSE = "import signal; signal.pause()"

RUN = """
import sys
import msgspec
from schedviz.up.supervisor import Program, run_programs
programs = msgspec.json.decode(sys.argv[1], type=list[Program])
sys.exit(run_programs(programs, lambda line: print(line, flush=True)))
"""


def supervised(directory: Path, *programs: Program) -> Process:
    """``run_programs`` in a process of its own, as it handles the signals of its process."""
    return Process(["-c", RUN, msgspec.json.encode(programs).decode()], directory / "log")


def program(name: str, code: str, **options: Any) -> Program:
    return Program(name, [sys.executable, "-u", "-c", code], **options)


def test_a_program_that_ends_at_every_start_is_not_started_again(tmp_path: Path) -> None:
    flaky = program(
        "flaky",
        "print('hello'); raise SystemExit(3)",
        start_attempts=2,
        start_seconds=PATIENCE,
        retry_seconds=0,
    )
    process = supervised(tmp_path, flaky, program("calm", PAUSE, stop_seconds=PATIENCE))
    assert process.wait() == 1
    assert process.output.splitlines() == [
        "flaky | hello",
        "flaky ended (exit status 3) and is started again",
        "flaky | hello",
        "flaky ends at every start (exit status 3); stopping",
    ]


def test_a_program_that_ran_for_long_enough_is_started_again_without_limit(tmp_path: Path) -> None:
    noted = tmp_path / "starts"
    code = f"file = open({str(noted)!r}, 'a'); file.write('x')"
    process = supervised(tmp_path, program("short", code, start_attempts=2, start_seconds=0))
    eventually(lambda: process.alive() and noted.exists() and len(noted.read_text()) > 3, "four starts")
    process.stop()


def test_a_program_that_runs_once_must_exit_with_0(tmp_path: Path) -> None:
    noted = tmp_path / "good"
    good = f"import os, pathlib; pathlib.Path({str(noted)!r}).write_text(str(os.getpid()))"
    # It fails when the good one has ended and was waited for: nothing of that is left in /proc.
    bad = f"""
import sys
from pathlib import Path
noted = Path({str(noted)!r})
while not noted.exists() or not noted.read_text() or Path("/proc", noted.read_text()).exists():
    pass
sys.exit("no room")
"""
    process = supervised(tmp_path, program("good", good, restarts=False), program("bad", bad, restarts=False))
    assert process.wait() == 1
    assert process.output.splitlines() == ["bad | no room", "bad failed (exit status 1); stopping"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_all_programs_and_kills_those_that_do_not_stop(
    tmp_path: Path, number: signal.Signals
) -> None:
    deaf = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up'); {PAUSE}"
    process = supervised(
        tmp_path, program("deaf", deaf, stop_seconds=1), program("calm", PAUSE, stop_seconds=PATIENCE)
    )
    eventually(lambda: process.alive() and "deaf | up" in process.output.splitlines(), "it runs")
    children = psutil.Process(process.popen.pid).children()
    process.send(number)
    assert process.wait() == 0
    assert process.output.splitlines() == [
        "deaf | up",
        f"received {number.name}; stopping",
        "deaf did not stop within 1 s and is killed",
    ]
    _, left = psutil.wait_procs(children, timeout=PATIENCE)
    assert left == []


def test_a_long_line_is_shown_in_parts(tmp_path: Path) -> None:
    code = f"print('a' * {3 * LINE_BYTES}); print('b')"
    process = supervised(
        tmp_path, program("long", code, restarts=False), program("calm", PAUSE, stop_seconds=PATIENCE)
    )
    eventually(lambda: process.alive() and "long | b\n" in process.output, "the last line")
    lines = process.output.splitlines()
    assert "".join(line.removeprefix("long | ") for line in lines) == "a" * 3 * LINE_BYTES + "b"
    process.stop()


def test_a_watched_process_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    """Two processes: the watched one, and the one that watches."""
    code = """
import signal, subprocess, sys
from schedviz.up import parent_death
command = [sys.executable, "-c", "import signal; signal.pause()"]
parent_death.watch(subprocess.Popen(command, start_new_session=True).pid)
print("watched", flush=True)
signal.pause()
"""
    process = Process(["-c", code], tmp_path / "log")
    eventually(lambda: process.alive() and process.output == "watched\n")
    children = psutil.Process(process.popen.pid).children()
    assert len(children) == 2
    process.popen.kill()
    process.wait()
    _, left = psutil.wait_procs(children, timeout=PATIENCE)
    assert left == []


def test_a_process_that_is_not_watched_yet_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    code = """
import signal, subprocess, sys
from schedviz.up import parent_death
command = [*parent_death.WHEN_WATCHED, sys.executable, "-c", "import signal; signal.pause()"]
subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
print("started", flush=True)
signal.pause()
"""
    process = Process(["-c", code], tmp_path / "log")
    eventually(lambda: process.alive() and process.output == "started\n")
    children = psutil.Process(process.popen.pid).children()
    assert len(children) == 1
    process.popen.kill()
    process.wait()
    _, left = psutil.wait_procs(children, timeout=PATIENCE)
    assert left == []
