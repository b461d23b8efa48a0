"""The slot of a viewer, in which at most one frame waits."""

import asyncio
import time

from schedviz.store.wall import Wall
from schedviz.web.parts.parts import Parts, merge


class Frame:
    """Changed parts for one viewer. ``after``: the number of the frame before; 0 = this frame is the whole
    page. ``since``: when the first of them was put into the slot, by time.monotonic()."""

    def __init__(self, after: int, seq: int, parts: Parts, since: float) -> None:
        self.after = after
        self.seq = seq
        self.parts = parts
        self.since = since

    def waited(self) -> float:
        return time.monotonic() - self.since

    def text(self, wall: Wall | None) -> str:
        """Return the frame as HTML for the websocket: its number, the wall time, if that is known, the
        seconds that it has waited, and then the parts, which htmx swaps by their ids."""
        now = f"{wall.now():.3f}" if wall else ""
        numbers = f'data-after="{self.after}" data-seq="{self.seq}" data-wall="{now}"'
        numbers += f' data-waited="{self.waited():.1f}"'
        head = f'<div id="frame" hidden hx-swap-oob="true" {numbers}></div>'
        return head + "".join(self.parts.values())


class Slot:
    """Holds at most one frame. A newer frame is merged into it, so that it has the latest state of each part.
    A slow viewer skips states but no part, and needs no more memory than one whole page.

    The slot numbers the frames, because viewers with different looks get different frames.
    """

    def __init__(self, *, says_shown: bool = False) -> None:
        """says_shown: whether the page says which frame it has shown. It gets the next one then, so that
        frames that come faster than it shows them wait here, and not in the browser."""
        self.has_page = False
        """Whether the whole page was put into it."""
        self._says_shown = says_shown
        self._seq = 0
        self._waiting: Frame | None = None
        self._under_way = 0
        """The number of the frame that was taken and is not shown yet; 0 = none, or the page does not say."""
        self._ready = asyncio.Event()
        """Set while a frame may be taken."""

    def put(self, parts: Parts) -> None:
        """Add parts that changed."""
        before, self._seq = self._seq, self._seq + 1
        if self._waiting:
            before, parts = self._waiting.after, merge(self._waiting.parts, parts)
        self._keep(before, parts)

    def put_whole(self, parts: Parts) -> None:
        """Replace the waiting frame by the whole page."""
        self.has_page = True
        self._seq += 1
        self._keep(0, parts)

    def _keep(self, after: int, parts: Parts) -> None:
        since = self._waiting.since if self._waiting else time.monotonic()
        self._waiting = Frame(after, self._seq, parts, since)
        if not self._under_way:
            self._ready.set()

    async def take(self) -> Frame:
        """Wait for a frame, and remove it from the slot."""
        await self._ready.wait()
        self._ready.clear()
        frame, self._waiting = self._waiting, None
        assert frame is not None
        if self._says_shown:
            self._under_way = frame.seq
        return frame

    def note_shown(self, seq: int) -> None:
        """Note that the page has shown the frame with this number."""
        if seq == self._under_way:
            self._under_way = 0
            if self._waiting:
                self._ready.set()

    def lag(self) -> float:
        """Return for how many seconds the frame has waited for the socket; 0 = there is none, or it waits
        for the page."""
        return self._waiting.waited() if self._waiting and not self._says_shown else 0.0
