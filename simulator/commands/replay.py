"""Replay a recording of a sandbox and print its trace as JSON Lines.

The simulator receives the recorded inputs: watch events, times and steps. The command fails if the
simulator's output differs from the recorded one."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from simulator.command_line.files import InputError, file_name, open_lines, unpacked
from simulator.command_line.json_lines import MAX_LINE_BYTES
from simulator.command_line.output import LINE_END, print_failure, write_json_line
from simulator.recording import Record, Recording, record_decoder
from simulator.replay import RecordingError, Replay
from simulator.trace import encode_numbered


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the recording: JSON Lines, optionally gzipped; - is stdin")


def run(options: Namespace) -> int:
    try:
        with open_lines(options.file) as lines:
            for stored in Replay(read_records(unpacked(lines))).run():
                for number, event in stored.trace:
                    write_json_line(sys.stdout.buffer, encode_numbered(number, event).rstrip(LINE_END))
    except BrokenPipeError:
        raise
    except InputError as error:
        print_failure("replay", error)
        return 1
    except (OSError, EOFError, ValueError) as error:
        sys.stdout.flush()
        print_failure("replay", f"{file_name(options.file)}: {error}")
        return 1
    return 0


def read_records(lines: BinaryIO) -> Iterator[Record]:
    """Parse the records of a recording. Raises RecordingError."""
    number = 0
    while line := lines.readline(MAX_LINE_BYTES):
        number += 1
        try:
            record = record_decoder.decode(line)
        except msgspec.MsgspecError as error:
            raise RecordingError(f"line {number}: {error}") from None
        if isinstance(record, Recording) != (number == 1):
            raise RecordingError(f"line {number}: a recording begins with a line of kind Recording")
        yield record
