"""The bundled course and LESSONS_DIR; a mistake in a lesson ends the start with one line."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import override_settings

from schedviz.lessons import catalogue
from schedviz.lessons.catalogue import COURSE, check_lessons, lesson_in, lessons
from schedviz.lessons.mistakes import LessonError
from schedviz.store import Meta
from schedviz.store.model import Origin
from tests.processes import ROOT
from tests.waiting import PATIENCE

from .folders import PENDING, copy_lesson


@pytest.fixture(autouse=True)
def read_catalogue_again() -> Iterator[None]:
    lessons.cache_clear()
    yield
    lessons.cache_clear()


def test_own_lessons_come_after_the_course(tmp_path: Path) -> None:
    copy_lesson(tmp_path)
    with override_settings(LESSONS_DIR=tmp_path):
        assert [*lessons()][-1] == "pending"
        assert len(lessons()) == len(catalogue.lesson_folders(COURSE)) + 1
        assert check_lessons() == ""


def test_an_own_lesson_may_not_have_the_name_of_a_bundled_one(tmp_path: Path) -> None:
    first = catalogue.lesson_folders(COURSE)[0]
    shutil.copytree(first, tmp_path / first.name)
    with override_settings(LESSONS_DIR=tmp_path), pytest.raises(LessonError, match="the bundled course has"):
        lessons()


def test_an_own_lesson_may_not_have_the_name_of_an_uploaded_one(tmp_path: Path) -> None:
    copy_lesson(tmp_path)
    (tmp_path / "pending").rename(tmp_path / f"upload-{'a' * 24}")
    with override_settings(LESSONS_DIR=tmp_path), pytest.raises(LessonError, match="uploaded lessons have"):
        lessons()


def test_the_lesson_of_a_sandbox_is_found_by_its_scenario() -> None:
    name = next(iter(lessons()))
    meta = Meta(name="x", scenario=f"lessons/{name}")
    assert lesson_in(meta) == lessons()[name]
    for other in (
        Meta(name="x", scenario=name),
        Meta(name="x", scenario="lessons/none"),
        Meta(name="x", scenario=f"lessons/{name}", origin=Origin("y", 1, 1)),
    ):
        assert lesson_in(other) is None


@pytest.mark.long
@pytest.mark.parametrize("command", [["manage.py", "up"], ["-c", "import schedviz.asgi"]])
def test_a_broken_lesson_ends_the_start_with_its_file_and_line(
    redis_url: str, tmp_path: Path, command: list[str]
) -> None:
    folder = copy_lesson(tmp_path, ("lesson.yaml", "minutes: 4", "minutes: 0"))
    ended = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, "LESSONS_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line == f"schedviz: {folder}/lesson.yaml:4: minutes: must be at least 1"
    assert PENDING.is_dir()
