"""The doorbell: a channel-layer message to the web processes that a sandbox has changed.

The message may be lost. Web processes read the changes from the streams in the store, also without it."""

import asyncio
import atexit
import logging
import threading
from concurrent.futures import wait
from functools import cache
from typing import Final

from channels.layers import get_channel_layer

from schedviz.tracing import context

log = logging.getLogger(__name__)

RING_SECONDS: Final = 0.05
"""The shortest time between two messages for one sandbox: frames are drawn at most 20 times a second."""
REMEMBERED: Final = 500
"""Maximum number of sandboxes whose last message is kept, before older ones are dropped: as many as there
may be."""
CLOSE_SECONDS: Final = 3.0
"""The longest time for which the end of a process waits for the messages that are not sent yet."""


def group(name: str) -> str:
    """Return the channel-layer group of the processes that follow a sandbox."""
    return f"sandbox.{name}"


def ring(name: str) -> None:
    """Send the message for a sandbox, at most one per RING_SECONDS, without waiting for it. May be called
    from any thread."""
    _doorbell().ring(name)


class Doorbell:
    """Sends the messages from one event loop in its own thread, as the channel layer keeps one connection per
    event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._ringing: dict[str, str] = {}
        """Sandboxes whose message is yet to be sent, with the context of its trace: it is for what is written
        until then, too."""
        self._sent: dict[str, float] = {}
        self._thread = threading.Thread(target=self._loop.run_forever, name="doorbell", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def ring(self, name: str) -> None:
        # A message that is not sent yet also covers this change, so at most one waits per sandbox.
        if name not in self._ringing:
            self._ringing[name] = context()
            asyncio.run_coroutine_threadsafe(self._send(name), self._loop)

    def close(self) -> None:
        """Send the messages that wait, and end the thread; both within CLOSE_SECONDS.

        A thread that runs native code while the interpreter shuts down can abort the process, as the import
        of the channel layer's cryptography does."""
        if not self._thread.is_alive():  # of the process that forked this one
            return
        sent = asyncio.run_coroutine_threadsafe(self._wait_for_sends(), self._loop)
        wait([sent], CLOSE_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_SECONDS)

    async def _wait_for_sends(self) -> None:
        if sends := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(sends)

    async def _send(self, name: str) -> None:
        now = self._loop.time()
        due = self._sent.get(name, now - RING_SECONDS) + RING_SECONDS
        if due > now:
            await asyncio.sleep(due - now)
        trace = self._ringing.pop(name, "")
        self._note_sent(name)
        try:
            await get_channel_layer().group_send(
                group(name), {"type": "doorbell", "sandbox": name, "trace": trace}
            )
        except Exception as error:  # a lost message does no harm
            log.debug("doorbell of %s: %s", name, error)

    def _note_sent(self, name: str) -> None:
        now = self._loop.time()
        if len(self._sent) >= REMEMBERED:
            self._sent = {each: at for each, at in self._sent.items() if now - at < RING_SECONDS}
        self._sent[name] = now


@cache
def _doorbell() -> Doorbell:
    return Doorbell()
