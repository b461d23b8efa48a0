"""Mistakes in the files of a lesson, each with its file and line."""

import re
from pathlib import Path
from typing import Final, NamedTuple

from schedviz.field_positions import FieldPositions
from simulator.apiserver.manifest import ManifestError

MISTAKES_AT_MOST: Final = 50
"""Maximum number of mistakes of one lesson that are reported."""


_PLACE: Final = re.compile(r"line \d+(, column \d+)?: ")


class Mistake(NamedTuple):
    file: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class LessonError(ValueError):
    """The lesson has mistakes. The message has a line for each: ``FILE:LINE: message``."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        self.mistakes = sorted(mistakes, key=lambda each: (each.file.name, each.line))[:MISTAKES_AT_MOST]
        super().__init__("\n".join(str(each) for each in self.mistakes))


class YamlFile:
    """A file in YAML whose mistakes are collected."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self._positions = FieldPositions(text)
        self.mistakes: list[Mistake] = []

    def add(self, field: str, message: str, document: int = 0) -> None:
        """Add a mistake in a field, whose path is written as in Kubernetes: ``steps[0].checks[1].expect``."""
        place = self._positions.find(field, document)
        self.add_at(place.line if place else 1, f"{field}: {message}" if field else message)

    def add_syntax_error(self, error: ManifestError) -> None:
        """Add a mistake because of which the file is not YAML."""
        self.add_at(error.line or 1, _PLACE.sub("", str(error)))

    def add_at(self, line: int, message: str) -> None:
        self.mistakes.append(Mistake(self.path, line, message))
