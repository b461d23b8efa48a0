"""What the end of a process means, by its role."""

import signal
import sys
from collections.abc import Iterator

import pytest

from schedviz.up import supervisor as module
from schedviz.up.supervisor import Supervisor

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def supervisor(said: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    monkeypatch.setattr(module, "RESTART_SECONDS", 0.0)
    before = [signal.getsignal(number) for number in SIGNALS]
    supervisor = Supervisor(said.append)
    yield supervisor
    supervisor.stop()
    for number, handler in zip(SIGNALS, before, strict=True):
        signal.signal(number, handler)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_process_that_dies_again_and_again_is_given_up(supervisor: Supervisor, said: list[str]) -> None:
    supervisor.start("flaky", python("print('hello'); raise SystemExit(3)"), {}, "restarted")
    assert supervisor.run() == 1
    assert said.count("flaky | hello") == module.MAX_RESTARTS + 1
    assert said.count("flaky ended unexpectedly (status 3); starting it again") == module.MAX_RESTARTS
    assert said[-1] == "flaky ended unexpectedly (status 3), for the 6th time in a minute; stopping"


def test_what_runs_once_may_end_well_but_not_badly(supervisor: Supervisor, said: list[str]) -> None:
    supervisor.start("good", python("pass"), {}, "once")
    supervisor.start("bad", python("import time, sys; time.sleep(0.2); sys.exit('no room')"), {}, "once")
    assert supervisor.run() == 1
    assert said == ["bad | no room", "bad ended unexpectedly (status 1); stopping"]


def test_what_does_not_stop_is_killed(
    supervisor: Supervisor, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.1)
    deaf = "import signal as s, time; s.signal(s.SIGTERM, s.SIG_IGN); print('up', flush=True); time.sleep(60)"
    supervisor.start("deaf", python(deaf), {})
    while "deaf | up" not in said:
        pass
    supervisor.stop()
    assert said[-1] == "deaf does not stop; killing it"


def test_a_signal_ends_it_well(supervisor: Supervisor) -> None:
    supervisor.start("calm", python("import time; time.sleep(60)"), {})
    signal.raise_signal(signal.SIGTERM)
    assert supervisor.run() == 0
