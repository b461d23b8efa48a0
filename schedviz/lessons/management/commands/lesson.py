"""``manage.py lesson check``: reads lessons, and plays their solutions and wrong answers."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from schedviz.lessons.catalogue import COURSE, lesson_folders
from schedviz.lessons.mistakes import LessonError, Mistake
from schedviz.lessons.play_check import find_play_mistakes
from schedviz.lessons.read_lesson import FILE, read_lesson


class Command(BaseCommand):
    help = "Check lessons: their files, and on the simulator their solutions and wrong answers."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        check = commands.add_parser("check", help="print each mistake with its file and line")
        check.add_argument(
            "folders",
            nargs="*",
            type=Path,
            metavar="FOLDER",
            help="a lesson, or a folder of lessons; by default the bundled course and LESSONS_DIR",
        )

    def handle(self, *args: Any, folders: list[Path], **options: Any) -> None:
        known = [COURSE, *([settings.LESSONS_DIR] if settings.LESSONS_DIR else [])]
        found = [each for folder in folders for each in _lessons_in(folder)]
        if not folders:
            found = [each for folder in known for each in lesson_folders(folder)]
        mistakes = [mistake for folder in found for mistake in find_mistakes(folder)]
        for mistake in mistakes:
            self.stdout.write(str(mistake))
        if mistakes:
            raise SystemExit(1)
        self.stdout.write(f"{len(found)} lesson{'' if len(found) == 1 else 's'} checked: no mistakes")


def _lessons_in(folder: Path) -> list[Path]:
    """Return the folder itself, or the lessons in it."""
    return lesson_folders(folder) if folder.is_dir() and not (folder / FILE).exists() else [folder]


def find_mistakes(folder: Path) -> list[Mistake]:
    """Return all mistakes of the lesson in a folder. It is played only if it can be read."""
    try:
        lesson = read_lesson(folder.resolve())
    except LessonError as error:
        return error.mistakes
    return find_play_mistakes(lesson, folder)
