"""Finds values that a list has more than once, in time that grows with the list."""

import json
from collections.abc import Hashable, Iterable
from typing import Any


def identity(value: Any) -> Hashable:
    """Return what two values of JSON have in common if they are equal: the value itself if it is a text, else
    its canonical text."""
    return value if isinstance(value, str) else (json.dumps(value, sort_keys=True),)


def repeats(values: Iterable[Any]) -> list[bool]:
    """Return for each value whether an equal one is before it."""
    seen: set[Hashable] = set()
    found = []
    for value in map(identity, values):
        found.append(value in seen)
        seen.add(value)
    return found
