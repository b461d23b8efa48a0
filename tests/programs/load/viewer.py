"""An open page of a sandbox, as far as the server can tell."""

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from schedviz.live.consumers import BEAT
from tests.programs.load import frames
from tests.programs.load.frames import Place
from tests.programs.load.site import PATIENCE, Site

NOTICE: Final = b'<section id="room"'
FRAME_AT_MOST: Final = 2**25
RETRY_SECONDS: Final = (0.25, 4.0)
"""The shortest and the longest wait before a lost connection is opened again, as in live.js."""


class Awaited:
    """A pod that a page has yet to show bound. Times by time.monotonic()."""

    def __init__(self, name: str, sent: float) -> None:
        self.link = frames.link(name)
        self.name = name
        self.sent = sent
        self.shown: float | None = None
        self.bound: float | None = None

    def take(self, frame: bytes, now: float) -> bool:
        """Whether it is bound by now."""
        place = frames.place(frame, self.link)
        if place >= Place.ANYWHERE and self.shown is None:
            self.shown = now
        if place == Place.NODE:
            self.bound = now
        return self.bound is not None


class Viewer:
    """Follows a sandbox's page until it is closed. A gap in the numbers of the frames makes it connect again,
    as in live.js; it is healed by a frame that is the whole page.

    ``frames``, ``bytes``: what it was sent, not compressed, since :meth:`open` or :meth:`restart_count`."""

    def __init__(
        self,
        site: Site,
        sandbox: str,
        on_frame: Callable[[bytes, float], None] | None = None,
        on_notice: Callable[[bytes, float], None] | None = None,
    ) -> None:
        self.site = site
        self.sandbox = sandbox
        self.frames = 0
        self.bytes = 0
        self.gaps = 0
        self.healed = 0
        self.wholes = 0
        """The whole pages that it was sent: one for each connection."""
        self.pods: list[Awaited] = []
        """All that were awaited."""
        self._awaited: dict[str, Awaited] = {}
        self.on_frame = on_frame
        self.on_notice = on_notice
        self._last = 0
        self._whole = asyncio.Event()
        self._changed = asyncio.Event()
        self._attempt = 0
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> bytes:
        """Read the page, and connect. The page."""
        page = await self.site.get(f"/s/{self.sandbox}/")
        await self.connect()
        return page

    async def connect(self) -> None:
        """Open the websocket, and wait for the first frame."""
        self._task = asyncio.create_task(self._run(), name=f"viewer of {self.sandbox}")
        try:
            await asyncio.wait_for(self._whole.wait(), PATIENCE)
        except TimeoutError:
            self.site.errors.append(f"{self.sandbox}: no frame within {PATIENCE:g} s")

    def restart_count(self) -> None:
        self.frames = self.bytes = 0

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def expect(self, pod: str) -> Awaited:
        """The pod is being sent now."""
        awaited = self._awaited[pod] = Awaited(pod, time.monotonic())
        self.pods.append(awaited)
        return awaited

    async def settled(self, deadline: float) -> None:
        """Wait until all pods that were expected are shown bound, or for the deadline by time.monotonic()."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                while self._awaited:
                    self._changed.clear()
                    await self._changed.wait()

    async def _run(self) -> None:
        url = f"{self.site.socket_origin}/s/{self.sandbox}/live/?lang=en&group=&q=&shown=1"
        while True:
            try:
                async with connect(
                    url,
                    origin=self.site.origin,
                    additional_headers=self.site.cookie_header,
                    max_size=FRAME_AT_MOST,
                    open_timeout=PATIENCE,
                    proxy=None,
                ) as socket:
                    self._attempt = 0
                    while self.take(frame := await socket.recv(decode=False)):
                        if said := frames.shown(frame):
                            await socket.send(said)
                self._last = 0
                continue
            except ConnectionClosed as closed:
                code = closed.rcvd.code if closed.rcvd else 1006
                self.site.errors.append(f"{self.sandbox}: websocket closed with {code}")
            except (InvalidHandshake, OSError, TimeoutError) as error:
                self.site.errors.append(f"{self.sandbox}: no websocket: {type(error).__name__}: {error}")
            self._last = 0
            shortest, longest = RETRY_SECONDS
            await asyncio.sleep(min(longest, shortest * 2**self._attempt) * random.uniform(0.5, 1.0))
            self._attempt += 1

    def take(self, frame: bytes) -> bool:
        """A frame has come, a beat, or the notice of a room. False where a frame is missing before this
        one."""
        now = time.monotonic()
        if frame == BEAT.encode():
            return True
        if frame.lstrip().startswith(NOTICE):
            if self.on_notice:
                self.on_notice(frame, now)
            return True
        self.frames += 1
        self.bytes += len(frame)
        number = frames.numbers(frame)
        if number is None:
            self.site.errors.append(f"{self.sandbox}: not a frame: {frame[:100]!r}")
            return True
        if number.after not in (0, self._last):
            self.gaps += 1
            return False
        if number.after == 0:
            self.healed = self.gaps
            self.wholes += 1
            self._whole.set()
        self._last = number.seq
        if self._awaited:
            bound = [pod.name for pod in self._awaited.values() if pod.take(frame, now)]
            for name in bound:
                del self._awaited[name]
            if bound:
                self._changed.set()
        if self.on_frame:
            self.on_frame(frame, now)
        return True
