"""Waiting for what must come, by looking; no test sleeps for an outcome."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 120.0
"""Seconds until a test takes what it waits for for hung. Whoever waits goes on at once when it comes: no test
depends on how soon that is."""


SHORTEST_PAUSE, LONGEST_PAUSE = 0.005, 0.05
"""Seconds between two looks. They grow, as those who look take the time of those they wait for."""


def eventually(look: Callable[[], T | None], what: str = "", seconds: float = PATIENCE) -> T:
    """The first true value that ``look`` gives."""
    deadline = time.monotonic() + seconds
    pause = SHORTEST_PAUSE
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what or look}"
        time.sleep(pause)
        pause = min(pause * 1.2, LONGEST_PAUSE)
