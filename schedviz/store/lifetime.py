"""The times at which sandboxes were last used, and at which they end where a lifetime is set.

A sandbox is used when a visitor opens it or writes to it. In its last day, or tenth of the lifetime, to open
it does not count: its page then says that it will be deleted, and has a button to keep it.
"""

import time
from collections import OrderedDict
from threading import Lock
from typing import Final, cast

from schedviz.store.keys import USED
from schedviz.store.store import Store

NOTED_SECONDS: Final = 60.0
"""Seconds between two notes of a use, for each sandbox and process."""
NOTED_AT_MOST: Final = 2_000
"""Maximum number of sandboxes whose notes a process keeps."""
NOTICE_SECONDS: Final = 24 * 3600.0


class Lifetimes:
    def __init__(self, store: Store, hours: int) -> None:
        """hours: the lifetime; 0 = none, and then nothing is noted."""
        self._store = store
        self._redis = store.redis
        self._seconds = hours * 3600.0
        self._noted: OrderedDict[tuple[str, bool], float] = OrderedDict()
        self._lock = Lock()

    @property
    def notice_seconds(self) -> float:
        """Seconds before the end during which the page says that the sandbox will be deleted."""
        return min(NOTICE_SECONDS, self._seconds / 10)

    def note(self, name: str, *, is_write: bool) -> None:
        """Note that a visitor opened the sandbox, or writes to it."""
        if not self._seconds or not self._is_due(name, is_write):
            return
        left = None if is_write else self.seconds_left(name)
        if left is None or left > self.notice_seconds:
            self._redis.zadd(USED, {name: self._store.wall()})

    def seconds_left(self, name: str) -> float | None:
        """Return the time until the sandbox is deleted if it is not used; None = it has no lifetime, or no
        use was noted yet."""
        if not self._seconds:
            return None
        used = self._redis.zscore(USED, name)
        return None if used is None else max(0.0, used + self._seconds - self._store.wall())

    def ended(self, names: set[str]) -> list[str]:
        """Return the sandboxes among these that were not used for the lifetime. One of which nothing was
        noted, as there was no lifetime before, begins now; what was noted of deleted ones is removed."""
        if not self._seconds:
            return []
        noted = {
            name.decode(): used
            for name, used in cast(
                "list[tuple[bytes, float]]", self._redis.zrange(USED, 0, -1, withscores=True)
            )
        }
        now = self._store.wall()
        if gone := noted.keys() - names:
            self._redis.zrem(USED, *gone)
        if fresh := names - noted.keys():
            self._redis.zadd(USED, dict.fromkeys(fresh, now), nx=True)
        return sorted(name for name in names & noted.keys() if noted[name] + self._seconds <= now)

    def _is_due(self, name: str, is_write: bool) -> bool:
        """Whether this process has not noted it within NOTED_SECONDS."""
        now, key = time.monotonic(), (name, is_write)
        with self._lock:
            if now - self._noted.get(key, -NOTED_SECONDS) < NOTED_SECONDS:
                return False
            self._noted[key] = now
            self._noted.move_to_end(key)
            if len(self._noted) > NOTED_AT_MOST:
                self._noted.popitem(last=False)
        return True
