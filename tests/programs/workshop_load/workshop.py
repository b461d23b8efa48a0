"""The whole workshop, and its table."""

import asyncio
import csv
import io
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Final

from schedviz.lessons.evaluate import is_complete
from schedviz.lessons.learners import Learners
from schedviz.lessons.lesson import Lesson
from schedviz.rooms.room import learner_id
from schedviz.store import Store
from tests.programs.load.report import Figure, one, spread
from tests.programs.load.site import opened
from tests.programs.workshop_load.acts import Acts
from tests.programs.workshop_load.learner import Learner
from tests.programs.workshop_load.options import Options
from tests.programs.workshop_load.teacher import Teacher
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


class Workshop:
    """``figures``, ``faults``: of a workshop that has ended."""

    def __init__(
        self,
        port: int,
        store: Store,
        lesson: Lesson,
        options: Options,
        server_cpu: Callable[[], float] = lambda: 0.0,
    ) -> None:
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
                for _ in range(self._options.learners + 1)
            ]
            teacher = Teacher(sites[0])
            await teacher.open_room(self.lesson.name)
            self.learners = [
                Learner(number, site, teacher, self.lesson, self._options)
                for number, site in enumerate(sites[1:], 1)
            ]
            results = await asyncio.gather(*(each.attend() for each in self.learners), return_exceptions=True)
            await teacher.settle()
            self.faults = [fault for site in sites for fault in site.errors]
            self.faults += [
                f"{each.name}: {type(error).__name__}: {error}"
                for each, error in zip(self.learners, results, strict=True)
                if isinstance(error, BaseException)
            ]
            self.faults += await teacher.faults()
            self.faults += self.lost(teacher.code, await self._results(teacher))
            self.figures = self._figures(teacher)
            acts = Acts(teacher, self.learners, self._server_cpu)
            await acts.run(self._question())
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

    def _question(self) -> str:
        """``LESSON/STEP`` of the lesson's first question; "" = it has none."""
        asked = (f"{self.lesson.name}/{step.id}" for step in self.lesson.steps if step.question)
        return next(asked, "")

    async def _results(self, teacher: Teacher) -> dict[str, dict[str, str]]:
        """The lines of the CSV, by the name of the learner."""
        text = (await teacher.site.get(f"/rooms/{teacher.code}/teach/results.csv")).decode("utf-8-sig")
        return {line["name"]: line for line in csv.DictReader(io.StringIO(text))}

    def lost(self, code: str, results: dict[str, dict[str, str]]) -> list[str]:
        """Acts of learners that are not stored, not shown, or not in the results."""
        found = []
        lesson = self.lesson
        checks = sum(len(step.checks) for step in lesson.steps)
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
