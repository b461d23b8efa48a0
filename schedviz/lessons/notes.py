"""Teacher's notes on a lesson: what a class shall take home, and for each step its minutes and what to say.
The file ``notes.yaml`` in the lesson's folder has them in all languages."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec
from django.conf import settings

from schedviz.lessons.convert import convert_document
from schedviz.lessons.mistakes import Mistake, YamlFile

FILE: Final = "notes.yaml"
MINUTES_AT_MOST: Final = 120
"""Maximum number of minutes of one step."""

Texts = dict[str, str]
"""Language code -> a line of Markdown. English is always there."""


class StepNotes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    minutes: int
    """The minutes that a class takes for the step, with the talk about it."""
    text: Texts


class TeacherNotes(msgspec.Struct, frozen=True):
    purpose: Texts
    """What the class shall have understood at the end."""
    steps: Mapping[str, StepNotes]
    """Id of the step -> its notes, in the order of the steps."""

    @property
    def minutes(self) -> int:
        return sum(each.minutes for each in self.steps.values())


class _NotesFile(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"api_version": "apiVersion"}
):
    api_version: Literal["schedviz/v1"]
    kind: Literal["TeacherNotes"]
    purpose: Texts
    steps: dict[str, StepNotes]


def read_notes(file: YamlFile, steps: Sequence[str]) -> tuple[TeacherNotes, list[Mistake]]:
    """Return the notes of a lesson with these steps, and their mistakes. Raises LessonError."""
    read = convert_document(file, _NotesFile)
    for path, message in _find_mistakes(read, steps):
        file.add(path, message)
    return TeacherNotes(read.purpose, read.steps), file.mistakes


def _find_mistakes(read: _NotesFile, steps: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the path and the message of each mistake."""
    if [*read.steps] != [*steps]:
        yield "steps", f"must be those of the lesson, in their order: {', '.join(steps)}"
    languages = [code for code, _ in settings.LANGUAGES]
    texts = {
        "purpose": read.purpose,
        **{f"steps[{name}].text": each.text for name, each in read.steps.items()},
    }
    for path, text in texts.items():
        for language in text:
            if language not in languages:
                yield f"{path}.{language}", f"unknown language; there are {', '.join(languages)}"
        missing = {"en", *read.purpose} - {language for language, said in text.items() if said.strip()}
        if missing:
            yield path, f"has no text in {', '.join(sorted(missing))}"
    for name, each in read.steps.items():
        if not 0 < each.minutes <= MINUTES_AT_MOST:
            yield f"steps[{name}].minutes", f"must be from 1 to {MINUTES_AT_MOST}"
