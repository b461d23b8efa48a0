"""Whether a process takes the messages of its queues."""

import time
from collections.abc import Iterable
from typing import Final

from redis import Redis

STUCK_SECONDS: Final = 4.0
"""A process that is idle and takes no message for this long, while messages wait and Redis serves, is stuck.
Celery itself needs 2 s to come back to a Redis that was away."""


class Consumer:
    """After a second loss of Redis in short order a Celery worker can wait for messages for ever and get none
    (seen with kombu 5.7). Tasks run in one thread, and :meth:`is_stuck` is asked by another one."""

    def __init__(self, redis: Redis, keys: Iterable[str]) -> None:
        """keys: of the lists in which messages wait for this process."""
        self._redis = redis
        self._keys = [*keys]
        self._at_work = False
        self._waiting_since: float | None = None
        """Monotonic seconds since which messages were seen to wait, and none was taken."""

    def begin(self) -> None:
        """A task begins."""
        self._at_work = True
        self._waiting_since = None

    def end(self) -> None:
        self._at_work = False

    def interrupted(self) -> None:
        """Redis did not serve: nobody could take a message."""
        self._waiting_since = None

    def is_stuck(self) -> bool:
        """To be asked again and again; it is what was seen over time that counts."""
        if self._at_work or not any(self._redis.llen(key) for key in self._keys):
            self._waiting_since = None
            return False
        now = time.monotonic()
        self._waiting_since = since = self._waiting_since or now
        return now - since >= STUCK_SECONDS
