"""Uploaded lessons in Redis: one key each, which expires. Their names are random, so that only those to whom
the name was given find them, and an upload replaces no other lesson."""

import re
import secrets
import tempfile
from pathlib import Path
from typing import Final, cast

import msgspec
from redis import Redis

from schedviz.lessons.lesson import Lesson
from schedviz.lessons.mistakes import LessonError
from schedviz.lessons.read_lesson import read_lesson
from schedviz.lessons.unpack import Files

KEPT_SECONDS: Final = 30 * 24 * 3600
"""A lesson is deleted so long after its last use."""
LESSONS_AT_MOST: Final = 200
"""Of at most UPLOAD_BYTES each: 38 MiB. Beyond it the one that was used longest ago is deleted."""
SAFE_SECONDS: Final = 24 * 3600
"""Not one that was used within this time: a workshop lasts at most so long."""
NAME: Final = re.compile(r"upload-[a-z2-7]{24}")
"""120 random bits, in base 32."""
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz234567"
_INDEX: Final = "schedviz:{lessons}:index"
"""Sorted set: name -> when the lesson was last used (wall seconds)."""

# KEYS: the index, the lesson. ARGV: its name, its files, now, KEPT_SECONDS, LESSONS_AT_MOST, SAFE_SECONDS,
# the prefix of keys. Reply: 0 = there are too many lessons.
_ADD: Final = """
local now = tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[4])
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[5]) then
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  if tonumber(oldest[2]) > now - ARGV[6] then return 0 end
  redis.call('DEL', ARGV[7] .. oldest[1])
  redis.call('ZREM', KEYS[1], oldest[1])
end
redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[4])
redis.call('ZADD', KEYS[1], now, ARGV[1])
return 1
"""


class TooManyLessons(Exception):
    """All places are taken by lessons that were used a short time ago."""


class Uploads:
    """The uploaded lessons of one Redis."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._add = redis.register_script(_ADD)

    def add(self, files: Files, now: float) -> Lesson:
        """Read a lesson, and store it under a new name. Raises LessonError, TooManyLessons."""
        name = "upload-" + "".join(secrets.choice(_ALPHABET) for _ in range(24))
        lesson = read_files(name, files)
        stored = msgspec.msgpack.encode(dict(files))
        arguments: list[str | bytes | int] = [
            name,
            stored,
            repr(now),
            KEPT_SECONDS,
            LESSONS_AT_MOST,
            SAFE_SECONDS,
            _key(""),
        ]
        if not self._add([_INDEX, _key(name)], arguments):
            raise TooManyLessons
        return lesson

    def find(self, name: str) -> Lesson | None:
        """None if there is no such lesson, or no longer; also if this version of the program cannot read it
        any more."""
        stored = cast("bytes | None", self._redis.get(_key(name)))
        if stored is None:
            return None
        try:
            return read_files(name, msgspec.msgpack.decode(stored, type=dict[str, bytes]))
        except LessonError:
            return None

    def note_used(self, name: str, now: float) -> None:
        """Keep a lesson for another KEPT_SECONDS."""
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.expire(_key(name), KEPT_SECONDS)
            pipe.zadd(_INDEX, {name: now}, xx=True)
            pipe.execute()


def is_upload(name: str) -> bool:
    return NAME.fullmatch(name) is not None


def read_files(name: str, files: Files) -> Lesson:
    """The lesson in some files. Raises LessonError, whose mistakes name the files without a folder."""
    with tempfile.TemporaryDirectory(prefix="schedviz-lesson-") as directory:
        folder = Path(directory) / name
        folder.mkdir()
        for file, data in files.items():
            (folder / file).write_bytes(data)
        try:
            return read_lesson(folder)
        except LessonError as error:
            mistakes = [each._replace(file=Path(each.file.name)) for each in error.mistakes]
            raise LessonError(mistakes) from None


def _key(name: str) -> str:
    return f"schedviz:{{lessons}}:{name}"
