"""Draws frames for the viewers of a sandbox or a room. Each of them with viewers in this process has one hub,
which reads and draws it once for all.

A frame of a sandbox is drawn from its cache as of one revision, without a command to Redis.
"""

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Final, Generic

from schedviz.live.lifecycle import Lifecycle
from schedviz.live.probe import Probe
from schedviz.live.viewer import FORBIDDEN, GONE, TRY_AGAIN_LATER, Viewer
from schedviz.live.watched import Chosen, Watched
from schedviz.log_context import note
from schedviz.metrics.server import DRAW_SECONDS
from schedviz.rooms.room_store import NoRoom
from schedviz.store import NoSandbox, Trouble, trouble_of
from schedviz.store.wall import Wall
from schedviz.tracing import trace_part
from schedviz.web.live_notices import Away, away_notice, too_many_looks
from schedviz.web.parts.parts import Parts, missing_parts
from schedviz.web.parts.screens import Drawn

log = logging.getLogger(__name__)

DRAW_SHARE: Final = 0.25
"""Share of one core for one hub: a frame that takes 100 ms of CPU time to draw is followed by a pause of
300 ms."""
DRAWING_THREADS: Final = 3
"""Threads that draw the frames of all hubs of this process. A hub waits for its turn, and its frame
then has all that changed meanwhile, so a busy process draws fewer frames. More threads would only wait for
each other, as one at a time runs Python; but one large page must not delay all others."""
CHECK_SECONDS: Final = 1.0
"""Interval of the checks for viewers that lag, and for a store that refuses writes."""
LAG_SECONDS: Final = 10.0
"""Seconds that a frame may wait for the socket before its viewer is disconnected with TRY_AGAIN_LATER."""
RETRY_SECONDS: Final = 0.5

LOOKS_AT_MOST: Final = 24
"""Maximum number of looks that are drawn for one sandbox at the same time. A filter examines every object: 50
ms for 50,000. A viewer with a further look gets a message, and the default look."""


