"""Stores the progress of learners in Redis: one hash for each learner, which expires."""

import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, cast

import msgspec
from msgspec.structs import replace
from redis import Redis

from schedviz.lessons.catalogue import lessons
from schedviz.lessons.evaluate import find_misconceptions
from schedviz.lessons.lesson import Lesson, Misconception
from schedviz.lessons.progress import Progress
from simulator.kernel.prepared_types import prepared

KEPT_SECONDS: Final = 30 * 24 * 3600
"""Seconds after its last change at which the hash of a learner expires."""
FIELDS_AT_MOST: Final = 300
"""Maximum number of fields of a learner's hash. Beyond it those of lessons that do not exist any more are
deleted."""
OFFERED_AFTER: Final = 3
"""Wrong answers with one misconception after which the lesson that corrects it is offered."""
LEARNER: Final = re.compile(r"[A-Za-z0-9_-]{22}")
"""The form of a learner's id: 128 random bits."""
_MISCONCEPTION: Final = "misconception:"
"""The prefix of a misconception's name in the hash. The field's value is a count. The other fields are
lessons."""

# KEYS: the learner's hash. ARGV: the lesson, its progress before, its progress after, KEPT_SECONDS, and the
# fields of the misconceptions to count. Reply: 0 = the progress before was another one.
_SAVE: Final = """
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
for i = 5, #ARGV do redis.call('HINCRBY', KEYS[1], ARGV[i], 1) end
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1
"""

_encoder: Final = msgspec.json.Encoder(order="deterministic")  # they are compared
_decoder: msgspec.json.Decoder[Progress] = msgspec.json.Decoder(prepared(Progress))


class NoProgress(Exception):
    """The learner has not begun the lesson, or it was long ago."""


def new_learner() -> str:
    """Return a new learner's id, which cannot be guessed."""
    return secrets.token_urlsafe(16)


