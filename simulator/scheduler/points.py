"""Cycles as generators: each extension point is named just before it is run, so that one can step."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from simulator.decision import Decision


class Point(NamedTuple):
    """The extension point that a cycle stands before."""

    name: str
    cycle: int
    pod: str
    """``namespace/name``."""
    so_far: Callable[[], Decision] | None = None
    """Makes the record of what the attempt found until now; None once the whole one is there."""


Points = Iterator[Point]
