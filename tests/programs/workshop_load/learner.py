"""A learner who goes through the lesson: reads, guesses, fills in forms, lets time run, presses Next."""

import asyncio
import random
import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from schedviz.lessons.action_rules import split_target
from schedviz.lessons.lesson import Action, Lesson, Run, Step
from schedviz.rooms.rehearsal import choose_picks
from schedviz.web.manifests.yaml import to_yaml
from simulator.api import Manifest
from tests.programs.load.cold import load_files
from tests.programs.load.site import PATIENCE
from tests.programs.load.viewer import Viewer
from tests.programs.workshop_load.editing import edit_path, edited, replaced
from tests.programs.workshop_load.meeting import Meeting
from tests.programs.workshop_load.options import Options
from tests.programs.workshop_load.panel import Panel
from tests.programs.workshop_load.teacher import Expected, Row, Teacher
from tests.programs.workshop_load.visitor import Fields, Visitor

RUNNING: Final = b'<div id="transport" class="buttons running"'
STOPPED: Final = b'<div id="transport" class="buttons stopped"'
LESSONS: Final = re.compile(rb'data-lessons="(\w+)"')


def lessons_in(notice: bytes) -> bytes:
    """What changes when the teacher has changed something that the panel of a lesson shows."""
    found = LESSONS.search(notice)
    return found[1] if found else b""


