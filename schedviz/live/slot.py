"""The slot of a viewer, in which at most one frame waits."""

import asyncio
import time

from schedviz.store.wall import Wall
from schedviz.web.parts.parts import Parts, merge


class Frame:
    """Changed parts for one viewer. ``after``: the number of the frame before; 0 = this frame is the whole
    page."""

    def __init__(self, after: int, seq: int, parts: Parts) -> None:
        self.after = after
        self.seq = seq
        self.parts = parts

    def text(self, wall: Wall | None) -> str:
        """Return the frame as HTML for the websocket: its number and the wall time, if that is known, and
        then the parts, which htmx swaps by their ids."""
        now = f"{wall.now():.3f}" if wall else ""
        numbers = f'data-after="{self.after}" data-seq="{self.seq}" data-wall="{now}"'
        head = f'<div id="frame" hidden hx-swap-oob="true" {numbers}></div>'
        return head + "".join(self.parts.values())


class Slot:
    """Holds at most one frame. A newer frame is merged into it, so that it has the latest state of each part.
    A slow viewer skips states but no part, and needs no more memory than one whole page.

    The slot numbers the frames, because viewers with different looks get different frames.
    """

    def __init__(self) -> None:
        self._seq = 0
        self._waiting: Frame | None = None
        self._since = 0.0
        self._full = asyncio.Event()

    def put(self, parts: Parts) -> None:
        """Add parts that changed."""
        before, self._seq = self._seq, self._seq + 1
        if self._waiting is None:
            self._since = time.monotonic()
            self._waiting = Frame(before, self._seq, parts)
        else:
            self._waiting = Frame(self._waiting.after, self._seq, merge(self._waiting.parts, parts))
        self._full.set()

    def put_whole(self, parts: Parts) -> None:
        """Replace the waiting frame by the whole page."""
        self._seq += 1
        if self._waiting is None:
            self._since = time.monotonic()
        self._waiting = Frame(0, self._seq, parts)
        self._full.set()

    async def take(self) -> Frame:
        """Wait for a frame, and remove it from the slot."""
        await self._full.wait()
        self._full.clear()
        frame, self._waiting = self._waiting, None
        assert frame is not None
        return frame

    def lag(self) -> float:
        """Return for how many seconds the frame has waited; 0 = the slot is empty."""
        return 0.0 if self._waiting is None else time.monotonic() - self._since
