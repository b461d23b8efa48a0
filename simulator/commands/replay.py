"""Replay a recording of a sandbox and print its trace as JSON Lines.

The simulator is given what it was given then: what was written and when it saw it, the time, the steps. It
ends with an error where it does something else than was recorded."""

import gzip
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from simulator.json_lines import MAX_LINE_BYTES
from simulator.recording import Record, Recording, decoder
from simulator.replay import RecordingError, Replay
from simulator.trace import numbered

GZIP = b"\x1f\x8b"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the recording: JSON Lines, perhaps gzipped")


def run(options: Namespace) -> int:
    try:
        with open_recording(options.file) as lines:
            for stored in Replay(records(lines)).run():
                for number, event in stored.trace:
                    sys.stdout.buffer.write(numbered(number, event))
    except (OSError, EOFError, ValueError) as error:
        sys.stdout.flush()
        print(f"{options.file}: {error}", file=sys.stderr)
        return 1
    return 0


def open_recording(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        packed = file.read(2) == GZIP
    return cast("BinaryIO", gzip.open(path)) if packed else path.open("rb")


def records(lines: BinaryIO) -> Iterator[Record]:
    """Raises RecordingError for what is none."""
    number = 0
    while line := lines.readline(MAX_LINE_BYTES):
        number += 1
        try:
            record = decoder.decode(line)
        except msgspec.MsgspecError as error:
            raise RecordingError(f"line {number}: {error}") from None
        if isinstance(record, Recording) != (number == 1):
            raise RecordingError(f"line {number}: a recording begins with a line of kind Recording")
        yield record
