"""The teacher's acts on all learners at once, after the lesson, and how long the learners' pages take."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from websockets.asyncio.client import connect

from schedviz.rooms.work import find_work
from tests.programs.load import frames
from tests.programs.load.site import PATIENCE
from tests.programs.load.viewer import FRAME_AT_MOST
from tests.programs.workshop_load.learner import RUNNING, STOPPED, Learner
from tests.programs.workshop_load.teacher import Teacher

HINT: Final = "Look at the queue."
HINTED: Final = HINT.encode()
PAUSED: Final = b"The teacher paused the room."
REVEALED: Final = b'class="prose answer"'


class Acts:
    """``waits``: by act, the seconds until each learner's page showed it; for the reveal, until the projector
    did. ``cpu``: by act, the seconds of CPU that the web processes took from the click until then.
    ``faults``: the acts that no page showed."""

    def __init__(
        self, teacher: Teacher, learners: Sequence[Learner], server_cpu: Callable[[], float] = lambda: 0.0
    ) -> None:
        self.waits: dict[str, list[float]] = {}
        self.cpu: dict[str, float] = {}
        self._server_cpu = server_cpu
        self._before = 0.0
        self.faults: list[str] = []
        self._teacher = teacher
        self.learners = learners

    async def run(self, question: str) -> None:
        """question: ``LESSON/STEP`` to reveal; "" = the lesson has none."""
        await self._on_frames("resume all", {"do": "resume"}, lambda frame: RUNNING in frame)
        await self._on_frames("pause all", {"do": "pause"}, lambda frame: STOPPED in frame)
        await self._on_frames("hint to all", {"do": "hint", "text": HINT}, lambda frame: HINTED in frame)
        await self._set_step()
        if question:
            await self._reveal(question)

    async def meet(self, question: str) -> None:
        """The learners have submitted their answers to the question: they discuss, see what is right, and
        have a break."""
        await self._on_frames("discussion", {"do": "section 1"}, lambda each: b"Discussion: listen" in each)
        shown = [asyncio.ensure_future(learner.shows("answered")) for learner in self.learners]
        since = await self._do({"do": f"reveal {question}"})
        await self._note("reveal on all pages", since, shown)
        await self._on_frames("break", {"do": "section 2"}, lambda each: PAUSED in each)
        await self._do({"do": "collect off"})

    async def go_on(self) -> None:
        """Begin the section after the break."""
        await self._on_frames(
            "next section", {"do": "section 3"}, lambda each: b"section 4 of 4" in each and PAUSED not in each
        )

    async def _on_frames(self, act: str, fields: dict[str, str], shows: Callable[[bytes], bool]) -> None:
        shown = [learner.next_message(shows) for learner in self.learners]
        since = await self._do(fields)
        await self._note(act, since, shown)

    async def _set_step(self) -> None:
        lesson = self.learners[0].lesson
        shown = [asyncio.ensure_future(learner.shows_step(lesson.steps[0].id)) for learner in self.learners]
        since = await self._do({"do": "step", "place": f"{lesson.name}/0"})
        await self._note("set step for all", since, shown)

    async def _reveal(self, question: str) -> None:
        site = self._teacher.site
        await self._do({"do": "hide"})
        url = f"{site.socket_origin}/rooms/{self._teacher.code}/live/?lang=en&page=projector&shown=1"
        headers = site.cookie_header
        async with connect(
            url, origin=site.origin, additional_headers=headers, max_size=FRAME_AT_MOST, proxy=None
        ) as socket:
            await socket.send(frames.shown(await socket.recv(decode=False)))  # the whole page

            async def shows() -> float:
                while REVEALED not in (frame := await socket.recv(decode=False)):
                    if said := frames.shown(frame):
                        await socket.send(said)
                return time.monotonic()

            shown = asyncio.ensure_future(shows())
            since = await self._do({"do": f"reveal {question}"})
            await self._note("reveal on the projector", since, [shown])

    async def _do(self, fields: dict[str, str]) -> float:
        """When it was sent. The work of the act before is finished then."""
        while find_work(self._teacher.site.store, self._teacher.code):
            await asyncio.sleep(0.1)
        self._before, since = self._server_cpu(), time.monotonic()
        await self._teacher.site.post_part(f"/rooms/{self._teacher.code}/teach/do/", fields)
        return since

    async def _note(self, act: str, since: float, shown: Sequence[asyncio.Future[float]]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*shown)
        self.cpu[act] = self._server_cpu() - self._before
        self.waits[act] = [each.result() - since for each in shown if each.done() and not each.cancelled()]
        if missing := len(shown) - len(self.waits[act]):
            self.faults.append(f"{act}: {missing} pages never showed it")
