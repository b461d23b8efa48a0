"""What a web process knows of its store: whether it stores anything now, and its time."""

import asyncio
import logging
import time
from typing import Final

from schedviz.store import Store, Trouble, trouble_of
from schedviz.store.wall import Wall

log = logging.getLogger(__name__)

EVERY_SECONDS: Final = 1.0
"""However many hubs ask."""


class Probe:
    """Used by one event loop's thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked = -EVERY_SECONDS
        self.trouble: Trouble | None = None
        self.wall: Wall | None = None
        """None before the first answer."""

    async def ask(self, *, anew: bool = False) -> None:
        """Ask the store, unless that was done just now and is not to be done ``anew``."""
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
