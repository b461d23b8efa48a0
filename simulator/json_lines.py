"""Questions in, answers out: one JSON object a line, each answered by itself."""

from collections.abc import Callable
from typing import Any, BinaryIO

import msgspec

from simulator.api import Manifest

MAX_LINE_BYTES = 64 << 20
"""A cluster of some ten thousand pods; a longer line is refused."""


def answer_lines(lines: BinaryIO, out: BinaryIO, answer: Callable[[Any], Manifest]) -> int:
    """Write the answer to each line; the exit status.

    A line that cannot be answered, whatever shape a stranger gave it, gets ``{"line": N, "error": "..."}``,
    the others are still answered, and the status is 1."""
    status, number = 0, 0
    while line := lines.readline(MAX_LINE_BYTES):
        number += 1
        try:
            _refuse_rest(line, lines)
            answered = answer(msgspec.json.decode(line))
        except Exception as failure:  # whatever it is: see above
            answered, status = {"line": number, "error": f"{type(failure).__name__}: {failure}"}, 1
        out.write(msgspec.json.encode(answered) + b"\n")
        out.flush()
    return status


def _refuse_rest(line: bytes, lines: BinaryIO) -> None:
    """Raises ValueError for the beginning of a line that is too long, and skips what follows of it."""
    if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
        return
    while (more := lines.readline(MAX_LINE_BYTES)) and not more.endswith(b"\n"):
        pass
    raise ValueError(f"the line is longer than {MAX_LINE_BYTES} bytes")
