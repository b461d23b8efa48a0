"""The teacher: opens the room, and follows the lines of the learners in the teacher's view."""

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from tests.programs.load import frames
from tests.programs.load.site import PATIENCE
from tests.programs.load.viewer import FRAME_AT_MOST, RETRY_SECONDS
from tests.programs.workshop_load.visitor import Visitor

ROW: Final = re.compile(rb'<tr id="m-(\d+)"[^>]*>(.*?)</tr>', re.DOTALL)
STEP: Final = re.compile(rb"<b>(\d+)/\d+</b>")
CHECKS: Final = re.compile(rb'<td class="n">(\d+)/\d+</td>')
GUESS: Final = re.compile(rb'<td class="guess">(.*?)</td>', re.DOTALL)
FINISHED: Final = re.compile(rb'<span class="tag">')


class Row(NamedTuple):
    """A learner's line. ``step`` is counted from 1; 0 = none."""

    step: int
    passed: int
    guess: str
    finished: bool


class Expected(NamedTuple):
    """A line that the view must show."""

    number: int
    since: float
    shows: Callable[[Row], bool]
    what: str
    is_goal: bool = False


def rows_of(html: bytes) -> dict[int, Row]:
    return {int(found[1]): read_row(found[2]) for found in ROW.finditer(html)}


def read_row(html: bytes) -> Row:
    step, checks, guess = STEP.search(html), CHECKS.search(html), GUESS.search(html)
    return Row(
        int(step[1]) if step else 0,
        int(checks[1]) if checks else 0,
        guess[1].decode() if guess else "",
        FINISHED.search(html) is not None,
    )


class Teacher:
    """``frames``, ``bytes``: what the view was sent."""

    def __init__(self, site: Visitor) -> None:
        self.site = site
        self.code = ""
        self.frames = 0
        self.bytes = 0
        self.expected: list[Expected] = []
        self._seen: dict[int, list[tuple[float, Row]]] = {}
        self._first = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def open_room(self, lesson: str) -> None:
        await self.site.open_page("/rooms/new/")
        fields = {"what": f"lesson:{lesson}", "mode": "own", "title": "", "minutes": "120"}
        self.code = (await self.site.post_form("/rooms/new/", fields)).split("/")[2]
        await self.site.open_page(f"/rooms/{self.code}/teach/")
        self._task = asyncio.create_task(self._follow())
        async with asyncio.timeout(PATIENCE):
            await self._first.wait()

    async def do(self, act: str, **fields: str) -> None:
        await self.site.post_part(f"/rooms/{self.code}/teach/do/", {"do": act, **fields})

    async def end_room(self) -> None:
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self.do("end")

    def expect(self, expected: Expected) -> None:
        self.expected.append(expected)

    async def settle(self) -> None:
        """Wait until everything that was expected is shown, or for PATIENCE."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while any(self._shown(each) is None for each in self.expected):
                    await asyncio.sleep(0.2)

    def waits(self, *, goals: bool) -> list[float]:
        """Seconds until each of those that are shown was: of goals, or of acts."""
        shown = [(each.since, self._shown(each)) for each in self.expected if each.is_goal == goals]
        return [at - since for since, at in shown if at is not None]

    async def faults(self) -> list[str]:
        """What was never shown, and lines that differ from those of the page when it is loaded again."""
        found = [
            f"the teacher's view never showed {each.what} of learner {each.number}"
            for each in self.expected
            if self._shown(each) is None
        ]
        page = rows_of(await self.site.get(f"/rooms/{self.code}/teach/"))
        last = {number: seen[-1][1] for number, seen in self._seen.items()}
        found += [
            f"learner {number}: the teacher's view shows {last.get(number)}, the page {row}"
            for number, row in page.items()
            if last.get(number) != row
        ]
        return found

    def _shown(self, expected: Expected) -> float | None:
        """When it was shown first, not before the act."""
        return next(
            (
                at
                for at, row in self._seen.get(expected.number, [])
                if at >= expected.since and expected.shows(row)
            ),
            None,
        )

    async def _follow(self) -> None:
        url = f"{self.site.socket_origin}/rooms/{self.code}/live/?lang=en&page=teach&shown=1"
        headers = self.site.cookie_header
        while True:
            try:
                async with connect(
                    url,
                    origin=self.site.origin,
                    additional_headers=headers,
                    max_size=FRAME_AT_MOST,
                    proxy=None,
                ) as socket:
                    while True:
                        self._take(frame := await socket.recv(decode=False))
                        if said := frames.shown(frame):
                            await socket.send(said)
            except (ConnectionClosed, InvalidHandshake, OSError, TimeoutError) as error:
                self.site.errors.append(f"the teacher's websocket: {type(error).__name__}: {error}")
            await asyncio.sleep(RETRY_SECONDS[0])

    def _take(self, frame: bytes) -> None:
        now = time.monotonic()
        self.frames += 1
        self.bytes += len(frame)
        for number, row in rows_of(frame).items():
            seen = self._seen.setdefault(number, [])
            if not seen or seen[-1][1] != row:
                seen.append((now, row))
        self._first.set()
