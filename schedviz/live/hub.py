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

from schedviz.live.slot import Slot
from schedviz.loop.doorbell import group
from schedviz.store import NoSandbox, Store
from schedviz.store.aio import Bundle, ended, follow
from schedviz.web.stage import WARM, Stage, away, too_many_looks
from schedviz.web.view.parts import Parts
from schedviz.web.view.screen import DEFAULT, Look

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

LOOKS_AT_MOST: Final = 24
"""Filters and groupings that are drawn for one sandbox. Each filter looks at every object, 50 ms of 50,000;
in a room where all type at once, those who come later are told to wait."""

TRY_AGAIN_LATER: Final = 1013
GONE: Final = 4404
"""The sandbox is deleted; a code that htmx does not reconnect after."""

AWAY = (RedisConnectionError, RedisTimeoutError, ConnectionError)


class Viewer:
    """A connected page: its slot, how to close it, and what it chose to see."""

    def __init__(self, language: str, close: Callable[[int], Awaitable[None]], look: Look = DEFAULT) -> None:
        self.language = language
        self.look = look
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
        self._asking: set[Viewer] = set()
        """Those with a new filter."""
        self._inbox: list[Bundle] = []
        self._rung = asyncio.Event()
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
        viewer.look = self._granted(viewer, viewer.look)
        self._newcomers.add(viewer)
        self.ring()

    def look(self, viewer: Viewer, look: Look) -> None:
        """The viewer wants to see it so from now on. Other groups are another page, and come whole."""
        look = self._granted(viewer, look)
        (self._asking if look.group == viewer.look.group else self._newcomers).add(viewer)
        viewer.look = look
        self.ring()

    def _granted(self, viewer: Viewer, look: Look) -> Look:
        """The look, or the default one where too many are being drawn."""
        known = {each.look for each in self._viewers | self._newcomers if each is not viewer} | {DEFAULT}
        if look in known or len(known) < LOOKS_AT_MOST:
            return look
        viewer.slot.put(too_many_looks(viewer.language))
        return DEFAULT

    def leave(self, viewer: Viewer) -> None:
        viewer.gone = True
        self._asking.discard(viewer)
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
        WARM[self.name] = self._stage
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
        asking, self._asking = self._asking - newcomers, set()
        # A viewer may choose another look at any moment: what is drawn is what it has chosen now.
        chosen = {viewer: viewer.look for viewer in self._viewers | newcomers}
        looks: dict[str, set[Look]] = {}
        for viewer, look in chosen.items():
            looks.setdefault(viewer.language, set()).add(look)

        def work() -> tuple[dict[str, dict[Look, Parts]], dict[Viewer, Parts]]:
            with stage.lock:
                stage.advance(bundles)
                drawn = stage.draw(looks)
                given = {each: stage.whole(each.language, chosen[each]) for each in newcomers}
                given |= {each: stage.found(each.language, chosen[each]) for each in asking if each in chosen}
                return drawn, given

        try:
            drawn, given = await asyncio.to_thread(work)
        except AWAY:
            # Nothing was drawn: all of it comes with the next frame.
            self._inbox = bundles + self._inbox
            self._newcomers |= {viewer for viewer in newcomers if not viewer.gone}
            self._asking |= {viewer for viewer in asking if not viewer.gone}
            self.ring()
            raise
        for viewer in self._viewers - newcomers:
            parts = drawn[viewer.language][chosen[viewer]] | given.get(viewer, {})
            if parts:
                viewer.slot.put(parts)
        for viewer in newcomers:
            viewer.slot.put_whole(given[viewer])
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
            viewer.slot.put(away(viewer.language))

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
