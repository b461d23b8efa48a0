"""Wall time is the time of Redis's clock, because the clocks of the machines that share one Redis differ.

Nothing else in schedviz reads a wall clock (the linter forbids it).
"""

import time

from redis import Redis

MICROSECONDS = 1_000_000


class Wall:
    """The wall time during one slice or frame: Redis's time, read once, plus the time that has passed since
    on this process's monotonic clock. A jump of Redis's clock does not change it."""

    def __init__(self, seconds: float) -> None:
        """seconds: Redis's time now, since the Unix epoch."""
        self._offset = seconds - time.monotonic()

    def now(self) -> float:
        """Return the seconds since the Unix epoch."""
        return time.monotonic() + self._offset


def wall_time(redis: Redis) -> float:
    """Return Redis's time, in seconds since the Unix epoch."""
    return seconds_of(redis.time())


def seconds_of(reply: tuple[int, int]) -> float:
    """Return the seconds since the Unix epoch of a reply to TIME."""
    seconds, micros = reply
    return seconds + micros / MICROSECONDS
