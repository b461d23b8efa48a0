"""Regular expressions from outside: RE2, whose syntax is that of Go's package regexp.

Patterns that a user may write, and only those, are matched here: Python's ``re`` can take exponential time.
RE2 refuses what Go refuses, takes time in proportion to the text, and lets other threads run meanwhile.
Looked at the ``matches`` of cel-expr-python, which is RE2, too: it compiles the pattern again for each text,
keeps the interpreter's lock, and bounds no memory.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import re2

from simulator.kernel.work import OutOfWork, spend_work

STEPS_OF_A_UNIT: Final = 100
"""The steps of RE2, each of one instruction for one byte, in the time of one unit of work."""
_INSTRUCTIONS_OF_A_UNIT: Final = 4
"""The instructions that are compiled in the time of one unit of work."""
_CACHED: Final = 128
"""The number of patterns that are kept, by the library, too."""
_MAX_MEMORY: Final = 1 << 20
"""The most bytes of a pattern with its states."""
_MAX_MEMORY_OF_LARGE: Final = 24 << 20
"""That of a pattern which needs more, such as ``\\pL{1000}``. Go's limit is 128 MB."""
_LARGE: Final = 2
"""The number of large patterns that are kept."""
_WORK_OF_TOO_LARGE: Final = 400_000
"""The work that shows that a pattern is too large."""
_TOO_LARGE: Final = "pattern too large"
_WORK_OF_COMPILATION: Final = 12
"""The work of compiling the smallest pattern."""
_KINDS: Final = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "invalid named capture group": "invalid named capture",
    "trailing \\": "trailing backslash at end of expression",
}
"""The faults that RE2 and Go name differently."""


class PatternFault(ValueError):
    """The error of a text that is no regular expression, in Go's words."""


class Regexp:
    """A compiled pattern. All it does spends work: raises OutOfWork."""

    def __init__(self, pattern: str) -> None:
        """Raises PatternFault."""
        self._compiled = _compile(pattern)
        self._instructions: int = self._compiled.programsize
        # A pattern that the library has compiled before spends as much.
        spend_work(_WORK_OF_COMPILATION + self._instructions // _INSTRUCTIONS_OF_A_UNIT)

    def is_found_in(self, text: str) -> bool:
        """Whether the text or a part of it matches."""
        encoded = text.encode("utf-8", "replace")
        self._spend(len(encoded))
        return self._compiled.search(encoded) is not None

    def find_all(self, text: str) -> Iterator[str]:
        """Yield the parts of the text that match, from left to right, as FindAllString does: no empty match
        directly behind another one."""
        size, end = len(text.encode("utf-8", "replace")), -1
        found = self._compiled.finditer(text)
        while True:
            # Each match may need the rest of the text.
            self._spend(size - max(end, 0))
            match = next(found, None)
            if match is None:
                return
            if match.end() > match.start() or match.start() != end:
                yield str(match[0])
            end = match.end()

    def _spend(self, size: int) -> None:
        spend_work(1 + self._instructions * size // STEPS_OF_A_UNIT)


def find_fault(pattern: str) -> str:
    """Return Go's error of a pattern that is not a regular expression, else ""."""
    try:
        Regexp(pattern)
    except (PatternFault, OutOfWork) as fault:
        return str(fault)
    return ""


def _compile(pattern: str) -> Any:
    """Raises PatternFault, OutOfWork."""
    encoded = pattern.encode("utf-8", "replace")
    spend_work(1 + len(encoded) // _INSTRUCTIONS_OF_A_UNIT)
    if not _is_large(encoded):
        return re2.compile(encoded, _options(_MAX_MEMORY))
    compiled = _compile_large(encoded)
    # What is kept costs as much as what is compiled again: work does not depend on the caches.
    spend_work(_WORK_OF_TOO_LARGE if compiled is None else compiled.programsize)
    if compiled is None:
        raise PatternFault("error parsing regexp: expression too large")
    return compiled


@lru_cache(maxsize=_CACHED)
def _is_large(pattern: bytes) -> bool:
    """Whether a pattern needs more memory than others. Raises PatternFault."""
    try:
        re2.compile(pattern, _options(_MAX_MEMORY))
    except re2.error as error:
        text = _text_of(error)
        if not text.startswith(_TOO_LARGE):
            raise PatternFault(_translate(text)) from None
        return True
    return False


@lru_cache(maxsize=_LARGE)
def _compile_large(pattern: bytes) -> Any:
    """Return None for a pattern that is too large."""
    try:
        return re2.compile(pattern, _options(_MAX_MEMORY_OF_LARGE))
    except re2.error:
        return None
    finally:
        re2.purge()  # else the library keeps it


def _options(memory: int) -> Any:
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    return options


def _text_of(error: Exception) -> str:
    (text,) = error.args
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)


def _translate(text: str) -> str:
    kind, _, at = text.partition(": ")
    return f"error parsing regexp: {_KINDS.get(kind, kind)}" + (f": `{at}`" if at else "")
