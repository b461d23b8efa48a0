"""Draws frames for the viewers of a sandbox. Each sandbox with viewers in this process has one hub.

A frame is drawn from the sandbox's cache as of one revision, without a command to Redis.
"""

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Final

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from schedviz.cache.caches import caches_of
from schedviz.live.lifecycle import Lifecycle
from schedviz.live.probe import Probe
from schedviz.live.viewer import FORBIDDEN, GONE, TRY_AGAIN_LATER, Viewer
from schedviz.log_context import note
from schedviz.metrics.server import DRAW_SECONDS
from schedviz.store import NoSandbox, Store, Trouble
from schedviz.store.wall import Wall
from schedviz.tracing import trace_part
from schedviz.web.presenters.parts import Parts
from schedviz.web.presenters.screen import DEFAULT, Look
from schedviz.web.screens import Away, Drawn, SandboxScreens, away_notice, screens_of, too_many_looks

log = logging.getLogger(__name__)

FRAME_SECONDS: Final = 0.05
"""Seconds between two frames: at most 20 frames a second. People see no difference between more of them, and
browsers paint again for each."""
DRAW_SHARE: Final = 0.25
"""Share of one core for one sandbox: a frame that takes 100 ms of CPU time to draw is followed by a pause of
300 ms."""
DRAWING_THREADS: Final = 3
"""Threads that draw the frames of all sandboxes of this process. A sandbox waits for its turn, and its frame
then has all that changed meanwhile, so a busy process draws fewer frames. More threads would only wait for
each other, as one at a time runs Python; but one large page must not delay all others."""
CHECK_SECONDS: Final = 1.0
"""Interval of the checks for viewers that lag, and for a store that refuses writes."""
LAG_SECONDS: Final = 10.0
"""Seconds that a frame may wait before its viewer is disconnected with TRY_AGAIN_LATER."""
RETRY_SECONDS: Final = 0.5

LOOKS_AT_MOST: Final = 24
"""Maximum number of looks that are drawn for one sandbox at the same time. A filter examines every object: 50
ms for 50,000. A viewer with a further look gets a message, and the default look."""

AWAY = (RedisConnectionError, RedisTimeoutError, ConnectionError)


