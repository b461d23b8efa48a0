"""Followers see everything once, in order, and are told when they cannot."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import TypeVar

import pytest

from schedviz.embedded_redis import EmbeddedRedis, free_port, lock
from schedviz.store import Gone, Meta, NoSandbox, Sandbox, Store
from schedviz.store import sandbox as module
from schedviz.store.aio import Bundle, ended, follow, watch_events
from simulator.trace import Bound

from .test_commit import create

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds in which what must come comes."""


async def next_of(items: AsyncIterator[T]) -> T:
    async with asyncio.timeout(PATIENCE):
        return await anext(items)


async def test_a_follower_sees_every_event_and_trace_once_in_order(sandbox: Sandbox, redis_url: str) -> None:
    sandbox.commit([create("before")])
    bundles = follow(redis_url, sandbox.name, 1, 0)
    writers = asyncio.gather(
        *(
            asyncio.to_thread(
                sandbox.commit, [create(f"p{i}-{j}") for j in range(20)], trace=[Bound(i, i, f"p{i}", "n")]
            )
            for i in range(40)
        )
    )
    versions: list[int] = []
    seqs: list[int] = []
    while len(versions) < 800 or len(seqs) < 40:
        bundle = await next_of(bundles)
        assert bundle.state == "changes"
        versions += [event.version for event in bundle.events]
        seqs += [seq for seq, _ in bundle.trace]
    await writers
    assert versions == list(range(2, 802))
    assert seqs == list(range(1, 41))
    assert (bundle.version, bundle.seq) == (801, 40)
    await bundles.aclose()


async def test_a_follower_of_a_trimmed_log_is_told_to_read_anew(
    sandbox: Sandbox, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(module.LIMITS, "log", 100)
    for start in range(0, 500, 100):
        sandbox.commit([create(f"p{start + i}") for i in range(100)])
    for after in (0, 501):
        bundles = follow(redis_url, sandbox.name, after, 0)
        assert await next_of(bundles) == Bundle("reset", 500, 0)
        watch = watch_events(redis_url, sandbox.name, after)
        with pytest.raises(Gone):
            await next_of(watch)
        if after == 0:
            await bundles.aclose()
    sandbox.commit([create("next")])
    assert [event.key for event in (await next_of(bundles)).events] == ["default/next"]
    await bundles.aclose()


async def test_a_follower_cancelled_twice_at_any_moment_leaves_no_connection(
    sandbox: Sandbox, redis_url: str
) -> None:
    sandbox.commit([create("a")])

    async def read(came: asyncio.Event) -> None:
        async with aclosing(watch_events(redis_url, sandbox.name, 0)) as events:
            async for _ in events:
                came.set()
                await asyncio.Event().wait()

    for turns in range(12):
        came = asyncio.Event()
        reader = asyncio.create_task(read(came))
        async with asyncio.timeout(PATIENCE):
            await came.wait()
        reader.cancel()
        for _ in range(turns):
            await asyncio.sleep(0)
        await ended(reader)
        del reader
        gc.collect()  # a connection left open warns, which is an error here


async def test_a_follower_learns_that_its_sandbox_is_deleted(
    sandbox: Sandbox, store: Store, redis_url: str
) -> None:
    bundles = follow(redis_url, sandbox.name, 0, 0)
    watch = watch_events(redis_url, sandbox.name, 0)
    sandbox.commit([create("a")])
    await next_of(bundles)
    assert (await next_of(watch)).key == "default/a"
    store.delete(sandbox.name)
    for items in (bundles, watch):
        with pytest.raises(NoSandbox):
            await next_of(items)


async def test_a_follower_outlives_a_restart_of_redis(tmp_path: Path) -> None:
    port = free_port()
    with lock(tmp_path) as held:
        server = EmbeddedRedis.start(tmp_path, held, port, "secret")
        store = Store(server.url)
        sandbox = store.create(Meta(name="a"), [create("a")])
        bundles = follow(server.url, "a", 0, 0)
        assert (await next_of(bundles)).version == 1
        server.stop()
        assert (await next_of(bundles)).state == "down"
        server = EmbeddedRedis.start(tmp_path, held, port, "secret")
        assert await next_of(bundles) == Bundle("reset", 1, 0)
        # The store's pooled connections died with the old server; the first call works all the same.
        assert sandbox.commit([create("b")]) == [2]
        assert [event.key for event in (await next_of(bundles)).events] == ["default/b"]
        await bundles.aclose()
        store.close()
        server.stop()


async def test_a_task_that_takes_a_cancellation_for_its_own_is_ended_all_the_same() -> None:
    heard = 0

    async def read() -> None:
        nonlocal heard
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                heard += 1
                if heard == 2:
                    raise

    task = asyncio.create_task(read())
    await asyncio.sleep(0)
    await ended(task)
    assert task.cancelled()
    assert heard == 2
