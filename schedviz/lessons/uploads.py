"""Uploaded lessons in Redis: one key each, which expires. Their names are random, so that only those to whom
the name was given find them, and an upload replaces no other lesson."""

import re
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
from redis import Redis

from schedviz.lessons.kept import Kept
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.mistakes import LessonError
from schedviz.lessons.read_lesson import read_lesson
from schedviz.lessons.unpack import Files

KEPT_SECONDS: Final = 30 * 24 * 3600
"""A lesson is deleted so long after its last use."""
LESSONS_AT_MOST: Final = 200
"""The maximum number of lessons. With UPLOAD_BYTES each they have 19 MiB. Beyond it the least recently used
one of whoever has most is deleted."""
SAFE_SECONDS: Final = 24 * 3600
"""Seconds since its last use during which a lesson is not removed: the longest workshop."""
NAME: Final = re.compile(r"upload-[a-z2-7]{24}")
"""The form of the names of uploaded lessons: 120 random bits, in base 32."""
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz234567"


class Uploads:
    """The uploaded lessons of one Redis."""

    def __init__(self, redis: Redis) -> None:
        self._kept = Kept(redis, "lessons", LESSONS_AT_MOST, KEPT_SECONDS, SAFE_SECONDS)

    def add(
        self, files: Files, now: float, admit: Callable[[], object] = lambda: None, whose: str = ""
    ) -> Lesson:
        """Read a lesson, and store it under a new name. admit: is called before it is stored, and may raise
        an error. whose: see Kept. Raises LessonError, Full."""
        name = "upload-" + "".join(secrets.choice(_ALPHABET) for _ in range(24))
        lesson = read_files(name, files)
        admit()
        self._kept.add(name, msgspec.msgpack.encode(dict(files)), now, whose)
        return lesson

    def find(self, name: str) -> Lesson | None:
        """Return the lesson with this name; None if there is none, no longer, or this version cannot decode
        it."""
        stored = self._kept.find(name)
        if stored is None:
            return None
        try:
            return read_files(name, msgspec.msgpack.decode(stored, type=dict[str, bytes]))
        except LessonError:
            return None

    def note_used(self, name: str, now: float) -> None:
        """Keep a lesson for another KEPT_SECONDS."""
        self._kept.note_used(name, now)


def is_upload(name: str) -> bool:
    return NAME.fullmatch(name) is not None


def read_files(name: str, files: Files) -> Lesson:
    """Return the lesson in some files. Raises LessonError, whose mistakes name the files without a folder."""
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
