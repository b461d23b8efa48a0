"""Ends what a supervisor leaves behind when it is killed: the last process that `manage.py up` needs.

Its standard input is a pipe from the supervisor, which writes ``+<pid>`` for each process (leader of its own
process group) that it starts and ``-<pid>`` for each that ended. The pipe ends with the supervisor, however
that ends. This works wherever there are pipes; Linux's PR_SET_PDEATHSIG works there only, and not for a Redis
that sets no such thing.
"""

import os
import signal
import sys
import time
from contextlib import suppress

GRACE_SECONDS = 5.0
"""For Redis to write out its file, before what still runs is killed."""


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
