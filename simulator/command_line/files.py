"""The files of a command's arguments: ``-`` is standard input, and a fault names the file that has it."""

import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final, cast

from simulator.api import Manifest, Micros
from simulator.apiserver.manifest import parse_manifests, to_utf8
from simulator.apiserver.status import StatusError
from simulator.dumps.dump import Dump
from simulator.objects.durations import parse_duration
from simulator.scenario import Scenario, load_scenario

STANDARD_INPUT: Final = Path("-")
CONFIGURATION: Final = "KubeSchedulerConfiguration"
GZIP: Final = b"\x1f\x8b"


class InputError(Exception):
    """An argument or a file cannot be used. The message is one line, and begins with its name."""


def file_name(path: Path) -> str:
    return "standard input" if path == STANDARD_INPUT else str(path)


@contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """Raise the faults of what is read from a file as InputError with the name of the file."""
    try:
        yield
    except OSError as failure:
        raise InputError(f"{file_name(path)}: {failure.strerror or failure}") from None
    except (
        StatusError,
        ValueError,
    ) as failure:  # ValueError: also those of manifests, configurations, scenarios
        raise InputError(f"{file_name(path)}: {failure}") from None


def read_file(path: Path) -> bytes:
    """Return the contents of a file. Raises InputError, also for standard input that was read already."""
    with faults_of(path):
        if path != STANDARD_INPUT:
            return path.read_bytes()
        data = sys.stdin.buffer.read()
        if not data:
            raise ValueError("it is empty; at most one of the files can be -")
        return data


@contextmanager
def open_lines(path: Path) -> Iterator[BinaryIO]:
    """Open a file of lines. Raises InputError for a file that cannot be opened."""
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    with faults_of(path):
        opened = path.open("rb")
    with opened:
        yield opened


def unpacked(lines: BinaryIO) -> BinaryIO:
    """Return the lines of a file that may be gzipped."""
    packed = cast("BufferedReader", lines).peek(len(GZIP)).startswith(GZIP)
    return cast("BinaryIO", gzip.open(lines)) if packed else lines


def read_text(path: Path) -> bytes:
    """Return the text of a file as UTF-8. Raises InputError."""
    data = read_file(path)
    with faults_of(path):
        return to_utf8(data)


def read_dump(path: Path) -> Dump:
    """Read a dump: a file or a folder. Raises InputError."""
    with faults_of(path):
        return Dump(read_file(path)) if path == STANDARD_INPUT else Dump.read(path)


def read_configuration(path: Path | None) -> Manifest | None:
    """Read a file with one KubeSchedulerConfiguration; None = the default one. Raises InputError."""
    if path is None:
        return None
    data = read_text(path)
    with faults_of(path):
        documents = parse_manifests(data)
        if len(documents) != 1 or documents[0]["kind"] != CONFIGURATION:
            raise ValueError(f"expected one {CONFIGURATION}, found {list_kinds(documents)}")
        return documents[0]


def read_scenario(path: Path) -> Scenario:
    """Raises InputError."""
    data = read_text(path)
    with faults_of(path):
        return load_scenario(data.decode())


def list_kinds(documents: list[Manifest]) -> str:
    """Return the kinds of the documents, for a message."""
    return ", ".join(str(document["kind"]) for document in documents) or "no object"


def read_duration(option: str, text: str) -> Micros:
    """Parse the duration of an option. Raises InputError."""
    try:
        return parse_duration(text)
    except ValueError as failure:
        raise InputError(f"{option}: {failure}") from None
