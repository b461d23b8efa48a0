"""The project's own processes, as users run them, for tests to start, kill and read."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from schedviz.up import guardian

ROOT = Path(__file__).resolve().parent.parent


class Process:
    """A process in a group of its own, with its output in a file. It ends with this one."""

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str] = {}) -> None:
        self.log = log
        with log.open("w") as file:
            self.popen = subprocess.Popen(
                [sys.executable, *command],
                cwd=ROOT,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        guardian.watch(self.popen.pid)

    @property
    def output(self) -> str:
        return self.log.read_text()

    def alive(self) -> bool:
        """True; raises when the process has ended, with what it said."""
        assert self.popen.poll() is None, f"ended with {self.popen.returncode}:\n{self.output}"
        return True

    def send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.popen.pid, number)

    def wait(self, seconds: float = 15.0) -> int:
        status = self.popen.wait(seconds)
        guardian.forget(self.popen.pid)
        return status

    def kill(self) -> None:
        """As a power cut does it."""
        self.send(signal.SIGKILL)
        self.wait()

    def stop(self) -> None:
        self.send(signal.SIGTERM)
        try:
            self.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
