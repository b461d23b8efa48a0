"""All lessons: the bundled course, those of LESSONS_DIR, and the uploaded ones."""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from django.conf import settings

from schedviz.lessons.lesson import Lesson
from schedviz.lessons.mistakes import LessonError, Mistake
from schedviz.lessons.read_lesson import FILE, read_lesson
from schedviz.lessons.uploads import Uploads, is_upload
from schedviz.store import Meta
from schedviz.store.default import default_store

COURSE: Final = Path(__file__).resolve().parent / "course"
"""The bundled course: a folder for each lesson."""
LESSONS_AT_MOST: Final = 200
"""Maximum number of lessons of LESSONS_DIR."""
UPLOADS_HELD: Final = 32
"""Maximum number of uploaded lessons that a process holds: about 1 MB each."""
_SCENARIO: Final = "lessons/"


class Lessons(Mapping[str, Lesson]):
    """Lessons by name. An uploaded lesson is found by its name, but is not in the list: only those who were
    given the name may find it."""

    def __init__(self, listed: Mapping[str, Lesson]) -> None:
        self._listed = listed

    def __getitem__(self, name: str) -> Lesson:
        return self._listed[name] if name in self._listed else _find_upload(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)


@cache
def lessons() -> Lessons:
    """Return the bundled course, sorted by ``order``, then those of LESSONS_DIR. The files are read once.
    Raises LessonError."""
    course = _read_folders(COURSE)
    directory: Path | None = settings.LESSONS_DIR
    own = _read_folders(directory) if directory else []
    taken = {lesson.name for lesson in course}
    for lesson in own:
        if directory and lesson.name in taken:
            message = "the bundled course has a lesson of this name"
            raise LessonError([Mistake(directory / lesson.name, 1, message)])
        if directory and is_upload(lesson.name):
            message = "uploaded lessons have such names; choose another one"
            raise LessonError([Mistake(directory / lesson.name, 1, message)])
    return Lessons({lesson.name: lesson for lesson in (*course, *own)})


def _find_upload(name: str) -> Lesson:
    """Return the uploaded lesson of that name. Raises KeyError."""
    if not is_upload(name):
        raise KeyError(name)
    return _read_upload(name)


@lru_cache(maxsize=UPLOADS_HELD)
def _read_upload(name: str) -> Lesson:
    """Return an uploaded lesson, which does not change. Raises KeyError."""
    lesson = Uploads(default_store().redis).find(name)
    if lesson is None:
        raise KeyError(name)
    return lesson


def lesson_folders(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob(f"*/{FILE}"))


def scenario_of(lesson: Lesson) -> str:
    """Return the value of ``Meta.scenario`` in the lesson's sandboxes."""
    return _SCENARIO + lesson.name


def lesson_in(meta: Meta) -> Lesson | None:
    """Return the lesson for which a sandbox was created; None for other sandboxes, and for a branch of
    one."""
    if meta.origin is not None or not meta.scenario.startswith(_SCENARIO):
        return None
    return lessons().get(meta.scenario.removeprefix(_SCENARIO))


def check_lessons() -> str:
    """Return the first mistake in the lessons; "" if they can be read."""
    try:
        lessons()
    except LessonError as error:
        return str(error.mistakes[0])
    return ""


def _read_folders(folder: Path) -> list[Lesson]:
    """Return the lessons in a folder, sorted by their order. Raises LessonError with the mistakes of all."""
    return sorted(_read_all(lesson_folders(folder)), key=lambda lesson: (lesson.order, lesson.name))


def _read_all(folders: list[Path]) -> Iterator[Lesson]:
    mistakes: list[Mistake] = []
    if len(folders) > LESSONS_AT_MOST:
        raise LessonError([Mistake(folders[0].parent, 1, f"has more than {LESSONS_AT_MOST} lessons")])
    for folder in folders:
        try:
            yield read_lesson(folder)
        except LessonError as error:
            mistakes += error.mistakes
    if mistakes:
        raise LessonError(mistakes)
