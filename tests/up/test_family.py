"""What the end of a process means, under Supervisor as ``up`` configures it."""

import signal
import sys
from pathlib import Path

import psutil
import pytest

from tests.processes import Process
from tests.waiting import PATIENCE, eventually

pytestmark = pytest.mark.alone

RUN = """
import sys
from pathlib import Path
from schedviz.up.family import run
sys.exit(run(Path(sys.argv[1]).read_text(), lambda line: print(line, flush=True)))
"""


class Family:
    """``run`` in a process of its own: it takes the signals of the one it is in."""

    def __init__(self, directory: Path, **programs: str) -> None:
        sections = ["[supervisord]"]
        for name, (code, *options) in ((name, text.split("\n")) for name, text in programs.items()):
            path = directory / f"{name}.py"
            path.write_text(code)
            sections += [f"[program:{name}]", f"command={sys.executable} -u {path}", *options]
            sections += ["stdout_logfile=NONE", "redirect_stderr=true", "stdout_events_enabled=true"]
        configuration = directory / "configuration"
        configuration.write_text("\n".join(sections))
        self.process = Process(["-c", RUN, str(configuration)], directory / "log")

    @property
    def said(self) -> list[str]:
        return self.process.output.splitlines()


def test_what_dies_at_every_start_is_given_up(tmp_path: Path) -> None:
    family = Family(tmp_path, flaky="print('hello'); raise SystemExit(3)\nstartsecs=9\nstartretries=1")
    assert family.process.wait() == 1
    assert family.said == [
        "flaky | hello",
        "exited: flaky (exit status 3; not expected)",
        "flaky | hello",
        "exited: flaky (exit status 3; not expected)",
        "flaky ends at every start; stopping",
    ]


def test_what_runs_once_may_end_well_but_not_badly(tmp_path: Path) -> None:
    once = "autorestart=false\nstartsecs=0"
    noted = tmp_path / "good"
    good = f"import os, pathlib; pathlib.Path('{noted}').write_text(str(os.getpid()))\n{once}"
    # It fails when the good one has ended and was waited for: nothing of that is left in /proc.
    ended = f"(p := Path('{noted}')).exists() and not Path('/proc', p.read_text()).exists()"
    bad = f"import sys; from pathlib import Path; [*iter(lambda: {ended}, True)]; sys.exit('no room')\n{once}"
    family = Family(tmp_path, good=good, bad=bad)
    assert family.process.wait() == 1
    assert family.said == [
        "bad | no room",
        "bad failed; stopping",
        "exited: bad (exit status 1; not expected)",
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_well_and_what_does_not_stop_is_killed(
    tmp_path: Path, number: signal.Signals
) -> None:
    code = "import signal as s; s.signal(s.SIGTERM, s.SIG_IGN); print('up'); [*iter(s.pause, 0)]"
    family = Family(tmp_path, deaf=f"{code}\nstopwaitsecs=1", calm="import signal; signal.pause()")
    eventually(lambda: "deaf | up" in family.said)
    family.process.send(number)
    assert family.process.wait() == 0
    assert any(line.startswith("killing 'deaf'") for line in family.said)


def test_what_is_watched_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    """Redis, which sleeps here, and with it the guardian."""
    code = """
import signal, subprocess, sys
from schedviz.up import guardian
command = [sys.executable, "-c", "import signal; signal.pause()"]
guardian.watch(subprocess.Popen(command, start_new_session=True).pid)
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