class Hub(Generic[Chosen]):
    def __init__(self, watched: Watched[Chosen], probe: Probe) -> None:
        """probe: the probe that all hubs of the process share."""
        self.name = watched.name
        self._watched = watched
        self._probe = probe
        self._begun = False
        self._down = False
        """Whether the store does not answer."""
        self._shown: Away = None
        """The trouble that the pages show now; None = they show none."""
        self._loads = 0
        """The value of the pages' ``loads`` at the last frame."""
        self._newcomers: set[Viewer[Chosen]] = set()
        """Viewers whose next frame is the whole page."""
        self._asking: set[Viewer[Chosen]] = set()
        """Viewers with a new filter, whose next frame has the objects that match it."""
        self._rung = asyncio.Event()
        self._last_frame: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._task = asyncio.create_task(self._run(), name=f"hub of {self.name}")
        self._life = Lifecycle[Viewer[Chosen]](expired=self._task.cancel)

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

    def join(self, viewer: Viewer[Chosen]) -> None:
        """Add a viewer. Its first frame is the whole page, without the parts that it has. Raises
        :class:`schedviz.live.lifecycle.Ended`."""
        viewer.look = self._granted(viewer, viewer.look)
        self._life.join(viewer)
        self._newcomers.add(viewer)
        self.ring()

    def look(self, viewer: Viewer[Chosen], look: Chosen) -> None:
        if viewer not in self._life.members:
            return  # its connection is being closed
        look = self._granted(viewer, look)
        (self._newcomers if self._watched.redraws(viewer.look, look) else self._asking).add(viewer)
        viewer.look = look
        self.ring()

    def _granted(self, viewer: Viewer[Chosen], look: Chosen) -> Chosen:
        """Return the look, or the default look if too many are drawn already."""
        known = {each.look for each in self._life.members if each is not viewer} | {self._watched.default}
        if look in known or len(known) < LOOKS_AT_MOST:
            return look
        viewer.slot.put(too_many_looks(viewer.language))
        return self._watched.default

    def leave(self, viewer: Viewer[Chosen]) -> None:
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
        """Read what is watched, then draw a frame whenever something changes."""
        note(sandbox=self.name)
        self._watched.follow(self._rung)
        checks = asyncio.create_task(self._check())
        try:
            await self._begin()
            await self._frames()
        except (NoSandbox, NoRoom):
            self._close_all(GONE)
        except Exception:
            log.exception("hub of %s", self.name)
            self._close_all(TRY_AGAIN_LATER)
        finally:
            self._life.end()
            if self._begun:
                self._watched.screens.stop_drawing()
            self._watched.unfollow(self._rung)
            checks.cancel()
            await asyncio.wait([checks])

    async def _begin(self) -> None:
        while True:
            try:
                await asyncio.to_thread(self._watched.refresh)
                break
            except Exception as error:
                self._went_down(error)
                await asyncio.sleep(RETRY_SECONDS)
        self._down, self._begun = False, True
        await self._probe.ask(anew=True)
        self._shown = self._away()  # all viewers are sent the whole page next, with the notice
        self.ring()

    async def _frames(self) -> None:
        """Draw a frame whenever something may have changed, at the rate that ``frame_seconds`` and DRAW_SHARE
        allow."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._watched.read_seconds):
                    await self._rung.wait()
            self._rung.clear()
            took = 0.0
            match self._watched.state:
                case "gone":
                    raise NoSandbox(self.name)
                case "failed":
                    raise RuntimeError("the sandbox cannot be read")
                case "down":
                    self._went_down()
                case "current":
                    await self._came_back()
                    try:
                        took = await self._frame()
                    except Exception as error:
                        self._went_down(error)
            await asyncio.sleep(max(self._watched.frame_seconds, took / DRAW_SHARE - took))

    def _went_down(self, error: Exception | None = None) -> None:
        """Show that the store does not answer. error: what a read raised; raised again if it is not that."""
        if error is not None and trouble_of(error) is None:
            raise error
        self._down = True
        self._show_trouble()

    async def _came_back(self) -> None:
        if self._down:
            self._down = False
            await self._probe.ask(anew=True)
            self._show_trouble()

    async def _frame(self) -> float:
        """Draw what changed, and put it into the slots. Returns the CPU time that it took, in seconds."""
        watched, screens = self._watched, self._watched.screens
        newcomers, self._newcomers = self._newcomers, set()
        asking, self._asking = self._asking - newcomers, set()
        # Viewers may join, leave and change their look at any moment. The frame is for the viewers and the
        # looks of now.
        chosen = {viewer: viewer.look for viewer in self._life.members}
        looks: dict[str, set[Chosen]] = {}
        for viewer, look in chosen.items():
            looks.setdefault(viewer.language, set()).add(look)

        trace = watched.take_trace()

        def work() -> tuple[
            bool, Drawn[Chosen], dict[Viewer[Chosen], Parts], dict[Viewer[Chosen], Parts], float
        ]:
            began = time.thread_time()
            if newcomers:
                watched.refresh()  # so that the first frame has what its user wrote in another process
            with trace_part("frame", trace, sandbox=self.name), screens.lock:
                is_new = watched.update()
                drawn = screens.draw(looks)
                is_anew, self._loads = screens.loads != self._loads, screens.loads
                to_whole = {*chosen} if is_anew else newcomers & chosen.keys()
                wholes = {each: screens.whole(each.language, chosen[each]) for each in to_whole}
                finds = {each: screens.found(each.language, chosen[each]) for each in asking & chosen.keys()}
                return is_new, drawn, wholes, finds, time.thread_time() - began

        try:
            loop = asyncio.get_running_loop()
            is_new, drawn, wholes, finds, took = await loop.run_in_executor(_drawing_threads(), work)
        except Exception as error:
            if trouble_of(error) is None:
                raise
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
                parts = missing_parts(wholes[viewer], viewer.held)
                viewer.held = ""
                viewer.slot.put_whole(parts | away_notice(viewer.language, self._shown))
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
        for viewer in [*self._life.members]:
            if viewer.standing and not self._watched.admits(viewer.standing):
                self._close(viewer, FORBIDDEN)

    def _close(self, viewer: Viewer[Chosen], code: int) -> None:
        """Close the connection without waiting: it closes slowly if the browser takes no frames."""
        self.leave(viewer)
        closing = asyncio.create_task(viewer.close(code))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    def _show_trouble(self) -> None:
        """Show what is away on all pages, if they show something else. Viewers that wait for their whole page
        get it with the page, if that can be read."""
        away = self._away()
        if away != self._shown:
            self._shown = away
            for viewer in self._life.members:
                if viewer.slot.has_page or self._down:
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
