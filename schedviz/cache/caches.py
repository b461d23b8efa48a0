"""The caches of this process, one for each sandbox that is read."""

import time
from functools import cache
from threading import Lock
from typing import Final

from schedviz.cache.follower import Follower
from schedviz.cache.present import Present
from schedviz.cache.sandbox_cache import SandboxCache
from schedviz.store import NoSandbox, Sandbox, Store
from schedviz.store.bounds import MAX_SANDBOXES
from schedviz.store.default import default_store
from simulator.versions.features import Features

KEPT_SECONDS: Final = 60.0
"""Seconds after which a cache that is not followed and was not read is dropped when another one is read."""
CACHES_AT_MOST: Final = MAX_SANDBOXES
"""Number of caches beyond which those that are not followed are dropped, the least recently read first. The
followed ones cannot be more: there are no more sandboxes."""
OBJECT_BYTES: Final = 96_000_000
"""Maximum size of the cached objects of one sandbox, as JSON. 50,000 pods of upstream's scheduler_perf have
about 60 MB."""
ALL_OBJECT_BYTES: Final = 256_000_000
"""Maximum size of the cached objects of all sandboxes in this process, besides ALWAYS_HELD_BYTES of each."""

Current = Present | Sandbox
"""A sandbox as it is now: from its cache, or from the store."""


class Caches:
    """Keeps the caches, and drops those that are not used. Any thread may use it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._caches: dict[str, SandboxCache] = {}
        """Name of a sandbox -> its cache, the least recently read first."""
        self._read_at: dict[str, float] = {}
        self._follower = Follower(store)

    def read(self, name: str) -> Present:
        """Return a sandbox as it is now, with everything that was written before the call. Needs one round
        trip if it was read before. Raises NoSandbox, and redis-py's exceptions."""
        return self.refresh(name)[0].present()

    def refresh(self, name: str) -> tuple[SandboxCache, bytes]:
        """Return the cache of a sandbox, brought up to date by :meth:`SandboxCache.refresh`, and what that
        returns. Raises as :meth:`read` does."""
        while True:
            sandbox = self._cache(name)
            try:
                hold = sandbox.refresh()
            except NoSandbox:
                self._drop(sandbox)
                raise
            if sandbox.state != "gone":  # otherwise it was deleted meanwhile, and perhaps created again
                return sandbox, hold
            self._drop(sandbox)

    def held(self, name: str) -> Present | None:
        """Return the sandbox as :meth:`read` does, if it has a cache that was read; None = all of it would
        have to be read."""
        return self.read(name) if self.held_cache(name) is not None else None

    def held_cache(self, name: str) -> SandboxCache | None:
        """Return the cache of a sandbox; None = it has none, or it was not read yet."""
        with self._lock:
            sandbox = self._caches.get(name)
        return sandbox if sandbox is not None and sandbox.position is not None else None

    def followed_cache(self, name: str) -> SandboxCache | None:
        """Return the cache of a sandbox; None also if it is not kept up to date. It is at most a second
        old."""
        sandbox = self.held_cache(name)
        if sandbox is None or not self._follower.follows(sandbox) or sandbox.state != "current":
            return None
        return sandbox

    def followed(self, name: str) -> Present | None:
        """Return a sandbox as its cache has it, without a round trip; None = its cache is not kept up to
        date."""
        sandbox = self.followed_cache(name)
        return sandbox.present() if sandbox is not None else None

    def follow(self, name: str) -> SandboxCache:
        """Return the cache of a sandbox, which is kept up to date until :meth:`unfollow`. A new one must be
        read first, by :meth:`SandboxCache.refresh`."""
        while True:
            sandbox = self._cache(name)
            self._follower.follow(sandbox)
            with self._lock:
                if self._caches.get(name) is sandbox:
                    return sandbox
            self._follower.unfollow(sandbox)  # it was dropped meanwhile

    def unfollow(self, sandbox: SandboxCache) -> None:
        self._follower.unfollow(sandbox)
        with self._lock:
            if self._caches.get(sandbox.name) is sandbox:
                self._read_at[sandbox.name] = time.monotonic()
                self._caches[sandbox.name] = self._caches.pop(sandbox.name)

    def _cache(self, name: str) -> SandboxCache:
        with self._lock:
            sandbox = self._caches.pop(name, None)
            if sandbox is None or sandbox.state == "gone":
                sandbox = SandboxCache(self._store, name, self._room)
            self._caches[name] = sandbox
            self._read_at[name] = time.monotonic()
            self._drop_unused(name)
            return sandbox

    def _room(self, sandbox: SandboxCache) -> int:
        """Return how many bytes of objects a cache may have now."""
        with self._lock:
            others = sum(each.bytes for each in self._caches.values() if each is not sandbox)
        return min(OBJECT_BYTES, ALL_OBJECT_BYTES - others)

    def _drop_unused(self, read: str) -> None:
        now = time.monotonic()
        for name in [*self._caches]:
            is_old = now - self._read_at[name] > KEPT_SECONDS
            if not is_old and len(self._caches) <= CACHES_AT_MOST:
                break
            if name != read and not self._follower.follows(self._caches[name]):
                del self._caches[name], self._read_at[name]

    def _drop(self, sandbox: SandboxCache) -> None:
        with self._lock:
            if self._caches.get(sandbox.name) is sandbox:
                del self._caches[sandbox.name], self._read_at[sandbox.name]


@cache
def default_caches() -> Caches:
    """Return the caches of the default store in this process."""
    return caches_of(default_store())


def read_current(sandbox: Sandbox) -> Current:
    """Return the sandbox as it is now: from its cache if there is one, else from the store."""
    return default_caches().held(sandbox.name) or sandbox


def features_of(name: str) -> Features:
    """Return the version of a sandbox with its feature gates; where this process has its cache, as they were
    when it was read last. Raises NoSandbox."""
    held = default_caches().held_cache(name)
    known = held if held and held.state == "current" else default_store().handle(name)
    return known.meta().features()


def find_handle(name: str) -> Sandbox:
    """Return the handle of the sandbox of that name. It is not looked up in the store where this process has
    its cache: if it was deleted since the cache was read last, :func:`read_current` raises NoSandbox. Raises
    NoSandbox."""
    store = default_store()
    return store.handle(name) if default_caches().held_cache(name) else store.sandbox(name)


@cache
def caches_of(store: Store) -> Caches:
    return Caches(store)
