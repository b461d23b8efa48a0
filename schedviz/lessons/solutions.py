"""Solutions of levels that learners share: what a sandbox was like when its level was solved, without the
sandbox, which is deleted after some hours."""

import hashlib
import zlib
from typing import Final

import msgspec
from redis import Redis

from schedviz.lessons.conditions import condition
from schedviz.lessons.kept import Kept
from schedviz.lessons.lesson import Lesson, Step
from schedviz.lessons.progress import Progress
from schedviz.lessons.result import Result, result_of
from schedviz.lessons.situation import Situation
from simulator.kernel.prepared_types import prepared

KEPT_SECONDS: Final = 30 * 24 * 3600
SOLUTIONS_AT_MOST: Final = 1_000
"""The maximum number of solutions. With BYTES_AT_MOST each they have 31 MiB. Beyond it the oldest one of
whoever has most is deleted."""
BYTES_AT_MOST: Final = 32 << 10
"""The maximum size of a compressed solution. If its picture is larger, it is stored without the picture."""
NAMES_AT_MOST: Final = 200
"""Maximum number of pods of each list."""
AUTHOR_AT_MOST: Final = 40
"""Maximum number of characters of an author's name."""


class Solution(msgspec.Struct, frozen=True, kw_only=True):
    lesson: str
    author: str
    """The name of the author; "" = not given."""
    made: float
    """Wall seconds."""
    result: Result
    helped: bool
    """Whether the solution of a step was shown."""
    evicted: list[str]
    """Pods, in order."""
    waiting: list[str]
    """Pods without a node."""
    picture: bytes
    """The nodes with their pods, as SVG; b"" = it was too large."""


class Solutions:
    """The shared solutions in one Redis."""

    def __init__(self, redis: Redis) -> None:
        self._kept = Kept(redis, "solutions", SOLUTIONS_AT_MOST, KEPT_SECONDS, 0)

    def add(self, key: str, solution: Solution, whose: str = "") -> None:
        """whose: see Kept."""
        stored = _encode(solution)
        if len(stored) > BYTES_AT_MOST:
            stored = _encode(msgspec.structs.replace(solution, picture=b""))
        self._kept.add(key, stored, solution.made, whose)

    def find(self, key: str) -> Solution | None:
        stored = self._kept.find(key)
        return msgspec.msgpack.decode(zlib.decompress(stored), type=prepared(Solution)) if stored else None


def solution_key(learner: str, progress: Progress) -> str:
    """Return the name of a learner's solution in one sandbox: who shares it again replaces it."""
    text = f"{learner} {progress.lesson} {progress.created!r}"
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def goal_step(lesson: Lesson) -> Step:
    """Return the last step with checks: the goal of a level. A step that explains it may follow."""
    return next((step for step in reversed(lesson.steps) if step.checks), lesson.steps[-1])


def is_solved(lesson: Lesson, situation: Situation) -> bool:
    """Whether the goal of a level is reached now."""
    return all(situation.holds(condition(check.expect)) for check in goal_step(lesson).checks)


def solution_of(
    lesson: Lesson, progress: Progress, situation: Situation, *, author: str, made: float, picture: bytes
) -> Solution:
    return Solution(
        lesson=lesson.name,
        author=author[:AUTHOR_AT_MOST],
        made=made,
        result=result_of(situation),
        helped=bool(progress.solved),
        evicted=[str(each["pod"]) for each in situation.evicted[:NAMES_AT_MOST]],
        waiting=sorted(situation.waiting)[:NAMES_AT_MOST],
        picture=picture,
    )


def _encode(solution: Solution) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(solution))
