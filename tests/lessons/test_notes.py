"""The teacher's notes: those of the course fit their lessons, and mistakes are named with their lines."""

from pathlib import Path

import pytest
from django.conf import settings

from schedviz.lessons.catalogue import COURSE, lesson_folders, lessons
from schedviz.lessons.mistakes import YamlFile
from schedviz.lessons.notes import read_notes
from schedviz.web.rooms.plan import BEGINNERS, read_plan

NOTES = """\
apiVersion: schedviz/v1
kind: TeacherNotes
purpose: {en: To see.}
steps:
  look: {minutes: 2, text: {en: Look.}}
  end:
    minutes: 0
    text: {en: " ", xx: End.}
"""


@pytest.mark.parametrize("name", [path.name for path in lesson_folders(COURSE)])
def test_each_lesson_has_notes_in_all_languages_of_its_texts(name: str) -> None:
    lesson = lessons()[name]
    notes = lesson.notes
    assert notes is not None
    assert [*notes.steps] == [step.id for step in lesson.steps]
    assert {*notes.purpose} >= {"en", "zh-hans"}
    assert all(max(map(len, each.text.values())) <= 400 for each in notes.steps.values())
    # A class needs more time than one who learns alone, and not four times as much.
    assert lesson.minutes <= notes.minutes <= 4 * lesson.minutes


def test_the_plan_of_the_template_gives_each_lesson_the_minutes_of_its_notes() -> None:
    sections = read_plan(BEGINNERS)
    assert sum(each.minutes for each in sections) == 90
    for each in sections:
        if each.kind == "lesson":
            notes = lessons()[each.lesson].notes
            assert notes is not None
            assert each.minutes == notes.minutes, each.lesson


def test_mistakes_in_notes_are_named_with_their_lines() -> None:
    _, mistakes = read_notes(YamlFile(Path("notes.yaml"), NOTES), ["look", "try", "end"])
    known = ", ".join(code for code, _ in settings.LANGUAGES)
    assert [str(each) for each in mistakes] == [
        "notes.yaml:4: steps: must be those of the lesson, in their order: look, try, end",
        f"notes.yaml:8: steps[end].text.xx: unknown language; there are {known}",
        "notes.yaml:8: steps[end].text: has no text in en",
        "notes.yaml:7: steps[end].minutes: must be from 1 to 120",
    ]