class Learners:
    """All learners. It holds no state of its own: any number of processes and threads may have one."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._save = redis.register_script(_SAVE)

    def begin(self, learner: str, progress: Progress) -> None:
        """Store the progress of a learner who begins a lesson, or begins it again: the best result stays."""
        key = _key(learner)
        before = self.progress(learner, progress.lesson)
        if before and not progress.best:
            progress = replace(progress, best=before.best)
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.hset(key, progress.lesson, _encoder.encode(progress))
            pipe.expire(key, KEPT_SECONDS)
            pipe.hkeys(key)
            *_, fields = pipe.execute()
        if len(fields) > FIELDS_AT_MOST:
            names = {field.decode() for field in fields}
            self._redis.hdel(key, *(name for name in names if not _is_current(name)))

    def update(self, learner: str, lesson: Lesson, change: Callable[[Progress], Progress]) -> Progress:
        """Change the progress in a lesson, and count the misconceptions that show. ``change`` is called again
        if another process changed the progress meanwhile. Nothing is written if it changes nothing. Raises
        NoProgress, and what ``change`` raises."""
        while True:
            stored = cast("bytes | None", self._redis.hget(_key(learner), lesson.name))
            before = _decode(stored)
            if stored is None or before is None:
                raise NoProgress(lesson.name)
            after = change(before)
            if self._replace(learner, lesson, stored, before, after):
                return after

    def store(self, learner: str, lesson: Lesson, before: Progress, after: Progress) -> bool:
        """Store the change of a progress that was read earlier, as :meth:`update` does; False = it was
        changed meanwhile, and nothing was stored."""
        return self._replace(learner, lesson, _encoder.encode(before), before, after)

    def store_all(self, lesson: Lesson, changes: Mapping[str, tuple[Progress, Progress]]) -> dict[str, bool]:
        """Store changes of learners, each from the first progress to the second, as :meth:`store` does. Two
        round trips."""
        with self._redis.pipeline(transaction=False) as pipe:
            for learner, (before, after) in changes.items():
                arguments = _arguments(lesson, _encoder.encode(before), before, after)
                self._save([_key(learner)], arguments, client=pipe)
            return dict(zip(changes, map(bool, pipe.execute()), strict=True))

    def _replace(
        self, learner: str, lesson: Lesson, stored: bytes, before: Progress, after: Progress
    ) -> bool:
        if after == before:
            return True
        return bool(self._save([_key(learner)], _arguments(lesson, stored, before, after)))

    def progress(self, learner: str, lesson: str) -> Progress | None:
        """Return the progress in a lesson; None = the learner has not begun it."""
        return _decode(cast("bytes | None", self._redis.hget(_key(learner), lesson)))

    def all_progress(self, learner: str) -> dict[str, Progress]:
        """Return the progress by lesson, of all lessons that the learner has begun."""
        return self.all_progress_of([learner])[learner]

    def all_progress_of(self, learners: Sequence[str]) -> dict[str, dict[str, Progress]]:
        """Return the progress of many learners in all lessons, in one round trip."""
        with self._redis.pipeline(transaction=False) as pipe:
            for learner in learners:
                pipe.hgetall(_key(learner))
            return dict(zip(learners, map(_all_progress, pipe.execute()), strict=True))

    def progress_of(self, learners: Sequence[str], lesson: str) -> dict[str, Progress]:
        """Return the progress of many learners in one lesson, in one round trip, of those who have begun
        it."""
        with self._redis.pipeline(transaction=False) as pipe:
            for learner in learners:
                pipe.hget(_key(learner), lesson)
            found = zip(learners, map(_decode, pipe.execute()), strict=True)
        return {learner: progress for learner, progress in found if progress is not None}

    def misconceptions(self, learner: str) -> dict[Misconception, int]:
        """Return the number of times that each misconception showed."""
        return _misconceptions(cast("dict[bytes, bytes]", self._redis.hgetall(_key(learner))))

    def offered_lesson(self, learner: str) -> Lesson | None:
        """Return the lesson that corrects the misconception that showed most, if it showed OFFERED_AFTER
        times; None also if the learner has finished it, or is in it."""
        stored = cast("dict[bytes, bytes]", self._redis.hgetall(_key(learner)))
        begun = _all_progress(stored)
        counts = _misconceptions(stored)
        for misconception in sorted(counts, key=lambda each: -counts[each]):
            if counts[misconception] < OFFERED_AFTER:
                return None
            for lesson in lessons().values():
                if misconception in lesson.misconceptions and lesson.name not in begun:
                    return lesson
        return None

    def add(self, learner: str, other: str) -> None:
        """Add what is stored of another learner in lessons that this one has not begun."""
        stored = cast("dict[str, bytes]", self._redis.hgetall(_key(other)))
        for field, each in stored.items():
            self._redis.hsetnx(_key(learner), field, each)
        if stored:
            self._redis.expire(_key(learner), KEPT_SECONDS)

    def forget(self, learners: Iterable[str]) -> None:
        """Delete all that is stored of some learners."""
        if keys := [_key(learner) for learner in learners]:
            self._redis.delete(*keys)


def _arguments(lesson: Lesson, stored: bytes, before: Progress, after: Progress) -> list[str | bytes | int]:
    """Return the arguments of _SAVE."""
    counted = [_MISCONCEPTION + each for each in find_misconceptions(lesson, before, after)]
    return [lesson.name, stored, _encoder.encode(after), KEPT_SECONDS, *counted]


def _key(learner: str) -> str:
    return f"schedviz:learner:{learner}"


def _decode(stored: bytes | None) -> Progress | None:
    """Return the progress; None also for that of an older version, whose fields differ."""
    try:
        return _decoder.decode(stored) if stored is not None else None
    except msgspec.DecodeError:
        return None


def _all_progress(stored: Mapping[bytes, bytes]) -> dict[str, Progress]:
    found = {
        name.decode(): _decode(progress)
        for name, progress in stored.items()
        if not name.startswith(_MISCONCEPTION.encode())
    }
    return {name: progress for name, progress in found.items() if progress is not None}


def _misconceptions(stored: Mapping[bytes, bytes]) -> dict[Misconception, int]:
    return {
        cast("Misconception", name.decode().removeprefix(_MISCONCEPTION)): int(count)
        for name, count in stored.items()
        if name.startswith(_MISCONCEPTION.encode())
    }


def _is_current(field: str) -> bool:
    return field.startswith(_MISCONCEPTION) or field in lessons()
