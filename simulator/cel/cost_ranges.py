"""Ranges of sizes and of costs (cel-go checker/cost.go, SizeEstimate and CostEstimate; v0.26)."""

import math
from dataclasses import dataclass
from typing import Final

UNBOUNDED: Final = (1 << 64) - 1
"""The largest number; no calculation gets beyond it."""


@dataclass(frozen=True, slots=True)
class Range:
    """The least and the greatest possible value."""

    least: int
    most: int

    def add(self, other: "Range") -> "Range":
        return Range(_bound(self.least + other.least), _bound(self.most + other.most))

    def multiply(self, other: "Range") -> "Range":
        return Range(_bound(self.least * other.least), _bound(self.most * other.most))

    def scale(self, factor: float) -> "Range":
        """Return the product with a factor, rounded up."""
        return Range(scale(self.least, factor), scale(self.most, factor))

    def join(self, other: "Range") -> "Range":
        """Return the range that has both."""
        return Range(min(self.least, other.least), max(self.most, other.most))


NOTHING: Final = Range(0, 0)
ONE: Final = Range(1, 1)
UNKNOWN: Final = Range(0, UNBOUNDED)


def fixed(number: int) -> Range:
    return Range(number, number)


def scale(number: int, factor: float) -> int:
    """Return a number times a factor, rounded up."""
    return _bound(math.ceil(float(number) * factor))


def multiply(number: int, times: int) -> int:
    return _bound(number * times)


def add(number: int, other: int) -> int:
    return _bound(number + other)


def _bound(number: int) -> int:
    return min(number, UNBOUNDED)
