"""A rehearsal: simulated learners in a room of the teacher's own, who join it and go through its lessons as a
class does, so that a teacher has seen the room at work before the first class.

They act in a process of their own, through the functions that the pages of learners use. It ends by itself:
when its time or the room is over, when the teacher removes the simulated learners, or with the web server."""

import logging
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from schedviz.lessons.evaluate import evaluate, go_to_step, guess, is_step_complete
from schedviz.lessons.learners import Learners, NoProgress
from schedviz.lessons.lesson import Lesson, LessonQuestion
from schedviz.lessons.offline import NotReached
from schedviz.lessons.play import play_actions
from schedviz.lessons.progress import Progress
from schedviz.lessons.situation import situation_of
from schedviz.rooms.create_sandboxes import open_sandbox
from schedviz.rooms.learners import room_lessons
from schedviz.rooms.notify import notify_teacher
from schedviz.rooms.overview import latest
from schedviz.rooms.room import Room, learner_id, sandbox_name
from schedviz.rooms.room_store import ONLINE_SECONDS, NoRoom, RoomFull, Rooms, Seen
from schedviz.rooms.together import find_wait, is_collected
from schedviz.store import NoSandbox, Store
from schedviz.store.keys import PREFIX
from simulator.apiserver.status import StatusError

log = logging.getLogger(__name__)

LEARNERS: Final = 30
REHEARSAL_SECONDS: Final = 30 * 60.0
"""The longest time of a rehearsal."""
JOIN_SECONDS: Final = (0.3, 1.5)
"""The time between two learners who join."""
THINK_SECONDS: Final = (4.0, 20.0)
"""The time between two acts of one learner."""
WRONG: Final = 0.3
"""The share of wrong answers."""
SLOW: Final = 0.1
"""The share of learners who do nothing for long: the teacher's view shows them as stuck."""
SLOW_FACTOR: Final = 12
RAISES: Final = 0.02
"""The probability that a learner raises a hand instead of acting."""
TURN_SECONDS: Final = 0.25
ACTS_PER_TURN: Final = 3
NOTE_SECONDS: Final = ONLINE_SECONDS / 3
LOCK: Final = f"{PREFIX}:rehearsal"
"""The key that says that a rehearsal runs: one at a time, as 30 learners keep a worker busy."""
LOCK_SECONDS: Final = 60
NICENESS: Final = 5


def is_running(store: Store) -> bool:
    """Whether a rehearsal runs, in whatever room."""
    return bool(store.redis.exists(LOCK))


