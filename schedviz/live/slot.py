"""What one viewer has yet to get: a slot, not a queue."""

import asyncio
import time

from schedviz.store.wall import Wall
from schedviz.web.presenters.parts import Parts, merge


class Frame:
    """Changed parts for one viewer. ``after`` is the number of the frame before it; 0 where the frame is the
    whole page."""

    def __init__(self, after: int, seq: int, parts: Parts) -> None:
        self.after = after
        self.seq = seq
        self.parts = parts

    def text(self, wall: Wall | None) -> str:
        """As it goes over the socket now: parts that htmx swaps by their ids, behind the frame's number and
        the wall time, where that is known."""
        now = f"{wall.now():.3f}" if wall else ""
        numbers = f'data-after="{self.after}" data-seq="{self.seq}" data-wall="{now}"'
        head = f'<div id="frame" hidden hx-swap-oob="true" {numbers}></div>'
        return head + "".join(self.parts.values())


class Slot:
    """At most one frame waits. A newer one is merged into it: of each part the viewer gets the latest
    only, so a slow viewer skips states but misses no part, and holds no more memory than one whole page.

    Frames are numbered here: viewers with different filters and groups are sent different ones.
    """

    def __init__(self) -> None:
        self._seq = 0
        self._waiting: Frame | None = None
        self._since = 0.0
        self._full = asyncio.Event()

    def put(self, parts: Parts) -> None:
        """What changed since the last call."""
        before, self._seq = self._seq, self._seq + 1
        if self._waiting is None:
            self._since = time.monotonic()
            self._waiting = Frame(before, self._seq, parts)
        else:
            self._waiting = Frame(self._waiting.after, self._seq, merge(self._waiting.parts, parts))
        self._full.set()

    def put_whole(self, parts: Parts) -> None:
        """The whole page: nothing from before matters any more."""
        self._seq += 1
        if self._waiting is None:
            self._since = time.monotonic()
        self._waiting = Frame(0, self._seq, parts)
        self._full.set()

    async def take(self) -> Frame:
        await self._full.wait()
        self._full.clear()
        frame, self._waiting = self._waiting, None
        assert frame is not None
        return frame

    def lag(self) -> float:
        """For how many seconds the waiting frame has been waiting."""
        return 0.0 if self._waiting is None else time.monotonic() - self._since
