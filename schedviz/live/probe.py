"""Asks the store regularly for its time, and whether it stores writes."""

import asyncio
import logging
import time
from typing import Final

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
        self.wall: Wall | None = None
        """The wall time; None before the first answer."""

    async def ask(self, *, anew: bool = False) -> None:
        """Ask the store, unless it was asked within EVERY_SECONDS. ``anew``: ask in any case."""
        if not anew and time.monotonic() - self._asked < EVERY_SECONDS:
            return
        self._asked = time.monotonic()
        try:
            seconds, self.trouble = await asyncio.to_thread(self._store.probe)
            self.wall = Wall(seconds)
        except Exception as error:
            self.trouble = trouble_of(error)
            if self.trouble is None:
                log.exception("the probe of the store")
