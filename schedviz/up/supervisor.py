"""Runs processes until one ends that must not, or until it is told to stop; then none of them is left.

Ready-made ones (honcho) cannot restart a process nor stop them in order, hence these lines.
"""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from schedviz.up.guardian import GRACE_SECONDS

RESTART_SECONDS = 1.0
"""Before a process that died is started again."""

MAX_RESTARTS = 5
RESTART_WINDOW_SECONDS = 60.0
"""More restarts of one process than this within a minute, and it is no accident: the whole gives up."""


Role = Literal["vital", "restarted", "once"]
"""What the end of a process means: the end of all; that it is started again; nothing, where it went well."""


class Child(NamedTuple):
    name: str
    process: "subprocess.Popen[str]"
    role: Role
    again: Callable[[], None]
    fundamental: bool = False


class Supervisor:
    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._children: list[Child] = []
        self._restarts: dict[str, list[float]] = {}
        self._stopping = False
        self._happened: queue.SimpleQueue[Child | signal.Signals | Callable[[], None]] = queue.SimpleQueue()
        self._guardian = subprocess.Popen(
            [sys.executable, "-m", "schedviz.up.guardian"],
            stdin=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda caught, _: self._happened.put(signal.Signals(caught)))

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], role: Role = "vital"
    ) -> None:
        """Start a process, whose lines are shown with its name before them."""
        process = subprocess.Popen(  # noqa: S603 (our own commands, no shell)
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            # Ctrl-C is for the supervisor only: it stops them in order.
            start_new_session=True,
        )
        self._watch(Child(name, process, role, lambda: self.start(name, command, environment, role)))

    def adopt(self, name: str, process: "subprocess.Popen[str]") -> None:
        """Take charge of a process that was started elsewhere, as the leader of its own group. It is vital,
        and stopped after all others."""
        self._watch(Child(name, process, "vital", lambda: None, fundamental=True))

    def _watch(self, child: Child) -> None:
        self._children.append(child)
        self._tell_guardian(f"+{child.process.pid}")
        threading.Thread(target=self._wait, args=[child], daemon=True).start()

    def run(self) -> int:
        """Until a signal (0), or until a child ends that must not (1)."""
        while True:
            happened = self._happened.get()
            if isinstance(happened, signal.Signals):
                return 0
            if not isinstance(happened, Child):
                happened()
                continue
            self._remove(happened)
            if happened.role == "once" and happened.process.returncode == 0:
                continue
            ended = f"{happened.name} ended unexpectedly ({_how(happened.process.returncode)})"
            if happened.role != "restarted":
                self._say(f"{ended}; stopping")
                return 1
            now = time.monotonic()
            restarts = self._restarts.setdefault(happened.name, [])
            restarts[:] = [at for at in restarts if now - at < RESTART_WINDOW_SECONDS] + [now]
            if len(restarts) > MAX_RESTARTS:
                self._say(f"{ended}, for the {len(restarts)}th time in a minute; stopping")
                return 1
            self._say(f"{ended}; starting it again")
            timer = threading.Timer(RESTART_SECONDS, self.call, [happened.again])
            timer.daemon = True
            timer.start()

    def call(self, action: Callable[[], None]) -> None:
        """Have :meth:`run` call something. From any thread."""
        self._happened.put(action)

    def stop(self) -> None:
        """End all children, those that others stand on last; kill what does not end in time."""
        self._stopping = True  # what they say of their end is of no interest
        for fundamental in (False, True):
            children = [child for child in self._children if child.fundamental is fundamental]
            for child in children:
                _send(child, signal.SIGTERM)
            deadline = time.monotonic() + GRACE_SECONDS
            for child in children:
                try:
                    child.process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    self._say(f"{child.name} does not stop; killing it")
                    _send(child, signal.SIGKILL)
                    child.process.wait()
                self._remove(child)
        assert self._guardian.stdin is not None
        self._guardian.stdin.close()
        self._guardian.wait()

    def _wait(self, child: Child) -> None:
        if child.process.stdout is not None:
            with child.process.stdout as lines:
                for line in lines:
                    if not self._stopping:
                        self._say(f"{child.name} | {line.rstrip()}")
        child.process.wait()
        self._happened.put(child)

    def _remove(self, child: Child) -> None:
        self._children.remove(child)
        self._tell_guardian(f"-{child.process.pid}")

    def _tell_guardian(self, line: str) -> None:
        assert self._guardian.stdin is not None
        # Somebody may have killed it; it is needed only when this process is killed too.
        with suppress(BrokenPipeError):
            print(line, file=self._guardian.stdin, flush=True)


def _send(child: Child, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.process.pid, number)


def _how(status: int) -> str:
    return f"status {status}" if status >= 0 else signal.Signals(-status).name