def start_process(code: str, language: str) -> "subprocess.Popen[bytes]":
    """Start the process of a rehearsal, which ends with this one."""
    command = [sys.executable, "-m", "schedviz", "rehearsal", code, f"--language={language}"]
    return subprocess.Popen(  # noqa: S603 (our own command, no shell)
        [*command, f"--parent={os.getpid()}"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )


def choose_picks(question: LessonQuestion, chance: random.Random, wrong: float) -> list[str]:
    """Return the choices of a simulated learner; wrong: the share of answers that are."""
    others = [each for each in question.choices if each not in question.right]
    return [chance.choice(others)] if others and chance.random() < wrong else [*question.right]


class Rehearsal:
    """The simulated learners of one room. Times are those of the monotonic clock."""

    def __init__(
        self,
        store: Store,
        code: str,
        name_of: Callable[[int], str],
        now: float,
        *,
        count: int = LEARNERS,
        seed: int = 1,
    ) -> None:
        self._store = store
        self._code = code
        self._name_of = name_of
        self._chance = random.Random(seed)  # noqa: S311 (no secrets)
        self._rooms = Rooms(store)
        self._learners = Learners(store.redis)
        self._joined = 0
        self._count = count
        self._joins = now
        self._noted = 0.0
        self._ends = now + REHEARSAL_SECONDS
        self._due: dict[int, float] = {}
        """Number of the simulated learner -> when the learner acts next."""
        self._slow: set[int] = set()

    def run(self, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Let them act until it is over, or no longer wanted. Nothing happens where a rehearsal runs."""
        if not self._store.redis.set(LOCK, self._code, nx=True, ex=LOCK_SECONDS):
            return
        try:
            while is_wanted() and self.turn(time.monotonic()):
                time.sleep(TURN_SECONDS)
        finally:
            self._store.redis.delete(LOCK)
            self.end()

    def end(self) -> None:
        """Delete the sandboxes of the simulated learners. What they answered stays until they are removed."""
        with suppress(NoRoom):
            self._rooms.change(self._code, rehearsing=False)
            for number in self._rooms.read(self._code).simulated:
                with suppress(NoSandbox):
                    self._store.delete(sandbox_name(self._code, number))
        notify_teacher(self._code)

    def turn(self, now: float) -> bool:
        """Do what is due. Returns whether the rehearsal goes on."""
        try:
            seen = self._rooms.read(self._code)
        except NoRoom:
            return False
        room = seen.room
        if not room.rehearsing or room.is_over(seen.now) or now > self._ends:
            return False
        self._due = {number: due for number, due in self._due.items() if number in seen.simulated}
        if now - self._noted >= NOTE_SECONDS:
            self._noted = now
            self._store.redis.expire(LOCK, LOCK_SECONDS)
            for number in self._due:
                self._rooms.note_connected(self._code, number)
        if self._joined < self._count and now >= self._joins:
            self._join(room, now)
        if not (room.paused or room.discussion):
            due = sorted((at, number) for number, at in self._due.items() if at <= now)
            for _, number in due[:ACTS_PER_TURN]:
                self._due[number] = now + self._think(number)
                self._try(seen, number)
        return True

    def _think(self, number: int) -> float:
        return self._chance.uniform(*THINK_SECONDS) * (SLOW_FACTOR if number in self._slow else 1)

    def _join(self, room: Room, now: float) -> None:
        self._joined += 1
        self._joins = now + self._chance.uniform(*JOIN_SECONDS)
        try:
            member, _ = self._rooms.join(room, self._name_of(self._joined))
        except (NoRoom, RoomFull):
            self._count = self._joined
            return
        self._rooms.mark_simulated(self._code, member.number)
        self._rooms.note_connected(self._code, member.number)
        if self._chance.random() < SLOW:
            self._slow.add(member.number)
        self._due[member.number] = now + self._think(member.number)
        self._try(None, member.number)

    def _try(self, seen: Seen | None, number: int) -> None:
        """Let a learner act, whose sandbox may be gone, or who may be removed meanwhile. seen: None = the
        learner has just joined."""
        try:
            if seen is None:
                self._open(self._rooms.find(self._code), number)
            else:
                self._act(seen, number)
        except (StatusError, NotReached, NoProgress, NoSandbox, NoRoom):
            log.info("room %s: simulated learner %d", self._code, number, exc_info=True)
        notify_teacher(self._code)

    def _open(self, room: Room, number: int) -> None:
        lesson = "" if room.lesson or room.locked else next(iter(room_lessons()))
        open_sandbox(self._store, room, number, lesson)

    def _act(self, seen: Seen, number: int) -> None:
        room, learner = seen.room, learner_id(self._code, number)
        here = latest(self._learners.all_progress(learner))
        lesson = room_lessons().get(here.lesson) if here else None
        if here is None or lesson is None:
            self._open(room, number)
        elif self._chance.random() < RAISES and number not in seen.hands:
            self._rooms.signal(self._code, number, "hand", on=True)
        elif here.finished and here.step == len(lesson.steps) - 1:
            if number not in seen.done:
                self._rooms.signal(self._code, number, "done", on=True)
        else:
            self._go_on(room, learner, lesson, here)

    def _go_on(self, room: Room, learner: str, lesson: Lesson, here: Progress) -> None:
        """Answer the question of the step, reach its goals, or press Next."""
        step, now = lesson.steps[here.step], self._store.wall()
        if step.question and step.id not in here.guesses:
            picks = choose_picks(step.question, self._chance, WRONG)
            collected = is_collected(room, lesson, here.step)
            self._learners.update(
                learner, lesson, lambda each: guess(lesson, each, picks, now, collected=collected)
            )
        elif not is_step_complete(lesson, here):
            sandbox = self._store.sandbox(sandbox_name(self._code, int(learner.rpartition("-")[2])))
            play_actions(sandbox, step.solution)
            self._learners.update(
                learner, lesson, lambda each: evaluate(lesson, each, situation_of(sandbox, each), now)
            )
        elif here.step + 1 < len(lesson.steps) and not find_wait(room, lesson, here):
            after = here.step + 1
            self._learners.update(learner, lesson, lambda each: go_to_step(lesson, each, after, now))
