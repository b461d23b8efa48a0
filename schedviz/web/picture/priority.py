"""Ranks of priorities: a rank has a colour and a number of ticks."""

from collections.abc import Iterable
from typing import Final

import msgspec

from schedviz.web.text import format as fmt

TOP_RANK: Final = 5
"""The highest rank. Positive priorities have ranks 1 to 5: on a projector more colours cannot be
distinguished."""
SYSTEM_RANK: Final = 6
SYSTEM_PRIORITY: Final = 2_000_000_000
"""The priority at which Kubernetes' own classes begin (pkg/apis/scheduling/types.go:
system-cluster-critical)."""


class Band(msgspec.Struct, frozen=True):
    """One entry of the legend."""

    rank: int
    value: str
    names: str
    exact: str = ""
    """The priority in full where ``value`` is short."""


class Ranks:
    """The rank of each priority in use: 0 for zero and below, 6 for the system classes."""

    def __init__(self, priorities: Iterable[int]) -> None:
        self.known = frozenset(priorities) | {0}
        positive = sorted(value for value in self.known if 0 < value < SYSTEM_PRIORITY)
        last = len(positive) - 1
        self._ranks = {
            value: TOP_RANK if last == 0 else 1 + place * (TOP_RANK - 1) // last
            for place, value in enumerate(positive)
        }

    def rank(self, priority: int) -> int:
        if priority >= SYSTEM_PRIORITY:
            return SYSTEM_RANK
        return self._ranks.get(priority, 0)

    def legend(self, classes: dict[str, int]) -> list[Band]:
        """Return the entries of the legend, highest first. classes: the names of the priorities. A system
        class is among them only if a pod uses it."""
        names: dict[int, list[str]] = {}
        for name, value in classes.items():
            names.setdefault(value, []).append(name)
        return [self._band(value, names.get(value, [])) for value in sorted(self.known, reverse=True)]

    def _band(self, value: int, names: list[str]) -> Band:
        exact, joined = fmt.number(value), ", ".join(names)
        if value < SYSTEM_PRIORITY:
            return Band(self.rank(value), exact, joined)
        return Band(self.rank(value), fmt.compact(value), joined, exact)
