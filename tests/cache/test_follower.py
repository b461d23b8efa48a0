"""A follower of a sandbox gets every event once and in order, or an error."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from schedviz.cache import Caches, SandboxCache
from schedviz.cache import follower as follower_module
from schedviz.cache.caches import caches_of
from schedviz.store import Commit, Gone, Meta, Sandbox, Store
from schedviz.store.changes import Changes, Position
from schedviz.store.commit_script import LIMITS
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from simulator.trace import Bound
from tests.round_trips import round_trips
from tests.store.test_commit import create
from tests.waiting import PATIENCE


class Follower:
    """Reads the events of pods, and the trace."""

    def __init__(self, cache: SandboxCache) -> None:
        self.cache = cache
        self.changed = asyncio.Event()
        self.seen = cache.present()
        self.versions: list[int] = []
        self.seqs: list[int] = []
        self.gaps = 0
        cache.listeners.add(self.changed)

    async def until(self, version: int, seq: int = 0) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.seen.position.version < version or self.seen.position.seq < seq:
                await self.changed.wait()
                self.changed.clear()
                self.read()

    def read(self) -> None:
        news = self.cache.news(self.seen, ("pods",))
        if news is None:
            self.gaps += 1
            self.seen = self.cache.present()
            return
        self.versions += [event.entry.version for event in news.events]
        self.seqs += [number for number, _ in news.trace]
        self.seen = news.present

    async def state(self, state: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.cache.state != state:
                await self.changed.wait()
                self.changed.clear()


@pytest.fixture
async def follower(store: Store, sandbox: Sandbox) -> AsyncIterator[Follower]:
    caches = caches_of(store)
    cache = caches.follow(sandbox.name)
    await asyncio.to_thread(cache.refresh)
    follower = Follower(cache)
    yield follower
    cache.listeners.remove(follower.changed)
    caches.unfollow(cache)


async def test_a_follower_sees_every_event_and_trace_once_in_order(
    sandbox: Sandbox, follower: Follower
) -> None:
    writers = asyncio.gather(
        *(
            asyncio.to_thread(
                sandbox.commit,
                Commit([create(f"p{i}-{j}") for j in range(5)], trace=[Bound(i, i, f"p{i}", "n")]),
            )
            for i in range(40)
        )
    )
    await follower.until(200, 40)
    await writers
    assert (follower.versions, follower.seqs) == ([*range(1, 201)], [*range(1, 41)])


async def test_a_follower_of_a_trimmed_log_starts_again(
    sandbox: Sandbox, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, "log", 100)
    # In this thread, so that the follower does not poll between two commits of the last burst.
    for start in range(0, 1000, 100):
        sandbox.commit(Commit([create(f"p{start + i}") for i in range(100)]))
    await follower.until(1000)
    with pytest.raises(Gone):
        follower.cache.events("pods", 1001)
    assert follower.cache.events("pods", 0) is None
    assert follower.gaps or follower.versions == [*range(1, 1001)]


async def test_a_follower_learns_that_its_sandbox_is_deleted(
    sandbox: Sandbox, store: Store, follower: Follower
) -> None:
    await asyncio.to_thread(store.delete, sandbox.name)
    await follower.state("gone")


async def test_a_follower_continues_after_a_restart_of_redis(tmp_path: Path) -> None:
    port = free_port()
    with lock(tmp_path) as held:
        server = EmbeddedRedis.start(tmp_path, held, port, "secret")
        store = Store(server.url)
        sandbox = store.create(Meta(name="a"), [create("a")])
        caches = caches_of(store)
        cache = caches.follow("a")
        await asyncio.to_thread(cache.refresh)
        follower = Follower(cache)
        server.stop()
        await follower.state("down")
        server = EmbeddedRedis.start(tmp_path, held, port, "secret")
        await follower.state("current")
        follower.read()
        assert follower.gaps == 1, "what it had may be lost"
        # The store's pooled connections ended with the old server. The first call works nevertheless.
        assert sandbox.commit(Commit([create("b")])) == [2]
        await follower.until(2)
        assert follower.versions == [2]
        caches.unfollow(cache)
        store.close()
        server.stop()


def test_a_follower_reads_again_what_a_restarted_redis_may_have_lost(tmp_path: Path) -> None:
    port = free_port()
    with lock(tmp_path) as held:
        server = EmbeddedRedis.start(tmp_path, held, port, "secret")
        store = Store(server.url)
        store.create(Meta(name="a"), [create("a")])
        before = caches_of(store).read("a")
        server.stop()
        server = EmbeddedRedis.start(tmp_path, held, port, "secret")
        after = caches_of(store).read("a")
        assert after.generation == before.generation + 1
        store.close()
        server.stop()


async def test_one_poll_of_all_followed_sandboxes_is_one_round_trip(
    store: Store, sandbox_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower_module, "LOOK_SECONDS", 0.01)
    names = [f"{sandbox_name[:50]}-{number}" for number in range(5)]
    for name in names:
        store.create(Meta(name))
    looks: list[int] = []
    read_changes = store.read_changes

    def counted(positions: Sequence[tuple[str, Position]]) -> list[Changes]:
        looks.append(len(positions))
        return read_changes(positions)

    caches = Caches(store)
    for name in names:
        caches.read(name)
    monkeypatch.setattr(store, "read_changes", counted)
    with round_trips() as count:
        followed = [caches.follow(name) for name in names]
        while looks.count(len(names)) < 10:
            await asyncio.sleep(0)
        for cache in followed:
            caches.unfollow(cache)
        while caches._follower._run:
            await asyncio.sleep(0)
    assert count() == len(looks)
    for name in names:
        store.delete(name)


async def test_a_task_that_catches_its_cancellation_is_ended_nevertheless() -> None:
    cancelled = 0

    async def read() -> None:
        nonlocal cancelled
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled += 1
                if cancelled == 2:
                    raise

    task = asyncio.create_task(read())
    await asyncio.sleep(0)
    await follower_module.ended(task)
    assert task.cancelled()
    assert cancelled == 2
