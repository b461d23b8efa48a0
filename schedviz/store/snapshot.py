"""Reading several keys of a sandbox as of one moment."""

from collections.abc import Callable
from typing import Any

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import OutOfMemoryError

Read = Callable[[Pipeline], object]
"""Puts commands that read into a pipeline."""


def snapshot(redis: Redis, state: str, counter: str, read: Read) -> tuple[int, list[Any]]:
    """A counter of a sandbox's state, and the replies to ``read``, as they were when it stood there. The
    counter is one that grows with every write of what is read.

    A Redis without memory refuses everything in a transaction, reads as well. Then they are read by
    themselves, until the counter was the same before and after: hardly anything is written meanwhile.
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
