"""One thread that keeps the followed caches of this process up to date.

It reads when the doorbell's message comes, and looks by itself each LOOK_SECONDS, as a message may be lost.
What is to be read of several sandboxes at the same time is one round trip.
"""

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any, Final

from channels.layers import get_channel_layer
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from schedviz.cache.sandbox_cache import SandboxCache
from schedviz.loop.doorbell import group
from schedviz.store import NoSandbox, Store

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
"""Between two looks at all followed sandboxes: how late a change is seen whose message was lost."""
RETRY_SECONDS: Final = 0.25
"""Between attempts to reach a store that is away: soon enough for a reader, too seldom to be a load."""

CANCEL_SECONDS: Final = 0.1
"""Between two cancellations of a task that has not ended."""

AWAY: Final = (RedisConnectionError, RedisTimeoutError, ConnectionError)


class Follower:
    """Any thread may use it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._followed: Counter[SandboxCache] = Counter()
        self._run: Run | None = None
        """None while nothing is followed."""

    def follow(self, sandbox: SandboxCache) -> None:
        with self._lock:
            self._followed[sandbox] += 1
            if self._run is None:
                self._run = Run(self._store, self._next)
            self._run.wake()

    def unfollow(self, sandbox: SandboxCache) -> None:
        with self._lock:
            self._followed[sandbox] -= 1
            if self._followed[sandbox] <= 0:
                del self._followed[sandbox]
            if self._run:
                self._run.wake()

    def follows(self, sandbox: SandboxCache) -> bool:
        with self._lock:
            return sandbox in self._followed

    def _next(self) -> list[SandboxCache]:
        """What is followed; the run that is given nothing ends."""
        with self._lock:
            if not self._followed:
                self._run = None
            return [*self._followed]


class Run:
    """One life of the thread: from the first cache that is followed until there is none."""

    def __init__(self, store: Store, followed: Callable[[], list[SandboxCache]]) -> None:
        """followed: what is followed; nothing ends this run."""
        self._store = store
        self._followed = followed
        self._loop = asyncio.new_event_loop()
        self._wanted = asyncio.Event()
        self._written: set[str] = set()
        """Sandboxes of which messages said that they were written."""
        self._channel = ""
        self._joined: set[str] = set()
        self._loading: set[SandboxCache] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        threading.Thread(target=self._work, name="follower", daemon=True).start()

    def wake(self) -> None:
        """Callable from any thread, until ``followed`` has given nothing."""
        self._loop.call_soon_threadsafe(self._wanted.set)

    def _work(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._follow_and_listen())

    async def _follow_and_listen(self) -> None:
        listening = asyncio.create_task(self._listen())
        try:
            await self._follow()
        finally:
            await asyncio.gather(*self._tasks, return_exceptions=True)
            # With the channel layer's own task of this loop.
            await ended(listening, *(asyncio.all_tasks() - {asyncio.current_task()}))

    async def _follow(self) -> None:
        """Recipe: wait for a message or for the time of the next look; read what is new in the sandboxes that
        were named, or in all; read those anew of which that is not known."""
        look_at = self._loop.time()
        while followed := self._followed():
            with suppress(TimeoutError):
                async with asyncio.timeout_at(look_at):
                    await self._wanted.wait()
            self._wanted.clear()
            joined = await self._join({sandbox.name for sandbox in followed})
            written, self._written = self._written | joined, set()
            due = followed
            if self._loop.time() < look_at:
                due = [sandbox for sandbox in followed if sandbox.name in written]
            else:
                look_at = self._loop.time() + LOOK_SECONDS
            try:
                self._read(due)
            except AWAY:
                for sandbox in followed:
                    sandbox.enter("down")
                await asyncio.sleep(RETRY_SECONDS)
                look_at = self._loop.time()
            except Exception:
                log.exception("reading what is new in %d sandboxes", len(due))
                await asyncio.sleep(RETRY_SECONDS)

    def _read(self, due: list[SandboxCache]) -> None:
        """Blocks this thread's loop for the one round trip: messages wait meanwhile."""
        known = [(sandbox, position) for sandbox in due if (position := sandbox.position)]
        if known:
            found = self._store.read_changes([(sandbox.name, position) for sandbox, position in known])
            for (sandbox, _), changes in zip(known, found, strict=True):
                sandbox.apply(changes)
        for sandbox in due:
            if sandbox.position is None and sandbox.state != "gone" and sandbox not in self._loading:
                # It may take seconds for a large one; the others are not to wait for it.
                self._loading.add(sandbox)
                task = asyncio.ensure_future(self._load(sandbox))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _load(self, sandbox: SandboxCache) -> None:
        try:
            await asyncio.to_thread(sandbox.load)
        except NoSandbox:
            pass  # its readers see that it is gone
        except AWAY:
            sandbox.enter("down")
        except Exception:
            log.exception("reading sandbox %s", sandbox.name)
            sandbox.enter("failed")
        finally:
            self._loading.discard(sandbox)

    # The doorbell

    async def _listen(self) -> None:
        """A layer whose Redis is away is no fault: the looks go on."""
        layer = get_channel_layer()
        while True:
            try:
                self._channel = await layer.new_channel()
                self._joined.clear()
                self._wanted.set()
                while True:
                    message = await layer.receive(self._channel)
                    self._written.add(message["sandbox"])
                    self._wanted.set()
            except Exception as error:
                log.debug("the doorbell: %s", error)
                self._channel = ""
                await asyncio.sleep(RETRY_SECONDS)

    async def _join(self, wanted: set[str]) -> set[str]:
        """Join the groups of these sandboxes, and leave the others; those that were joined, for which no
        message came before."""
        layer, channel, joined = get_channel_layer(), self._channel, set[str]()
        if not channel:
            return joined
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                for name in wanted - self._joined:
                    await layer.group_add(group(name), channel)
                    self._joined.add(name)
                    joined.add(name)
                for name in self._joined - wanted:
                    await layer.group_discard(group(name), channel)
                    self._joined.discard(name)
        except Exception as error:  # without messages the looks go on, and the next one tries again
            log.debug("the doorbell's groups: %s", error)
        return joined


async def ended(*tasks: "asyncio.Task[Any] | None") -> None:
    """Cancel tasks that read from Redis, and wait for their end.

    redis-py reads under timeouts of its own, and one of these that ends at the same moment takes a
    cancellation for its own: so tasks are cancelled until they end."""
    running = {task for task in tasks if task is not None and not task.done()}
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=CANCEL_SECONDS)
