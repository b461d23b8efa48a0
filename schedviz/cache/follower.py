"""Keeps the followed caches of this process up to date, in one thread.

The thread reads the changes of a sandbox when its doorbell message arrives, and those of all sandboxes every
LOOK_SECONDS, because a message may be lost. Several sandboxes are read in one round trip.
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
"""Interval of reading all followed sandboxes: the longest delay of a change whose message was lost."""
RETRY_SECONDS: Final = 0.25
"""Interval of attempts while the store does not answer: short for a reader, and little load."""

CANCEL_SECONDS: Final = 0.1
"""Interval of the cancellations of a task that has not ended."""

AWAY: Final = (RedisConnectionError, RedisTimeoutError, ConnectionError)


class Follower:
    """Counts the followers of each cache, and starts the thread. Any thread may use it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._followed: Counter[SandboxCache] = Counter()
        self._run: Run | None = None
        """The present run of the thread; None = nothing is followed."""

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
        """Return the followed caches. If there is none, the run that called it ends."""
        with self._lock:
            if not self._followed:
                self._run = None
            return [*self._followed]


class Run:
    """One run of the thread: from the first followed cache until no cache is followed."""

    def __init__(self, store: Store, followed: Callable[[], list[SandboxCache]]) -> None:
        """followed: returns the followed caches; an empty list ends this run."""
        self._store = store
        self._followed = followed
        self._loop = asyncio.new_event_loop()
        self._wanted = asyncio.Event()
        self._written: set[str] = set()
        """Sandboxes whose messages arrived since the last read."""
        self._traces: dict[str, str] = {}
        """Sandbox -> the context of the trace in its message."""
        self._channel = ""
        self._joined: set[str] = set()
        self._loading: set[SandboxCache] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        threading.Thread(target=self._work, name="follower", daemon=True).start()

    def wake(self) -> None:
        """Read soon. Any thread may call it, until ``followed`` has returned an empty list."""
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
            # The channel layer also has a task in this loop.
            await ended(listening, *(asyncio.all_tasks() - {asyncio.current_task()}))

    async def _follow(self) -> None:
        """Wait for a message or for the time at which all are read; read the changes of the sandboxes of the
        messages, or of all; start to read again those whose changes are not known. Then repeat."""
        look_at = self._loop.time()
        while followed := self._followed():
            with suppress(TimeoutError):
                async with asyncio.timeout_at(look_at):
                    await self._wanted.wait()
            self._wanted.clear()
            joined = await self._join({sandbox.name for sandbox in followed})
            written, self._written = self._written | joined, set()
            due = {sandbox.name for sandbox in followed}
            if self._loop.time() < look_at:
                due = written
            else:
                look_at = self._loop.time() + LOOK_SECONDS
            away = False
            for caches in self._by_server(followed):
                try:
                    self._read([sandbox for sandbox in caches if sandbox.name in due])
                except AWAY:
                    away = True
                    for sandbox in caches:
                        sandbox.enter("down")
                except Exception:
                    log.exception("reading the changes of %d sandboxes", len(caches))
                    await asyncio.sleep(RETRY_SECONDS)
            if away:
                await asyncio.sleep(RETRY_SECONDS)
                look_at = self._loop.time()

    def _by_server(self, caches: list[SandboxCache]) -> list[list[SandboxCache]]:
        """Group the caches by server, so that a server that does not answer does not keep the others from
        being read. They are one group while no node of a cluster answers."""
        by_name = {cache.name: cache for cache in caches}
        try:
            grouped = self._store.servers.group(by_name)
        except AWAY:
            return [caches]
        return [[by_name[name] for name in names] for names in grouped.values()]

    def _read(self, due: list[SandboxCache]) -> None:
        """Read the changes in one round trip, which blocks this thread's loop; messages wait meanwhile."""
        for sandbox in due:
            sandbox.trace = self._traces.pop(sandbox.name, "") or sandbox.trace
        known = [(sandbox, position) for sandbox in due if (position := sandbox.position)]
        if known:
            found = self._store.read_changes([(sandbox.name, position) for sandbox, position in known])
            for (sandbox, _), changes in zip(known, found, strict=True):
                sandbox.apply(changes)
        for sandbox in due:
            if sandbox.position is None and sandbox.state != "gone" and sandbox not in self._loading:
                # A large one may take seconds; the others do not wait for it.
                self._loading.add(sandbox)
                task = asyncio.ensure_future(self._load(sandbox))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _load(self, sandbox: SandboxCache) -> None:
        try:
            await asyncio.to_thread(sandbox.load)
        except NoSandbox:
            pass  # load() has set the state "gone"
        except AWAY:
            sandbox.enter("down")
        except Exception:
            log.exception("reading sandbox %s", sandbox.name)
            sandbox.enter("failed")
        finally:
            self._loading.discard(sandbox)

    # The doorbell

    async def _listen(self) -> None:
        """Receive doorbell messages. While the channel layer fails, only the regular reads continue."""
        layer = get_channel_layer()
        while True:
            try:
                self._channel = await layer.new_channel()
                self._joined.clear()
                self._wanted.set()
                while True:
                    message = await layer.receive(self._channel)
                    self._written.add(message["sandbox"])
                    if message.get("trace"):
                        self._traces.setdefault(message["sandbox"], message["trace"])
                    self._wanted.set()
            except Exception as error:
                log.debug("the doorbell: %s", error)
                self._channel = ""
                await asyncio.sleep(RETRY_SECONDS)

    async def _join(self, wanted: set[str]) -> set[str]:
        """Join the groups of these sandboxes and leave the others. Returns the sandboxes that were joined:
        earlier changes of them had no message."""
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
        except Exception as error:  # the regular reads continue, and the next one tries again
            log.debug("the doorbell's groups: %s", error)
        return joined


async def ended(*tasks: "asyncio.Task[Any] | None") -> None:
    """Cancel tasks that read from Redis, and wait until they end.

    redis-py reads with its own timeouts. If such a timeout ends at the same moment, the cancellation has no
    effect; so tasks are cancelled again until they end."""
    running = {task for task in tasks if task is not None and not task.done()}
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=CANCEL_SECONDS)
