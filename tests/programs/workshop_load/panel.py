"""The panel of a lesson as the learner's page has it, kept up to date as static/js/lesson.js does."""

import asyncio
import re
import time
from contextlib import suppress
from typing import Final

from tests.programs.workshop_load.visitor import Fields, Visitor

STEP: Final = re.compile(rb'id="lesson-panel"\s+data-step="([^"]*)"')
SHOWN: Final = re.compile(rb'name="shown" value="(\w+)"')
GOAL: Final = re.compile(rb'<li class="goal( done)?" data-goal="([^"]*)">')
ASK_SECONDS: Final = 0.3
"""The shortest time between two looks because of frames, as in static/js/lesson.js."""


class PanelNow:
    """What a panel shows."""

    def __init__(self, html: bytes) -> None:
        step, shown = STEP.search(html), SHOWN.search(html)
        if step is None or shown is None:
            raise ValueError(f"not a panel: {html[:200]!r}")
        self.step = step[1].decode()
        self.shown = shown[1].decode()
        self.goals = {found[2].decode() for found in GOAL.finditer(html) if found[1]}
        self.answered = b'id="lesson-answer"' in html
        self.submitted = b'id="lesson-submitted"' in html
        self.finished = b'id="lesson-end"' in html
        self.complete = self.finished or b'id="lesson-next"' in html


class Panel:
    """``now``: what the page shows. ``reached``: by step and check, the time from which on the page could
    have shown a goal as done, which is that of the first frame after the last look that did not show it, and
    the time when it did. Times by time.monotonic()."""

    def __init__(self, site: Visitor, sandbox: str, page: bytes) -> None:
        self.now = PanelNow(page)
        self.reached: dict[tuple[str, str], tuple[float, float]] = {}
        self._site = site
        self._path = f"/s/{sandbox}/lesson/"
        self._changed = asyncio.Event()
        self._ask = asyncio.Event()
        self._turn = asyncio.Lock()
        self._looking: asyncio.Task[bytes] | None = None
        self._looked = self._since = time.monotonic()
        self._task = asyncio.create_task(self._follow())
        self._pause: asyncio.TimerHandle | None = None
        self._frame_waits = False

    def note_frame(self, now: float) -> None:
        """Load the panel after a frame: at once after the first of several, and again after the last."""
        if self._since <= self._looked:
            self._since = now
        if self._pause is None:
            self._ask_after_frame()
        else:
            self._frame_waits = True

    def note_act(self) -> None:
        """The learner acts now: what the act makes true is awaited from now on."""
        self._looked, self._since = 0.0, time.monotonic()

    def ask(self) -> None:
        self._ask.set()

    async def post(self, fields: Fields) -> None:
        """Send one of the panel's own forms. A running request for the panel is cancelled."""
        if self._looking:
            self._looking.cancel()
        async with self._turn:
            html = await self._site.post_part(self._path, {"step": self.now.step, **fields})
            self._take(html, self._since)

    async def shows(self, wanted: str, seconds: float) -> bool:
        """Wait until an attribute of ``now`` is true. Returns whether it is."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not getattr(self.now, wanted):
                    self._changed.clear()
                    await self._changed.wait()
        return bool(getattr(self.now, wanted))

    async def shows_step(self, step: str) -> None:
        """Wait until the panel shows this step."""
        while self.now.step != step:
            self._changed.clear()
            await self._changed.wait()

    async def close(self) -> None:
        if self._pause:
            self._pause.cancel()
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    def _ask_after_frame(self) -> None:
        self._frame_waits = False
        self._pause = asyncio.get_running_loop().call_later(ASK_SECONDS, self._end_pause)
        self.ask()

    def _end_pause(self) -> None:
        self._pause = None
        if self._frame_waits:
            self._ask_after_frame()

    async def _follow(self) -> None:
        while True:
            await self._ask.wait()
            self._ask.clear()
            async with self._turn:
                asked = time.monotonic()
                self._looking = asyncio.create_task(
                    self._site.get_part(f"{self._path}?shown={self.now.shown}")
                )
                await asyncio.wait([self._looking])
                if not self._looking.cancelled() and (html := self._looking.result()):
                    self._take(html, self._since)
                if not self._looking.cancelled():
                    self._looked = asked
                self._looking = None

    def _take(self, html: bytes, since: float) -> None:
        if not html:
            return
        before, self.now = self.now, PanelNow(html)
        if before.step == self.now.step:
            for goal in self.now.goals - before.goals:
                self.reached[self.now.step, goal] = (since, time.monotonic())
        else:
            for goal in self.now.goals:
                self.reached[self.now.step, goal] = (since, time.monotonic())
        self._changed.set()
