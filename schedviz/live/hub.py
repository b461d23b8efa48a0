"""One hub for each sandbox that somebody watches in this process: it follows the store and feeds the viewers.

The store's streams are the truth; the channel layer's doorbell tells at once of what no stream carries
(the clock), and as a bell may be lost, the hub also looks by itself every POLL_SECONDS.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Final

from channels.layers import get_channel_layer
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from schedviz.live.slot import Frame, Slot
from schedviz.loop.doorbell import group
from schedviz.store import NoSandbox, Store
from schedviz.store.aio import Bundle, ended, follow
from schedviz.web.stage import Stage, away
from schedviz.web.view.parts import Parts

log = logging.getLogger(__name__)

FRAME_SECONDS: Final = 0.05
"""At most 20 frames a second: more is not seen, and each costs every viewer a repaint."""
DRAW_SHARE: Final = 0.25
"""Of one core, for one sandbox: a frame that took 100 ms to draw is followed by 300 ms of rest."""
POLL_SECONDS: Final = 1.0
LAG_SECONDS: Final = 10.0
"""A viewer that has not taken a frame for so long is told to come back later (1013)."""
LINGER_SECONDS: Final = 5.0
"""How long a hub outlives its last viewer: a reload comes back to a warm hub."""
RETRY_SECONDS: Final = 0.5
VIEWERS_AT_MOST: Final = 1000
"""Of this process; each may hold a whole page in its slot. Others are told to try again later."""

TRY_AGAIN_LATER: Final = 1013
GONE: Final = 4404
"""The sandbox is deleted; a code that htmx does not reconnect after."""

AWAY = (RedisConnectionError, RedisTimeoutError, ConnectionError)


class Viewer:
    """A connected page: its slot, and how to close it."""

    def __init__(self, language: str, close: Callable[[int], Awaitable[None]]) -> None:
        self.language = language
        self.slot = Slot()
        self.close = close
        self.gone = False


class Hub:
    def __init__(self, store: Store, name: str) -> None:
        self.name = name
        self._store = store
        self._stage: Stage | None = None
        self._viewers: set[Viewer] = set()
        self._newcomers: set[Viewer] = set()
        self._inbox: list[Bundle] = []
        self._rung = asyncio.Event()
        self._seq = 0
        self._leaving: asyncio.TimerHandle | None = None
        self._expired = False
        self._task = asyncio.create_task(self._run(), name=f"hub of {name}")

    @property
    def done(self) -> bool:
        """Nobody may join any more."""
        return self._expired or self._task.done()

    @property
    def viewers(self) -> int:
        return len(self._viewers | self._newcomers)

    def join(self, viewer: Viewer) -> None:
        """The viewer's first frame is the whole page."""
        if self._leaving:
            self._leaving.cancel()
        self._newcomers.add(viewer)
        self.ring()

    def leave(self, viewer: Viewer) -> None:
        viewer.gone = True
        self._viewers.discard(viewer)
        self._newcomers.discard(viewer)
        if not self._viewers and not self._newcomers:
            self._leaving = asyncio.get_running_loop().call_later(LINGER_SECONDS, self._expire)

    def _expire(self) -> None:
        self._expired = True
        self._task.cancel()

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])

    def ring(self) -> None:
        """There may be something new."""
        self._rung.set()

    async def _run(self) -> None:
        """Recipe: load; follow the streams; draw a frame when something came; begin again after a fault."""
        helpers = [asyncio.create_task(self._listen()), asyncio.create_task(self._poll())]
        try:
            while True:
                try:
                    await self._follow()
                except AWAY:
                    self._tell_away()
                    await asyncio.sleep(RETRY_SECONDS)
        except NoSandbox:
            await self._close_all(GONE)
        except Exception:
            log.exception("hub of %s", self.name)
            await self._close_all(TRY_AGAIN_LATER)
        finally:
            await ended(*helpers)

    async def _follow(self) -> None:
        sandbox = await asyncio.to_thread(self._store.sandbox, self.name)
        self._stage = Stage(sandbox)
        version, seq = await asyncio.to_thread(self._stage.load)
        self._inbox.clear()
        self._newcomers |= self._viewers
        self.ring()
        tasks = [asyncio.create_task(self._frames()), asyncio.create_task(self._read(version, seq))]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await ended(*tasks)

    async def _read(self, version: int, seq: int) -> None:
        """Take in the streams until they must be read anew."""
        async with aclosing(follow(self._store.redis_url, self.name, version, seq)) as bundles:
            async for bundle in bundles:
                if bundle.state == "reset":
                    return
                if bundle.state == "down":
                    self._tell_away()
                else:
                    self._inbox.append(bundle)
                    self.ring()

    async def _frames(self) -> None:
        """A frame whenever something may be new, but not too often."""
        clock = asyncio.get_running_loop().time
        while True:
            await self._rung.wait()
            self._rung.clear()
            began = clock()
            with suppress(*AWAY):  # the follower tells, and a reset follows
                await self._frame()
            took = clock() - began
            await asyncio.sleep(max(FRAME_SECONDS, took / DRAW_SHARE) - took)

    async def _frame(self) -> None:
        assert self._stage is not None
        stage, bundles, self._inbox = self._stage, self._inbox, []
        newcomers, self._newcomers = self._newcomers, set()
        languages = {viewer.language for viewer in self._viewers | newcomers}

        arriving = {viewer.language for viewer in newcomers}

        def work() -> tuple[dict[str, Parts], dict[str, Parts]]:
            stage.advance(bundles)
            drawn = stage.draw(languages)
            return drawn, {language: stage.whole(language) for language in arriving}

        try:
            drawn, whole = await asyncio.to_thread(work)
        except AWAY:
            # Nothing was drawn: all of it comes with the next frame.
            self._inbox = bundles + self._inbox
            self._newcomers |= {viewer for viewer in newcomers if not viewer.gone}
            self.ring()
            raise
        if any(drawn.values()):
            self._seq += 1
        deltas = {name: Frame(self._seq - 1, self._seq, parts) for name, parts in drawn.items() if parts}
        wholes = {name: Frame(0, self._seq, parts) for name, parts in whole.items()}
        for viewer in self._viewers - newcomers:
            if viewer.language in deltas:
                viewer.slot.put(deltas[viewer.language])
        for viewer in newcomers:
            viewer.slot.put(wholes[viewer.language])
        self._viewers |= {viewer for viewer in newcomers if not viewer.gone}
        await self._close_laggards()

    async def _close_laggards(self) -> None:
        for viewer in [viewer for viewer in self._viewers if viewer.slot.lag() > LAG_SECONDS]:
            self._viewers.discard(viewer)
            await viewer.close(TRY_AGAIN_LATER)

    async def _close_all(self, code: int) -> None:
        for viewer in self._viewers | self._newcomers:
            await viewer.close(code)

    def _tell_away(self) -> None:
        """Until the store is back, viewers are newcomers: what comes next is whole."""
        for viewer in self._viewers | self._newcomers:
            viewer.slot.put(Frame(self._seq, self._seq, away(viewer.language)))

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            self.ring()

    async def _listen(self) -> None:
        """The doorbell. A layer whose Redis is away is no fault: the poll goes on."""
        while True:
            try:
                layer = get_channel_layer()
                channel = await layer.new_channel()
                await layer.group_add(group(self.name), channel)
                while True:
                    await layer.receive(channel)
                    self.ring()
            except AWAY:
                await asyncio.sleep(RETRY_SECONDS)


class Hubs:
    """The hubs of this process."""

    def __init__(self) -> None:
        self._hubs: dict[str, Hub] = {}

    def full(self) -> bool:
        return sum(hub.viewers for hub in self._hubs.values()) >= VIEWERS_AT_MOST

    def of(self, store: Store, name: str) -> Hub:
        """The sandbox's hub, made when nobody watched it yet."""
        for other in [other for other, hub in self._hubs.items() if hub.done]:
            del self._hubs[other]
        if name not in self._hubs:
            self._hubs[name] = Hub(store, name)
        return self._hubs[name]