class Hub:
    def __init__(self, store: Store, name: str, probe: Probe | None = None) -> None:
        """probe: the probe that all hubs of the process share; None = a new one."""
        self.name = name
        self._store = store
        self._probe = probe or Probe(store)
        self._caches = caches_of(store)
        self._cache = self._caches.follow(name)
        self._down = False
        """Whether the store does not answer."""
        self._shown: Away = None
        """The trouble that the pages show now; None = they show none."""
        self._screens: SandboxScreens | None = None
        self._loads = 0
        """The value of the stage's ``loads`` at the last frame."""
        self._newcomers: set[Viewer] = set()
        """Viewers whose next frame is the whole page."""
        self._asking: set[Viewer] = set()
        """Viewers with a new filter, whose next frame has the objects that match it."""
        self._rung = asyncio.Event()
        self._last_frame: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._task = asyncio.create_task(self._run(), name=f"hub of {name}")
        self._life = Lifecycle[Viewer](expired=self._task.cancel)

    @property
    def ended(self) -> bool:
        """Whether no viewer can join any more."""
        return self._life.state == "ended"

    @property
    def viewers(self) -> int:
        return len(self._life.members)

    @property
    def wall(self) -> Wall | None:
        """The wall time; None = Redis has not answered yet."""
        return self._probe.wall

    def join(self, viewer: Viewer) -> None:
        """Add a viewer. Its first frame is the whole page. Raises :class:`schedviz.live.lifecycle.Ended`."""
        viewer.look = self._granted(viewer, viewer.look)
        self._life.join(viewer)
        self._newcomers.add(viewer)
        self.ring()

    def look(self, viewer: Viewer, look: Look) -> None:
        """Change the look of a viewer. If the grouping changes, its next frame is the whole page."""
        if viewer not in self._life.members:
            return  # its connection is being closed
        look = self._granted(viewer, look)
        (self._asking if look.group == viewer.look.group else self._newcomers).add(viewer)
        viewer.look = look
        self.ring()

    def _granted(self, viewer: Viewer, look: Look) -> Look:
        """Return the look, or the default look if too many are drawn already."""
        known = {each.look for each in self._life.members if each is not viewer} | {DEFAULT}
        if look in known or len(known) < LOOKS_AT_MOST:
            return look
        viewer.slot.put(too_many_looks(viewer.language))
        return DEFAULT

    def leave(self, viewer: Viewer) -> None:
        """Remove a viewer. Nothing changes if it was removed before."""
        self._asking.discard(viewer)
        self._newcomers.discard(viewer)
        self._life.leave(viewer)

    async def stop(self) -> None:
        self._life.end()
        self._task.cancel()
        await asyncio.wait([self._task, *self._closing])

    def ring(self) -> None:
        """Draw a frame soon: something may have changed."""
        self._rung.set()

    async def _run(self) -> None:
        """Read the sandbox, then draw a frame whenever something changes."""
        note(sandbox=self.name)
        self._cache.listeners.add(self._rung)
        checks = asyncio.create_task(self._check())
        try:
            await self._begin()
            await self._frames()
        except NoSandbox:
            self._close_all(GONE)
        except Exception:
            log.exception("hub of %s", self.name)
            self._close_all(TRY_AGAIN_LATER)
        finally:
            self._life.end()
            if self._screens:
                self._screens.stop_drawing()
            self._cache.listeners.remove(self._rung)
            self._caches.unfollow(self._cache)
            checks.cancel()
            await asyncio.wait([checks])

    async def _begin(self) -> None:
        while True:
            try:
                await asyncio.to_thread(self._cache.refresh)
                break
            except AWAY:
                self._down = True
                self._show_trouble()
                await asyncio.sleep(RETRY_SECONDS)
        self._down = False
        self._screens = screens_of(self._cache)
        await self._probe.ask(anew=True)
        self._shown = self._away()  # all viewers are sent the whole page next, with the notice
        self.ring()

    async def _frames(self) -> None:
        """Draw a frame whenever something may have changed, at the rate that FRAME_SECONDS and DRAW_SHARE
        allow."""
        while True:
            await self._rung.wait()
            self._rung.clear()
            took = 0.0
            match self._cache.state:
                case "gone":
                    raise NoSandbox(self.name)
                case "failed":
                    raise RuntimeError("the sandbox cannot be read")
                case "down":
                    self._down = True
                    self._show_trouble()
                case "current":
                    await self._came_back()
                    with suppress(*AWAY):  # the cache soon has the state "down"
                        took = await self._frame()
            await asyncio.sleep(max(FRAME_SECONDS, took / DRAW_SHARE - took))

    async def _came_back(self) -> None:
        if self._down:
            self._down = False
            await self._probe.ask(anew=True)
            self._show_trouble()

    async def _frame(self) -> float:
        """Draw what changed, and put it into the slots. Returns the CPU time that it took, in seconds."""
        assert self._screens is not None
        screens = self._screens
        newcomers, self._newcomers = self._newcomers, set()
        asking, self._asking = self._asking - newcomers, set()
        # Viewers may join, leave and change their look at any moment. The frame is for the viewers and the
        # looks of now.
        chosen = {viewer: viewer.look for viewer in self._life.members}
        looks: dict[str, set[Look]] = {}
        for viewer, look in chosen.items():
            looks.setdefault(viewer.language, set()).add(look)

        trace, self._cache.trace = self._cache.trace, ""

        def work() -> tuple[bool, Drawn, dict[Viewer, Parts], dict[Viewer, Parts], float]:
            began = time.thread_time()
            if newcomers:
                self._cache.refresh()  # so that the first frame has what its user wrote in another process
            with trace_part("frame", trace, sandbox=self.name), screens.lock:
                is_new = screens.update(self._cache)
                drawn = screens.draw(looks)
                is_anew, self._loads = screens.loads != self._loads, screens.loads
                to_whole = {*chosen} if is_anew else newcomers & chosen.keys()
                wholes = {each: screens.whole(each.language, chosen[each]) for each in to_whole}
                finds = {each: screens.found(each.language, chosen[each]) for each in asking & chosen.keys()}
                return is_new, drawn, wholes, finds, time.thread_time() - began

        try:
            loop = asyncio.get_running_loop()
            is_new, drawn, wholes, finds, took = await loop.run_in_executor(_drawing_threads(), work)
        except AWAY:
            # Nothing was drawn; the next frame has all of it.
            self._newcomers |= newcomers & self._life.members
            self._asking |= asking & self._life.members
            loop.call_later(RETRY_SECONDS, self.ring)
            raise
        DRAW_SECONDS.observe(took)
        if is_new:
            # Filters are not applied in every frame. A frame after the last change applies them.
            if self._last_frame:
                self._last_frame.cancel()
            self._last_frame = loop.call_later(CHECK_SECONDS, self.ring)
        self._close_forbidden()
        for viewer in chosen.keys() & self._life.members:
            parts = drawn[viewer.language][chosen[viewer]] | finds.get(viewer, {})
            if viewer in wholes:
                viewer.slot.put_whole(wholes[viewer] | away_notice(viewer.language, self._shown))
            elif parts or is_new:
                # Also a frame without a part says that something has changed: open panels follow it.
                viewer.slot.put(parts)
        return took

    def _close_all(self, code: int) -> None:
        self._life.end()
        for viewer in [*self._life.members]:
            self._close(viewer, code)

    def _close_forbidden(self) -> None:
        """Close the connections of viewers whose right was withdrawn."""
        access = self._cache.access
        for viewer in [*self._life.members]:
            if viewer.standing and not viewer.standing.holds(access):
                self._close(viewer, FORBIDDEN)

    def _close(self, viewer: Viewer, code: int) -> None:
        """Close the connection without waiting: it closes slowly if the browser takes no frames."""
        self.leave(viewer)
        closing = asyncio.create_task(viewer.close(code))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    def _show_trouble(self) -> None:
        """Show what is away on all pages, if they show something else."""
        away = self._away()
        if away != self._shown:
            self._shown = away
            for viewer in self._life.members:
                viewer.slot.put(away_notice(viewer.language, away))

    def _away(self) -> Away:
        if self._down:
            return Trouble.AWAY
        return self._probe.trouble or ("worker" if self._probe.worker_away else None)

    async def _check(self) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            await self._probe.ask()
            self._show_trouble()
            for viewer in [*self._life.members]:
                if viewer.slot.lag() > LAG_SECONDS:
                    self._close(viewer, TRY_AGAIN_LATER)


@cache
def _drawing_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(DRAWING_THREADS, thread_name_prefix="draw")
