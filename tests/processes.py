"""The project's own processes, as users run them, for tests to start, kill and read."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from schedviz.up import parent_death
from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parent.parent

CELERY = ["-m", "celery", "--app=schedviz", "--quiet"]
"""The command of a worker and of a job runner, before their own arguments."""


TRACEBACK_SECONDS: Final = 1.0
"""Within it, a process that is not stuck has written its tracebacks."""

OUTPUT_CHARACTERS: Final = 4_000
"""The number of characters of the end of a process' output in the report of a failure."""

RUNNING: "Final[list[Process]]" = []
"""The processes that were started and not waited for."""


class Process:
    """A process in a group of its own, with its output in a file. It ends with this one."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        environment: Mapping[str, str] = {},
        *,
        program: str = sys.executable,
        cwd: Path = ROOT,
    ) -> None:
        self.arguments = command
        self.environment = environment
        self.command = " ".join(command) or program
        self.log = log
        with log.open("w") as file:
            self.popen = subprocess.Popen(
                [program, *command],
                cwd=cwd,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        parent_death.watch(self.popen.pid)
        RUNNING.append(self)

    @property
    def output(self) -> str:
        return self.log.read_text()

    def alive(self) -> bool:
        """True; raises when the process has ended, with what it said."""
        assert self.popen.poll() is None, f"ended with {self.popen.returncode}:\n{self.output}"
        return True

    def describe(self) -> str:
        """Whether it runs, where its threads are if it is a Celery process, and the end of its output."""
        status = self.popen.poll()
        if status is None and "celery" in self.command:
            os.kill(self.popen.pid, signal.SIGUSR1)  # Celery writes the tracebacks of its threads
            time.sleep(TRACEBACK_SECONDS)
        state = "runs" if status is None else f"ended with {status}"
        return f"{state}; the end of its output:\n{self.output[-OUTPUT_CHARACTERS:]}"

    def send(self, number: signal.Signals) -> None:
        """Send a signal to its whole group; to none when it has ended, as another process may have its id by
        then."""
        if self.popen.poll() is None:
            os.killpg(self.popen.pid, number)

    def wait(self, seconds: float = PATIENCE) -> int:
        status = self.popen.wait(seconds)
        parent_death.forget(self.popen.pid)
        if self in RUNNING:
            RUNNING.remove(self)
        return status

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Within, the process does nothing."""
        self.send(signal.SIGSTOP)
        try:
            yield
        finally:
            self.send(signal.SIGCONT)

    def kill(self) -> None:
        """As a power cut does it."""
        self.send(signal.SIGKILL)
        self.wait()

    def stop(self) -> None:
        self.send(signal.SIGTERM)
        try:
            self.wait()
        except subprocess.TimeoutExpired:
            self.kill()
            raise


def answers(url: str) -> bool:
    """Whether a server is there."""
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except (urllib.error.URLError, OSError):
        return False
