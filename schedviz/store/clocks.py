"""Reads and sets the clocks of many sandboxes at once."""

from collections.abc import Sequence
from contextlib import suppress

from redis import Redis

from schedviz.store import codec
from schedviz.store.errors import Unreadable
from schedviz.store.keys import Keys
from schedviz.store.model import Clock
from schedviz.store.scripts import load
from schedviz.store.wall import seconds_of


def read_clocks(redis: Redis, names: Sequence[str]) -> tuple[dict[str, Clock], float]:
    """Return the clocks of those sandboxes that exist and can be decoded, by name, and the wall time at which
    they were read. One round trip."""
    with redis.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.hget(Keys.of(name).state, "clock")
        pipe.time()
        *stored, wall = pipe.execute()
    clocks: dict[str, Clock] = {}
    for name, clock in zip(names, stored, strict=True):
        if clock is not None:
            with suppress(Unreadable):
                clocks[name] = codec.decode_clock(name, clock)
    return clocks, seconds_of(wall)


def set_clocks(redis: Redis, changes: Sequence[tuple[str, Clock, Clock]]) -> list[str]:
    """Set clocks. changes: the sandbox, its clock as it was read, and the new one. Returns the sandboxes that
    still had the clock as it was read; nothing is changed in others. Two round trips."""
    script = load(redis, "set_clock")
    with redis.pipeline(transaction=False) as pipe:
        for name, was, clock in changes:
            script([Keys.of(name).state], [codec.encode(was), codec.encode(clock), ""], client=pipe)
        replies = pipe.execute()
    return [name for (name, _, _), reply in zip(changes, replies, strict=True) if reply == 1]
