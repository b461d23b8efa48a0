"""Asks the store regularly for its time, whether it stores writes, and whether a worker is alive."""

import asyncio
import logging
import time
from typing import Final

from schedviz.loop.leadership import living_workers
from schedviz.store import Store, Trouble, trouble_of
from schedviz.store.wall import Wall

log = logging.getLogger(__name__)

EVERY_SECONDS: Final = 1.0
"""The shortest interval between two requests, for all hubs of a process."""


class Probe:
    """The last answer of the store. Only the thread of one event loop may use it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked = -EVERY_SECONDS
        self.trouble: Trouble | None = None
        self.worker_away = False
        """Whether the store answers, and no worker is alive."""
        self.wall: Wall | None = None
        """The wall time; None before the first answer."""

    async def ask(self, *, anew: bool = False) -> None:
        """Ask the store, unless it was asked within EVERY_SECONDS. ``anew``: ask in any case."""
        if not anew and time.monotonic() - self._asked < EVERY_SECONDS:
            return
        self._asked = time.monotonic()
        try:
            seconds, self.trouble, self.worker_away = await asyncio.to_thread(self._read)
            self.wall = Wall(seconds)
        except Exception as error:
            self.trouble, self.worker_away = trouble_of(error), False
            if self.trouble is None:
                log.exception("the probe of the store")

    def _read(self) -> tuple[float, Trouble | None, bool]:
        seconds, trouble = self._store.probe()
        return seconds, trouble, not living_workers(self._store)
