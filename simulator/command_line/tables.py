"""Tables and lists as text."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

MAX_LISTED: Final = 10
"""Maximum number of names in a sentence; further names are only counted."""


def join_names(names: Sequence[str], unlisted: int = 0) -> str:
    """Return the first names, and how many more there are, with those that are ``unlisted``."""
    more = len(names) - MAX_LISTED + unlisted
    return ", ".join(names[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


def align_columns(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    lines = list(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
