"""Telling the web processes that a sandbox changed. A bell may be lost: the streams in the store are the
truth."""

import asyncio
import logging
import threading
from functools import cache

from channels.layers import get_channel_layer

log = logging.getLogger(__name__)

MESSAGE = {"type": "doorbell"}


def group(name: str) -> str:
    """The channel-layer group of a sandbox's viewers."""
    return f"sandbox.{name}"


def ring(name: str) -> None:
    """Ring for a sandbox and go on at once. Callable from any thread."""
    _bell().ring(name)


class Bell:
    """One event loop in a thread of its own: the channel layer keeps its connections by loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._ringing: set[str] = set()
        threading.Thread(target=self._loop.run_forever, name="doorbell", daemon=True).start()

    def ring(self, name: str) -> None:
        # A ring that has not gone out yet will do for this change too: so never more than one waits for each
        # sandbox.
        if name not in self._ringing:
            self._ringing.add(name)
            asyncio.run_coroutine_threadsafe(self._send(name), self._loop)

    async def _send(self, name: str) -> None:
        self._ringing.discard(name)
        try:
            await get_channel_layer().group_send(group(name), MESSAGE)
        except Exception as error:  # a doorbell must not stop anything
            log.debug("doorbell of %s: %s", name, error)


@cache
def _bell() -> Bell:
    return Bell()
