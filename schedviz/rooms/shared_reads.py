"""Reads of rooms that the pages of one process share: when a room has changed, all of its pages ask for it at
the same time."""

import time
from threading import Lock
from typing import Final

from schedviz.rooms.room_store import Rooms, Seen

KEPT_AT_MOST: Final = 20
"""Maximum number of rooms whose last read is kept, of some 20 kB each."""


class SharedReads:
    """Reads of rooms that several callers share: one read answers all who asked before it began."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._reads: dict[str, _LastRead] = {}
        """Code of the room -> its last read; the room that was requested last is the last one."""

    def read(self, rooms: Rooms, code: str, asked: float) -> Seen:
        """Return the room as it was at the monotonic time ``asked``, or later. Raises NoRoom."""
        with self._lock:
            last = self._reads.pop(code, None) or _LastRead()
            self._reads[code] = last
            if len(self._reads) > KEPT_AT_MOST:
                del self._reads[next(iter(self._reads))]
        with last.lock:
            if last.seen is None or last.began < asked:
                began = time.monotonic()
                last.seen, last.began = rooms.read(code), began
            return last.seen


class _LastRead:
    def __init__(self) -> None:
        self.lock = Lock()
        """The lock that is held during a read: other callers wait for it."""
        self.began = 0.0
        self.seen: Seen | None = None
