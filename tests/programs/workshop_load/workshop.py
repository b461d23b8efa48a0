"""The whole workshop, and its table."""

import asyncio
import csv
import io
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Final

from schedviz.lessons.evaluate import is_complete
from schedviz.lessons.learners import Learners
from schedviz.lessons.lesson import Lesson
from schedviz.rooms.room import learner_id
from schedviz.store import Store
from tests.programs.load.report import Figure, one, spread
from tests.programs.load.site import PATIENCE, opened
from tests.programs.workshop_load.acts import Acts
from tests.programs.workshop_load.learner import Learner
from tests.programs.workshop_load.meeting import Meeting
from tests.programs.workshop_load.options import Options
from tests.programs.workshop_load.teacher import Teacher, rows_of
from tests.programs.workshop_load.visitor import Visitor

ACTS: Final = (
    "guess to answer",
    "Next to the next step",
    "create to frame",
    "delete to frame",
    "edit to frame",
    "new configuration to frame",
    "run to frame",
    "pause to frame",
)
"""The acts of the aim: the page shows their effect without simulated time in between."""
LATE_SHARE: Final = 10
"""Of so many learners, one joins after the break."""


class Workshop:
    """``figures``, ``faults``: of a workshop that has ended."""

    def __init__(
        self,
        port: int,
        store: Store,
        lesson: Lesson,
        options: Options,
        *,
        server_cpu: Callable[[], float] = lambda: 0.0,
        restart: Callable[[], None] | None = None,
    ) -> None:
        self._restart = restart
        self._server_cpu = server_cpu
        self.figures: list[Figure] = []
        self.faults: list[str] = []
        self.learners: list[Learner] = []
        self._port = port
        self._store = store
        self.lesson = lesson
        self._options = options

    async def run(self) -> None:
        async with AsyncExitStack() as ends:
            sites = [
                await ends.enter_async_context(opened(self._port, self._store, kind=Visitor))
                for _ in range(self._options.learners + 2)
            ]
            teacher = Teacher(sites[0])
            await teacher.open_room(self.lesson.name)
            if any(step.question for step in self.lesson.steps):
                await teacher.do("plan", plan=Meeting(self.lesson, 0).plan)
                await teacher.do("section 0")
                await teacher.do("collect on")
            *self.learners, removed = [
                Learner(number, site, teacher, self.lesson, self._options)
                for number, site in enumerate(sites[1:], 1)
            ]
            count = len(self.learners) - max(len(self.learners) // LATE_SHARE, len(self.learners) > 1)
            early, latecomers = self.learners[:count], self.learners[count:]
            acts = Acts(teacher, early, self._server_cpu)
            meeting = Meeting(self.lesson, len(early))
            async with asyncio.TaskGroup() as group:
                attending = [group.create_task(self._attend(each, meeting)) for each in early]
                await self._meet(teacher, acts, meeting, removed, sites)
                attending += [group.create_task(self._attend(each, meeting)) for each in latecomers]
            await teacher.settle()
            self.faults += [fault for site in sites for fault in site.errors]
            self.faults += await teacher.faults()
            self.faults += self.lost(teacher.code, await self._results(teacher))
            self.figures = [*self._figures(teacher), *self.figures]
            acts.learners = self.learners
            await acts.run(meeting.key)
            self.faults += acts.faults
            self.figures += [
                spread(f"teacher: {act}", "ms", [1000 * each for each in waits])
                for act, waits in acts.waits.items()
            ]
            self.figures += [
                one(f"teacher: {act}, CPU of server", "ms", 1000 * seconds)
                for act, seconds in acts.cpu.items()
            ]
            await asyncio.gather(*(each.leave() for each in self.learners))
            await teacher.end_room()
            self.faults += [fault for fault in teacher.site.errors if fault not in self.faults]

    async def _attend(self, learner: Learner, meeting: Meeting) -> None:
        try:
            await learner.attend(meeting)
        except Exception as error:
            self.faults.append(f"{learner.name}: {type(error).__name__}: {error}")
            meeting.note_here()

    async def _meet(
        self, teacher: Teacher, acts: Acts, meeting: Meeting, removed: Learner, sites: Sequence[Visitor]
    ) -> None:
        """The sections of the plan in which the class is together. In the break all processes are restarted,
        and a learner who joined by mistake is removed."""
        if meeting.question < 0:
            meeting.goes_on.set()
            return
        await removed.join()
        await meeting.all_submitted()
        await acts.meet(meeting.key)
        await removed.leave()  # its page would be refused from now on
        await teacher.do("remove", to=str(removed.number))
        if self._restart:
            await self._restart_all(self._restart, sites)
        page = await teacher.site.get(f"/rooms/{teacher.code}/teach/")
        if removed.number in rows_of(page):
            self.faults.append("the teacher's view shows the learner who was removed")
        await acts.go_on()
        meeting.goes_on.set()

    async def _restart_all(self, restart: Callable[[], None], sites: Sequence[Visitor]) -> None:
        """Restart Redis, the server and the workers, and wait until all pages are connected again. What they
        say meanwhile is no fault."""
        known = [len(site.errors) for site in sites]
        viewers = [each.viewer for each in self.learners if each.viewer and each.number]
        before = [each.wholes for each in viewers]
        since = time.monotonic()
        await asyncio.to_thread(restart)
        back = time.monotonic()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while any(each.wholes == count for each, count in zip(viewers, before, strict=True)):
                    await asyncio.sleep(0.05)
        self.figures += [
            one("restart: the server answers and the workers live again", "ms", 1000 * (back - since)),
            one("restart: all pages are connected again", "ms", 1000 * (time.monotonic() - since)),
        ]
        missing = sum(each.wholes == count for each, count in zip(viewers, before, strict=True))
        for site, count in zip(sites, known, strict=True):
            del site.errors[count:]
        if missing:
            self.faults.append(f"restart: {missing} pages are not connected again")

    async def _results(self, teacher: Teacher) -> dict[str, dict[str, str]]:
        """The lines of the CSV, by the name of the learner."""
        text = (await teacher.site.get(f"/rooms/{teacher.code}/teach/results.csv")).decode("utf-8-sig")
        return {line["name"]: line for line in csv.DictReader(io.StringIO(text))}

    def lost(self, code: str, results: dict[str, dict[str, str]]) -> list[str]:
        """Acts of learners that are not stored, not shown, or not in the results."""
        found = []
        lesson = self.lesson
        stored = Learners(self._store.redis).progress_of(
            [learner_id(code, each.number) for each in self.learners], lesson.name
        )
        for learner in self.learners:
            found += learner.faults
            if not learner.finished:
                found.append(f"{learner.name}: the page does not show the end of the lesson")
            if learner.viewer and learner.viewer.gaps > learner.viewer.healed:
                found.append(f"{learner.name}: frames are missing")
            progress = stored.get(learner_id(code, learner.number))
            if progress is None or not progress.finished or not is_complete(lesson, progress):
                found.append(f"{learner.name}: the progress is not complete: {progress}")
            elif {step: guess.picks for step, guess in progress.guesses.items()} != learner.guesses:
                found.append(f"{learner.name}: guessed {learner.guesses}, stored {progress.guesses}")
            line = results.get(learner.name, {})
            checks = sum(len(step.checks) for step in lesson.steps[learner.first :])
            shown = (line.get("checks_passed"), line.get("guesses"), line.get("finished"))
            if shown != (str(checks), str(len(learner.guesses)), "yes"):
                found.append(f"{learner.name}: in the results: {line}")
        return found

    def _figures(self, teacher: Teacher) -> list[Figure]:
        waits: dict[str, list[float]] = {}
        for learner in self.learners:
            for kind, values in learner.waits.items():
                waits.setdefault(kind, []).extend(1000 * each for each in values)
        viewers = [each.viewer for each in self.learners if each.viewer]
        views, goals = teacher.waits(goals=False), teacher.waits(goals=True)
        acts = [each for kind in ACTS for each in waits.get(kind, [])]
        return [
            spread("act to own page, all of those below", "ms", acts),
            *(spread(f"  {kind}", "ms", waits[kind]) for kind in ACTS if kind in waits),
            *(spread(kind, "ms", values) for kind, values in waits.items() if kind not in ACTS),
            spread("act to the teacher's view", "ms", [1000 * each for each in views]),
            spread("goal to the teacher's view", "ms", [1000 * each for each in goals]),
            one("lessons finished", "", sum(each.finished for each in self.learners)),
            one("frames to learners", "", sum(each.frames for each in viewers)),
            one("gaps in frame numbers", "", sum(each.gaps for each in viewers)),
            one("frames to the teacher", "", teacher.frames),
            one("bytes to the teacher", "kB", teacher.bytes / 1000),
        ]
