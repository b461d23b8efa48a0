"""The caches of this process, one for each sandbox that somebody reads."""

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

KEPT_SECONDS: Final = 60.0
"""A cache that nobody follows, and that was not read for so long, is dropped when another one is read."""
CACHES_AT_MOST: Final = MAX_SANDBOXES
"""Those that nobody follows are dropped beyond it, the least recently read first. There are no more sandboxes
to be followed."""
OBJECT_BYTES: Final = 96_000_000
"""Of the objects of one sandbox, as JSON: 50,000 pods of upstream's scheduler_perf have some 60 MB."""
ALL_OBJECT_BYTES: Final = 256_000_000
"""Of all sandboxes in this process, but for what each may hold in any case."""


class Caches:
    """Any thread may use it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._caches: dict[str, SandboxCache] = {}
        """The least recently read first."""
        self._read_at: dict[str, float] = {}
        self._follower = Follower(store)

    def read(self, name: str) -> Present:
        """A sandbox as it is now, with all that was written before the call: in one round trip where it was
        read before. Raises NoSandbox, and what redis-py raises."""
        while True:
            sandbox = self._cache(name)
            try:
                sandbox.refresh()
            except NoSandbox:
                self._drop(sandbox)
                raise
            if sandbox.state != "gone":  # else it was deleted just now, and perhaps made anew
                return sandbox.present()
            self._drop(sandbox)

    def held(self, name: str) -> Present | None:
        """The same, where somebody reads the sandbox already; None where all of it would have to be read."""
        return self.read(name) if self.held_cache(name) is not None else None

    def held_cache(self, name: str) -> SandboxCache | None:
        """The sandbox's cache, where there is one that was read."""
        with self._lock:
            sandbox = self._caches.get(name)
        return sandbox if sandbox is not None and sandbox.position is not None else None

    def followed_cache(self, name: str) -> SandboxCache | None:
        """The same, where it is kept up to date: as of a second ago at most."""
        sandbox = self.held_cache(name)
        if sandbox is None or not self._follower.follows(sandbox) or sandbox.state != "current":
            return None
        return sandbox

    def followed(self, name: str) -> Present | None:
        """A sandbox as of the last look, without a look of its own; None where nobody follows it."""
        sandbox = self.followed_cache(name)
        return sandbox.present() if sandbox is not None else None

    def follow(self, name: str) -> SandboxCache:
        """The sandbox's cache, kept up to date until ``unfollow``. It may have to be read first: see
        :meth:`SandboxCache.refresh`."""
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
        """How many bytes of objects it may hold now."""
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
    """Those of the store that the settings name."""
    return caches_of(default_store())


def read_current(sandbox: Sandbox) -> Present | Sandbox:
    """The sandbox as it is now: from its cache where somebody reads it already, else from the store."""
    return default_caches().held(sandbox.name) or sandbox


@cache
def caches_of(store: Store) -> Caches:
    """A store's one Caches in this process."""
    return Caches(store)
