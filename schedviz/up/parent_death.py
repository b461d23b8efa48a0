"""Ends the processes that this process started when this process is killed and can end nothing itself.

    process = Popen([*WHEN_WATCHED, *command], stdin=PIPE, start_new_session=True)
    watch(process.pid)  # a process that leads a process group of its own
    process.stdin.write(b"\\n")  # the command runs
    process.stdin.close()
    forget(process.pid)  # that has ended

A further process does this. It is started with the first process that it watches, and reads from a pipe that
this process writes to: the pipe is closed when this process ends, however it ends. This works on all systems
with pipes; PR_SET_PDEATHSIG works on Linux only, and must be called in each process that is started.
"""

import atexit
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from typing import Final

GRACE_SECONDS = 5.0
"""Seconds in which the processes can stop, and Redis can write its file. Those that still run are then
killed."""

WHEN_WATCHED: Final = ("/bin/sh", "-c", 'read -r watched && exec "$@" </dev/null', "sh")
"""The beginning of a command that runs when a line comes on its standard input, and ends without one. If this
process is killed between the start of the command and its :func:`watch`, nothing else would end it."""


def watch(pid: int) -> None:
    """Make the process and its group end when this process ends."""
    _write(f"+{pid}")


def forget(pid: int) -> None:
    """Forget a process that has ended: another process may get its id."""
    _write(f"-{pid}")


def _write(line: str) -> None:
    # The further process may have been killed; it is needed only if this process is killed too.
    with suppress(BrokenPipeError):
        print(line, file=_watching_process().stdin, flush=True)


@cache
def _watching_process() -> "subprocess.Popen[str]":
    process = subprocess.Popen(  # noqa: S603 (our own command, no shell)
        [sys.executable, "-m", __spec__.name], stdin=subprocess.PIPE, text=True, start_new_session=True
    )
    atexit.register(process.communicate)  # closes the pipe and waits
    return process


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        change = groups.add if line[0] == "+" else groups.discard
        change(int(line[1:]))
    end_groups(groups)


def end_groups(groups: set[int]) -> None:
    """Stop the processes of these groups, and kill those that do not stop in time."""
    deadline = time.monotonic() + GRACE_SECONDS
    running = {group for group in groups if _signal(group, signal.SIGTERM)}
    while running and time.monotonic() < deadline:
        time.sleep(0.05)
        running = {group for group in running if _signal(group, 0)}
    for group in running:
        _signal(group, signal.SIGKILL)


def _signal(group: int, number: int) -> bool:
    """Send a signal; 0 = none. False if there is no such group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        return True
    return False


if __name__ == "__main__":
    main()
