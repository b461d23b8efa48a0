"""Reads a resource's watch events as they come: from the sandbox's cache, and from the log those that the
cache does not hold any more."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from schedviz.cache import SandboxCache, default_caches
from schedviz.cache.held import RingEvent
from schedviz.store import NoSandbox, Sandbox

LOG_BATCH = 500
"""Events read at once from the log, by a watch that begins further back than the cache holds."""


class Reader:
    def __init__(self, sandbox: Sandbox, resource: str, version: int, cache: SandboxCache) -> None:
        self.version = version
        """Until which all events were read."""
        self._sandbox = sandbox
        self._resource = resource
        self._cache = cache
        self._changed = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def of(cls, sandbox: Sandbox, resource: str, version: int) -> "AsyncIterator[Reader]":
        """One that begins after a version, as long as the context lasts. Raises NoSandbox, and what redis-py
        raises."""
        caches = default_caches()
        reader = cls(sandbox, resource, version, cache := caches.follow(sandbox.name))
        cache.listen(reader._changed)
        try:
            await asyncio.to_thread(cache.refresh)
            yield reader
        finally:
            cache.unlisten(reader._changed)
            caches.unfollow(cache)

    async def read(self, until: float) -> list[RingEvent]:
        """The next events; none where none have come until that time of the event loop. Raises Gone,
        NoSandbox, and ConnectionError where the store is away."""
        while True:
            self._changed.clear()
            if events := await self._read():
                return events
            if not await self._wait(until):
                return []

    async def reached(self, until: float) -> int:
        """The version of the last write, once it is at least the one to begin after, or at that time of the
        event loop."""
        while True:
            self._changed.clear()
            version = self._cache.version
            if version >= self.version or not await self._wait(until):
                return version

    async def _read(self) -> list[RingEvent]:
        while True:
            if self._cache.state == "gone":
                raise NoSandbox(self._cache.name)
            if self._cache.state != "current":
                raise ConnectionError("the store does not answer")
            held = self._cache.events(self._resource, self.version)
            if held is not None:
                events, self.version = held
                return events
            logged = await asyncio.to_thread(self._sandbox.log, self.version, LOG_BATCH)
            if not logged:
                return []  # the cache is about to be read anew, and sets the event when it was
            self.version = logged[-1].version
            if events := [RingEvent(entry) for entry in logged if entry.resource == self._resource]:
                return events

    async def _wait(self, until: float) -> bool:
        """Whether something changed until then."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await self._changed.wait()
        return self._changed.is_set()
