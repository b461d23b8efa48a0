"""Reads the watch events of a resource: from the sandbox's cache, and older ones from the watch log."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from schedviz.access.standing import Standing
from schedviz.cache import SandboxCache, default_caches
from schedviz.cache.held import RingEvent
from schedviz.store import NoSandbox, Sandbox

LOG_BATCH = 500
"""Events that one command reads from the log, for a watch that begins before the events of the cache."""


class Withdrawn(Exception):
    """The right of the watch was withdrawn."""


class Reader:
    """Reads the events after a version, for one watch."""

    def __init__(
        self, sandbox: Sandbox, resource: str, version: int, cache: SandboxCache, standing: Standing
    ) -> None:
        self._standing = standing
        self.version = version
        """The version up to which all events were read."""
        self._sandbox = sandbox
        self._resource = resource
        self._cache = cache
        self._changed = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def of(
        cls, sandbox: Sandbox, resource: str, version: int, standing: Standing
    ) -> "AsyncIterator[Reader]":
        """A reader of the events after ``version``, for the duration of the context. Raises NoSandbox, and
        redis-py's exceptions."""
        caches = default_caches()
        reader = cls(sandbox, resource, version, cache := caches.follow(sandbox.name), standing)
        cache.listeners.add(reader._changed)
        try:
            await asyncio.to_thread(cache.refresh)
            yield reader
        finally:
            cache.listeners.remove(reader._changed)
            caches.unfollow(cache)

    async def read(self, until: float) -> list[RingEvent]:
        """Wait for the next events, at most until the time ``until`` of the event loop, and return them.
        Raises Gone, NoSandbox, Withdrawn, and ConnectionError if the store does not answer."""
        while True:
            self._changed.clear()
            if events := await self._read():
                return events
            if not await self._wait(until):
                return []

    async def reached(self, until: float) -> int:
        """Wait until the reader's version is reached, at most until the time ``until`` of the event loop, and
        return the version of the last write."""
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
            if not self._standing.holds(self._cache.access):
                raise Withdrawn
            held = self._cache.events(self._resource, self.version)
            if held is not None:
                events, self.version = held
                return events
            logged = await asyncio.to_thread(self._sandbox.log, self.version, LOG_BATCH)
            if not logged:
                return []  # the cache will be read again, and sets the event then
            self.version = logged[-1].version
            # The log may be ahead of the cache, for which a later version is one that was never reached.
            await asyncio.to_thread(self._cache.refresh)
            if events := [RingEvent(entry) for entry in logged if entry.resource == self._resource]:
                return events

    async def _wait(self, until: float) -> bool:
        """Whether something changed before the time ``until`` of the event loop."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await self._changed.wait()
        return self._changed.is_set()
