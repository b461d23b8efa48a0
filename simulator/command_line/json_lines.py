"""Processing of JSON Lines: one result for each line, independent of the other lines."""

from collections.abc import Callable
from typing import Any, BinaryIO

import msgspec

from simulator.api import Manifest
from simulator.command_line.output import write_json_line

MAX_LINE_BYTES = 64 << 20
"""Maximum length of a line: a cluster of about ten thousand pods."""


def answer_lines(
    lines: BinaryIO, out: BinaryIO, answer: Callable[[Any], Manifest], *, sort_keys: bool = False
) -> int:
    """Write ``answer(value)`` for each line, and return the exit status.

    If the value is invalid or ``answer`` fails, ``{"line": N, "error": "..."}`` is written, and the status is
    1. The other lines are still processed."""
    status, number = 0, 0
    while line := lines.readline(MAX_LINE_BYTES):
        number += 1
        try:
            _refuse_long_line(line, lines)
            answered = answer(msgspec.json.decode(line))
        except Exception as failure:  # invalid input may cause any error
            answered, status = {"line": number, "error": f"{type(failure).__name__}: {failure}"}, 1
        write_json_line(out, msgspec.json.encode(answered, order="deterministic" if sort_keys else None))
        out.flush()
    return status


def _refuse_long_line(line: bytes, lines: BinaryIO) -> None:
    """Raise ValueError if ``line`` is only the beginning of a line that is too long, and skip the rest of
    it."""
    if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
        return
    while (more := lines.readline(MAX_LINE_BYTES)) and not more.endswith(b"\n"):
        pass
    raise ValueError(f"the line is longer than {MAX_LINE_BYTES} bytes")
