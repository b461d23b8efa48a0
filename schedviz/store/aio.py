"""Following a sandbox from asyncio: the web process's view of the watch log and the trace.

Each follower has a connection of its own, as it spends its time in a blocking XREAD; who stops before the end
closes it: ``async with aclosing(follow(...)) as bundles``.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal, cast

import msgspec
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from schedviz.store import codec
from schedviz.store.errors import Gone, NoSandbox
from schedviz.store.keys import Keys
from schedviz.store.sandbox import check_continuity
from simulator.api import WatchEvent
from simulator.trace import Event

BLOCK_SECONDS = 1.0
"""How long one XREAD waits before it is asked whether the sandbox still exists: its end is in no stream."""

RECONNECT_SECONDS = 0.25
"""Between attempts to reach a Redis that is away: soon enough for a reader, too seldom to be a load."""

CANCEL_SECONDS = 0.1
"""Between two requests to a task that it should stop."""

BATCH = 500
"""Entries taken at once from each stream; the rest comes with the next bundle."""


class Bundle(msgspec.Struct, frozen=True):
    """What is new in a sandbox.

    ``changes``: ``events`` and ``trace`` follow the bundle before without a gap. ``reset``: they cannot
    (trimmed, or Redis was away): read everything anew; what comes next goes on from ``version`` and ``seq``.
    ``down``: Redis does not answer; a ``reset`` follows when it does.
    """

    state: Literal["changes", "reset", "down"]
    version: int
    seq: int
    events: list[WatchEvent] = []
    trace: list[tuple[int, Event]] = []


async def follow(
    redis_url: str, name: str, after_version: int, after_seq: int
) -> AsyncGenerator[Bundle, None]:
    """The changes of a sandbox after a version and a trace number, as they come, for ever.

    Raises NoSandbox when it is deleted, or was never there.
    """
    keys = Keys.of(name)
    version, seq = after_version, after_seq
    down = False
    while True:
        try:
            async with _connect(redis_url) as redis:
                if down:
                    down = False
                    version, seq = await _heads(redis, name)
                    yield Bundle("reset", version, seq)
                while True:
                    try:
                        log, trace = await _read(redis, name, {keys.log: version, keys.trace: seq})
                    except Gone:
                        version, seq = await _heads(redis, name)
                        yield Bundle("reset", version, seq)
                        continue
                    if not log and not trace:
                        continue
                    events = [codec.decode_watch_event(entry) for entry in log]
                    happened: list[tuple[int, Event]] = [codec.decode_trace(entry) for entry in trace]
                    version = events[-1].version if events else version
                    seq = happened[-1][0] if happened else seq
                    yield Bundle("changes", version, seq, events, happened)
        except (RedisConnectionError, RedisTimeoutError):
            if not down:
                down = True
                yield Bundle("down", version, seq)
            await asyncio.sleep(RECONNECT_SECONDS)


async def watch_events(redis_url: str, name: str, after: int) -> AsyncGenerator[WatchEvent, None]:
    """The watch events of all resources after a version, as they come, for ever.

    Raises Gone (the watcher lists anew), NoSandbox, and redis' ConnectionError: a watch ends with its server.
    """
    keys = Keys.of(name)
    async with _connect(redis_url) as redis:
        if after > (await _heads(redis, name))[0]:
            raise Gone(after)
        while True:
            (log,) = await _read(redis, name, {keys.log: after})
            for entry in log:
                event = codec.decode_watch_event(entry)
                after = event.version
                yield event


@asynccontextmanager
async def _connect(redis_url: str) -> AsyncIterator[Redis]:
    """A client that is closed whatever happens; redis-py gives up closing when cancelled twice."""
    redis = Redis.from_url(redis_url, retry=Retry(NoBackoff(), 0), socket_timeout=BLOCK_SECONDS + 4)
    try:
        yield redis
    finally:
        closing = asyncio.ensure_future(redis.aclose())
        cancelled: asyncio.CancelledError | None = None
        while not closing.done():
            try:
                await asyncio.wait([closing])
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled:
            raise cancelled


async def _read(redis: Redis, name: str, after: dict[str, int]) -> list[list[codec.Entry]]:
    """The next entries of each stream, in the order given; all empty when nothing came for a while.

    Raises Gone where they do not follow on, NoSandbox.
    """
    streams: dict[Any, Any] = {key: f"{number}-0" for key, number in after.items()}
    reply = await redis.xread(streams, count=BATCH, block=round(BLOCK_SECONDS * 1000))
    found = {key.decode(): entries for key, entries in cast("list[tuple[bytes, list[codec.Entry]]]", reply)}
    if found:
        for key, entries in found.items():
            check_continuity(entries, after[key], codec.number(entries[-1][0]))
    else:
        for number, head in zip(after.values(), await _heads(redis, name), strict=False):
            if number > head:
                raise Gone(number)
    return [found.get(key, []) for key in after]


async def _heads(redis: Redis, name: str) -> tuple[int, int]:
    """The last version and the last trace number. Raises NoSandbox."""
    meta, version, seq = await redis.hmget(Keys.of(name).state, ["meta", "version", "seq"])
    if meta is None:
        raise NoSandbox(name)
    return int(version or 0), int(seq or 0)


async def ended(*tasks: "asyncio.Task[Any]") -> None:
    """Cancel tasks that read here, and wait for their end; what they failed with is of no interest.

    redis-py reads under timeouts of its own, and one of these that ends at the same moment takes a
    cancellation for its own: it is asked for until it is heard.
    """
    running = {task for task in tasks if not task.done()}
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=CANCEL_SECONDS)
    await asyncio.gather(*tasks, return_exceptions=True)
