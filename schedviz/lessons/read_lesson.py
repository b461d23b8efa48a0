"""Reads a lesson from its folder (docs/LESSONS.md), and reports all mistakes with their lines."""

from pathlib import Path
from typing import Final, Literal

import msgspec
from django.conf import settings

from schedviz.lessons.check_texts import find_text_mistakes
from schedviz.lessons.convert import convert_document
from schedviz.lessons.lesson import Lesson, LessonText, Misconception, Par, Step
from schedviz.lessons.mistakes import LessonError, Mistake, YamlFile
from schedviz.lessons.notes import FILE as NOTES
from schedviz.lessons.notes import TeacherNotes, read_notes
from schedviz.lessons.read_cluster import read_cluster
from schedviz.lessons.read_text import read_text
from schedviz.lessons.step_rules import find_step_mistakes
from schedviz.store.store import NAME
from simulator.apiserver.bounds import MAX_BYTES

FILE: Final = "lesson.yaml"
CLUSTER: Final = "cluster.yaml"
NAME_AT_MOST: Final = 43
"""Maximum number of characters of a lesson's name: with ``lesson-`` and ``-<12 hex>`` it is the name of a
sandbox."""


class LessonFile(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"api_version": "apiVersion"}
):
    """The content of ``lesson.yaml``."""

    api_version: Literal["schedviz/v1"]
    kind: Literal["Lesson"]
    order: int
    minutes: int
    steps: list[Step]
    misconceptions: list[Misconception] = []
    par: Par | None = None


def read_lesson(folder: Path) -> Lesson:
    """Read the lesson in a folder, whose name is the name of the lesson. Raises LessonError."""
    if not NAME.fullmatch(folder.name) or len(folder.name) > NAME_AT_MOST:
        message = f"the name of the folder must be a DNS label of at most {NAME_AT_MOST} characters"
        raise LessonError([Mistake(folder, 1, message)])
    file = YamlFile(folder / FILE, _read(folder / FILE))
    lesson = _convert(file)
    cluster, mistakes = read_cluster(folder / CLUSTER, _read(folder / CLUSTER))
    if cluster is not None:
        find_step_mistakes(file, lesson.steps, cluster)
    texts, text_mistakes = _read_texts(folder, lesson.steps)
    notes, note_mistakes = _read_notes(folder / NOTES, lesson.steps)
    mistakes = [*file.mistakes, *mistakes, *text_mistakes, *note_mistakes]
    if mistakes or cluster is None:
        raise LessonError(mistakes)
    return Lesson(
        name=folder.name,
        order=lesson.order,
        minutes=lesson.minutes,
        misconceptions=lesson.misconceptions,
        steps=lesson.steps,
        par=lesson.par,
        cluster=cluster,
        texts=texts,
        notes=notes,
    )


def _read_notes(path: Path, steps: list[Step]) -> tuple[TeacherNotes | None, list[Mistake]]:
    """Return the teacher's notes, None = the lesson has none; and their mistakes. Raises LessonError."""
    if not path.exists():
        return None, []
    return read_notes(YamlFile(path, _read(path)), [step.id for step in steps])


def _read(path: Path) -> str:
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except OSError as error:
        raise LessonError([Mistake(path, 1, f"cannot be read: {error.strerror}")]) from None
    if data is None:
        raise LessonError([Mistake(path, 1, f"larger than {MAX_BYTES // 1024} KiB")])
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LessonError([Mistake(path, line, "not UTF-8")]) from None


def _convert(file: YamlFile) -> LessonFile:
    """Return the file's content. Raises LessonError."""
    lesson = convert_document(file, LessonFile)
    for field, value in (("order", lesson.order), ("minutes", lesson.minutes)):
        if value < 1:
            file.add(field, "must be at least 1")
    return lesson


def _read_texts(folder: Path, steps: list[Step]) -> tuple[dict[str, LessonText], list[Mistake]]:
    """Return the texts by language, and their mistakes."""
    languages = [code for code, _ in settings.LANGUAGES]
    texts: dict[str, LessonText] = {}
    mistakes: list[Mistake] = []
    for path in sorted(folder.glob("*.md")):
        if path.stem not in languages:
            mistakes.append(Mistake(path, 1, f"unknown language; there are {', '.join(languages)}"))
            continue
        text, places, found = read_text(path, _read(path))
        texts[path.stem] = text
        mistakes += found
        mistakes += find_text_mistakes(steps, text, places)
    if "en" not in texts:
        mistakes.append(Mistake(folder / "en.md", 1, "is missing"))
    return texts, mistakes
