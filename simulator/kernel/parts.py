"""Divides items into parts of a bounded size."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

import msgspec

T = TypeVar("T")

PART_BYTES: Final = 4_000_000
"""Size of the objects that one write stores, as JSON: a store needs some tens of milliseconds for it."""


def in_parts(items: Iterable[T], size: Callable[[T], int], at_most: int = PART_BYTES) -> Iterator[list[T]]:
    """Yield the items in their order, in parts of at most ``at_most`` bytes, and of at least one item."""
    part: list[T] = []
    total = 0
    for item in items:
        more = size(item)
        if part and total + more > at_most:
            yield part
            part, total = [], 0
        part.append(item)
        total += more
    if part:
        yield part


def size_of(value: Any) -> int:
    """Return the size of a manifest, or of a part of it, as JSON."""
    return len(msgspec.json.encode(value))
