"""What one viewer has yet to get: a slot, not a queue."""

import asyncio
import time
from functools import cached_property

from schedviz.web.view.parts import Parts, merge


class Frame:
    """Changed parts. ``after`` is the number of the frame before it; 0 where the frame is the whole page.
    One frame is given to all viewers of a language."""

    def __init__(self, after: int, seq: int, parts: Parts) -> None:
        self.after = after
        self.seq = seq
        self.parts = parts

    @cached_property
    def _body(self) -> str:
        return "".join(self.parts.values())

    def text(self) -> str:
        """As it goes over the socket now: parts that htmx swaps by their ids, behind the frame's number."""
        numbers = f'data-after="{self.after}" data-seq="{self.seq}" data-wall="{time.time():.3f}"'
        head = f'<div id="frame" hidden hx-swap-oob="true" {numbers}></div>'
        return head + self._body


class Slot:
    """At most one frame waits. A newer one is merged into it: of each part the viewer gets the latest
    only, so a slow viewer skips states but misses no part, and holds no more memory than one whole page."""

    def __init__(self) -> None:
        self._waiting: Frame | None = None
        self._since = 0.0
        self._full = asyncio.Event()

    def put(self, frame: Frame) -> None:
        if self._waiting is None:
            self._since = time.monotonic()
            self._waiting = frame
        elif frame.after == 0:
            self._waiting = frame
        else:
            parts = merge(self._waiting.parts, frame.parts)
            self._waiting = Frame(self._waiting.after, frame.seq, parts)
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
