"""The check that a process takes the messages of its queues."""

from collections.abc import Iterable
from typing import Final

from redis import Redis

FAILURES_AT_MOST: Final = 8
"""The number of failures in a row after which the process counts as one that takes no messages. At two checks
each second these are 4 s; Celery itself needs 2 s to consume again after Redis was away."""


class MessageCheck:
    """Counts how often in a row messages waited although the process was idle.

    After a second loss of Redis within a short time a Celery worker can wait for messages and receive none
    (seen with kombu 5.7). Tasks run in one thread; :meth:`run` is called by another one.
    """

    def __init__(self, redis: Redis, keys: Iterable[str]) -> None:
        """keys: of the lists in which messages wait for this process."""
        self._redis = redis
        self._keys = [*keys]
        self._in_task = False
        self._failures = 0

    def task_began(self) -> None:
        self._in_task = True
        self._failures = 0

    def task_ended(self) -> None:
        self._in_task = False

    def reset(self) -> None:
        """Begin to count again: Redis did not answer, so no process could take a message."""
        self._failures = 0

    def run(self) -> bool:
        """Check once. False if this was the last failure that is allowed."""
        if self._in_task or not any(self._redis.llen(key) for key in self._keys):
            self._failures = 0
        else:
            self._failures += 1
        return self._failures < FAILURES_AT_MOST