class Learner:
    """``waits``: by kind of act, the seconds until the learner's page showed its effect."""

    def __init__(
        self, number: int, site: Visitor, teacher: Teacher, lesson: Lesson, options: Options
    ) -> None:
        self.name = f"learner-{number}"
        self.number = 0
        """In the room."""
        self.waits: dict[str, list[float]] = {}
        self.guesses: dict[str, list[str]] = {}
        self.faults: list[str] = []
        self.viewer: Viewer | None = None
        self.finished = False
        self.first = 0
        """The step, counted from 0, at which the class was when the learner joined."""
        self.site = site
        self._teacher = teacher
        self.lesson = lesson
        self._options = options
        self._random = random.Random(f"{options.seed} {number}")
        self._passed = 0
        self._awaited: list[tuple[Callable[[bytes], bool], asyncio.Future[float]]] = []

    async def attend(self, meeting: Meeting) -> None:
        """Join, and go through the lesson, from the step at which the class is."""
        await asyncio.sleep(self._random.uniform(0, 2 * self._options.think))
        await self.join()
        if self._options.speed != 1.0:
            await self.site.post_part(f"{self._base}clock/", {"speed": f"{self._options.speed:g}"})
        self.first = next(
            place for place, step in enumerate(self.lesson.steps) if step.id == self._panel.now.step
        )
        for place, step in enumerate(self.lesson.steps[self.first :], self.first):
            if place == meeting.question and not meeting.goes_on.is_set():
                await self._think()
                await self._guess(step, "submitted")
                await meeting.wait_for_section()
            elif step.question:
                await self._think()
                await self._guess(step, "answered")
            await self._reach_goals(step)
            if place + 1 < len(self.lesson.steps):
                await self._go_on(place + 1)
        self.finished = await self._panel.shows("finished", PATIENCE)

    async def leave(self) -> None:
        if self.viewer:
            await self.viewer.close()
            await self._panel.close()

    def next_message(self, shows: Callable[[bytes], bool]) -> asyncio.Future[float]:
        """The time of the next frame or notice of which this holds."""
        future: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._awaited.append((shows, future))
        return future

    async def shows(self, wanted: str) -> float:
        """When the panel has this attribute."""
        await self._panel.shows(wanted, PATIENCE)
        return time.monotonic()

    async def shows_step(self, step: str) -> float:
        """When the panel shows this step."""
        await self._panel.shows_step(step)
        return time.monotonic()

    async def join(self) -> None:
        room = f"/rooms/{self._teacher.code}/"
        await self.site.open_page(room)
        since = time.monotonic()
        address = await self.site.post_form(room, {"name": self.name})
        self._base = address
        sandbox = address.split("/")[2]
        self.number = int(sandbox.rpartition("-")[2])
        self._lessons = b""
        self.viewer = Viewer(self.site, sandbox, self._take_frame, self._take_notice)
        self._panel_opened = False
        page = await self.viewer.open()
        await load_files(self.site, page.decode())
        self.site.take_token(page)
        self._lessons = lessons_in(page)
        self._panel = Panel(self.site, sandbox, page)
        self._panel_opened = True
        self._note("join to the whole page", since)
        self._expect(since, lambda row: row.step >= 1, "the arrival")

    async def _reach_goals(self, step: Step) -> None:
        if step.checks:
            if step.solution and self._random.random() < self._options.solutions:
                await self._think()
                await self._show_solution()
            else:
                for action in step.solution:
                    await self._think()
                    await self._do(action, last=action is step.solution[-1])
            longest = max((each.run.seconds for each in step.solution if each.run), default=0.0)
            await self._panel.shows("complete", longest / self._options.speed + PATIENCE)
            self._expect_goals(step)
        if not self._panel.now.complete:
            self.faults.append(f"{self.name}: {step.id} is not complete")

    def _expect_goals(self, step: Step) -> None:
        for check in step.checks:
            found = self._panel.reached.get((step.id, check.id))
            if found is None:
                self.faults.append(f"{self.name}: {step.id}/{check.id} was not reached")
                continue
            since, shown = found
            self.waits.setdefault("frame to goal in the panel", []).append(shown - since)
            self._passed += 1
            passed = self._passed
            what = f"{step.id}/{check.id}"
            self._expect(since, lambda row, n=passed: row.passed >= n, what, is_goal=True)

    async def _guess(self, step: Step, shown: str) -> None:
        """shown: what the panel shows then, the attribute of PanelNow."""
        question = step.question
        assert question
        picks = choose_picks(question, self._random, self._options.wrong)
        self.guesses[step.id] = picks
        texts = self.lesson.text("en").steps[step.id].choices
        since = time.monotonic()
        await self._panel.post({"do": "guess", "pick": picks})
        if not getattr(self._panel.now, shown):
            self.faults.append(f"{self.name}: {step.id}: the guess is not {shown}")
        self._note("guess to answer", since)
        self._expect(
            since, lambda row: all(texts[each] in row.guess for each in picks), f"the guess at {step.id}"
        )

    async def _go_on(self, place: int) -> None:
        await self._think()
        since = time.monotonic()
        await self._panel.post({"do": "next"})
        if self._panel.now.step != self.lesson.steps[place].id:
            self.faults.append(f"{self.name}: Next leads to {self._panel.now.step}")
        self._note("Next to the next step", since)
        self._expect(since, lambda row: row.step > place, f"step {place + 1}")

    async def _show_solution(self) -> None:
        since = time.monotonic()
        self._panel.note_act()
        await self._panel.post({"do": "solution"})
        self._note("solution, with its simulated time", since)

    async def _do(self, action: Action, *, last: bool) -> None:
        if action.create is not None:
            await self._create(action.create)
        elif action.delete:
            resource, key = split_target(action.delete)
            path = f"{self._base}delete/{resource.id}/{key}/"
            await self._act("delete to frame", path, {}, lambda _: True)
        elif action.apply is not None:
            path = f"{self._base}{edit_path(action.apply)}"
            form = await self.site.get_part(path)
            await self._submit("edit to frame", path, edited(form, action.apply))
        elif action.scheduler is not None:
            path = f"{self._base}scheduler/"
            form = await self.site.get_part(path)
            await self._submit("new configuration to frame", path, replaced(form, action.scheduler))
        elif action.run is not None:
            await self._run(action.run, PATIENCE if last else 0.0)

    async def _submit(self, kind: str, path: str, fields: Fields) -> None:
        """Submit a form, which reads its fields again once while it is filled in."""
        await self._think(0.3)
        await self.site.post_part(path, {**fields, "do": "step"})
        await self._think(0.3)
        await self._act(kind, path, fields, lambda _: True)
        self._panel.ask()

    async def _create(self, manifest: Manifest) -> None:
        """Create an object by the form, which reads its fields again once while it is filled in."""
        pod = manifest["kind"] == "Pod"
        path = f"{self._base}new/{'pod' if pod else 'yaml'}/"
        await self.site.get_part(path)
        await self._think(0.3)
        fields = {"yaml": to_yaml([manifest])}
        if pod:
            await self.site.post_part(path, {**fields, "do": "step"})
            await self._think(0.3)
        name = manifest["metadata"]["name"].encode()
        await self._act("create to frame", path, fields, lambda frame: name in frame)
        self._panel.ask()

    async def _run(self, run: Run, patience: float) -> None:
        """patience: how long the learner waits for the goals of the step before the pause, beyond the time of
        the run: a worker on a busy machine is behind the clock."""
        path = f"{self._base}clock/"
        wall = run.seconds / self._options.speed
        if run.until.startswith("bound "):
            fields = {"do": "until", "until": "bound", "pod": run.until.removeprefix("bound ")}
            stopped = self.next_message(lambda frame: STOPPED in frame)
            await self._act("run to frame", path, fields, lambda frame: RUNNING in frame or STOPPED in frame)
            await self._wait(stopped, "the run ends", wall + PATIENCE)
            return
        await self._act("run to frame", path, {"do": "resume"}, lambda frame: RUNNING in frame)
        if run.until == "idle":
            await self._panel.shows("complete", wall + patience)
        else:
            await asyncio.sleep(wall)
            await self._panel.shows("complete", patience)
        await self._act("pause to frame", path, {"do": "pause"}, lambda frame: STOPPED in frame)

    async def _act(self, kind: str, path: str, fields: Fields, shows: Callable[[bytes], bool]) -> None:
        """Send a request, and wait for the frame that shows its effect."""
        shown = self.next_message(shows)
        since = time.monotonic()
        self._panel.note_act()
        await self.site.post_part(path, fields)
        at = await self._wait(shown, kind, PATIENCE)
        self.waits.setdefault(kind, []).append(at - since)

    async def _wait(self, shown: asyncio.Future[float], what: str, seconds: float) -> float:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await shown
        self.faults.append(f"{self.name}: {what}: no such frame within {seconds:g} s")
        return time.monotonic()

    def _take_frame(self, frame: bytes, now: float) -> None:
        self._take(frame, now)
        if self._panel_opened:
            self._panel.note_frame(now)

    def _take_notice(self, notice: bytes, now: float) -> None:
        """The room's: the panel is asked for again if it may show something else, as in room_notice.js."""
        self._take(notice, now)
        before, self._lessons = self._lessons, lessons_in(notice)
        if self._panel_opened and before != self._lessons:
            self._panel.ask()

    def _take(self, message: bytes, now: float) -> None:
        for each in [*self._awaited]:
            shows, future = each
            if future.done() or shows(message):
                self._awaited.remove(each)
                if not future.done():
                    future.set_result(now)

    def _expect(
        self, since: float, shows: Callable[[Row], bool], what: str, *, is_goal: bool = False
    ) -> None:
        """Expect a change of the learner's line in the teacher's view."""
        self._teacher.expect(Expected(self.number, since, shows, what, is_goal))

    def _note(self, kind: str, since: float) -> None:
        self.waits.setdefault(kind, []).append(time.monotonic() - since)

    async def _think(self, share: float = 1.0) -> None:
        await asyncio.sleep(share * self._options.think * self._random.uniform(0.5, 1.5))
