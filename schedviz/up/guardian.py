"""Ends the processes that this one started when it is killed: what no process can do for itself.

    watch(pid)   # it leads a process group of its own
    forget(pid)  # it has ended

The guardian is a process of its own, started with the first that it watches. Its standard input is a pipe
from here, which ends with this process, however that ends. This works wherever there are pipes; Linux's
PR_SET_PDEATHSIG works there only, and not for a Redis that sets no such thing.
"""

import atexit
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache

GRACE_SECONDS = 5.0
"""For Redis to write out its file, before what still runs is killed."""


def watch(pid: int) -> None:
    """From now on the process and its group end with this one."""
    _tell(f"+{pid}")


def forget(pid: int) -> None:
    """The process has ended; its number may come to mean another."""
    _tell(f"-{pid}")


def _tell(line: str) -> None:
    # Somebody may have killed it; it is needed only when this process is killed too.
    with suppress(BrokenPipeError):
        print(line, file=_guardian().stdin, flush=True)


@cache
def _guardian() -> "subprocess.Popen[str]":
    guardian = subprocess.Popen(  # noqa: S603 (our own command, no shell)
        [sys.executable, "-m", __spec__.name], stdin=subprocess.PIPE, text=True, start_new_session=True
    )
    atexit.register(guardian.communicate)  # closes the pipe and waits
    return guardian


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    alive: set[int] = set()
    for line in sys.stdin:
        change = alive.add if line[0] == "+" else alive.discard
        change(int(line[1:]))
    end(alive)


def end(groups: set[int]) -> None:
    """Ask all to stop, then kill what has not."""
    deadline = time.monotonic() + GRACE_SECONDS
    running = {group for group in groups if _signal(group, signal.SIGTERM)}
    while running and time.monotonic() < deadline:
        time.sleep(0.05)
        running = {group for group in running if _signal(group, 0)}
    for group in running:
        _signal(group, signal.SIGKILL)


def _signal(group: int, number: int) -> bool:
    """Send a signal (0 = none, only look); whether anybody was there."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        return True
    return False


if __name__ == "__main__":
    main()
