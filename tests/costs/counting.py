"""Counts the calls of a piece of work: the same number on every machine."""

import cProfile
from typing import Final

from tests.costs.requests import Case, Work

MOST: Final = 2.3
"""How many times more calls a request with twice as many entries may make."""


def calls_of(work: Work) -> int:
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


def growth_of(case: Case, count: int) -> float | None:
    """Return how many times more calls a request makes with twice as many entries. None: there is no such
    request."""
    first, small, large = (case.prepare(entries) for entries in (2, count, 2 * count))
    if first is None or small is None or large is None:
        return None
    first()  # which fills what is cached for each kind
    return calls_of(large) / calls_of(small)
