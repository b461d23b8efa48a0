"""Reads several keys of a sandbox as of one moment."""

from collections.abc import Callable
from typing import Any

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import OutOfMemoryError

Read = Callable[[Pipeline], object]
"""Adds reading commands to a pipeline."""


def nothing(pipe: Pipeline) -> None:
    """Read nothing but the counter."""


def snapshot(redis: Redis, state: str, counter: str, read: Read) -> tuple[int, list[Any]]:
    """Return the value of a counter in a sandbox's state, and the replies to ``read`` at that value. The
    counter must grow with every write of what is read.

    A Redis that is out of memory refuses transactions, also those that only read. Then the commands are run
    without a transaction until the counter is the same before and after them; hardly anything is written
    meanwhile.
    """
    while True:
        try:
            with redis.pipeline(transaction=True) as pipe:
                pipe.hget(state, counter)
                read(pipe)
                number, *replies = pipe.execute()
                return int(number or 0), replies
        except OutOfMemoryError:
            with redis.pipeline(transaction=False) as pipe:
                pipe.hget(state, counter)
                read(pipe)
                pipe.hget(state, counter)
                before, *replies, after = pipe.execute()
            if before == after:
                return int(before or 0), replies
