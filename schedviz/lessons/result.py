"""The result of a level: what its par counts."""

import msgspec

from schedviz.lessons.lesson import Par
from schedviz.lessons.situation import Situation


class Result(msgspec.Struct, frozen=True):
    victims: int
    """Number of pods that preemption evicted."""
    nodes: int
    """Number of nodes with pods that are bound to them."""
    edits: int
    """Number of objects that the learner created, changed or deleted."""


def result_of(situation: Situation) -> Result:
    return Result(len(situation.evicted), len({*situation.bound.values()}), situation.edits)


def keep_best(best: Par | None, result: Result, par: Par) -> Par:
    """Return the better one of two results in what the par counts: that with fewer victims, then with fewer
    nodes, then with fewer edits."""
    counted = [field for field in par.__struct_fields__ if getattr(par, field) is not None]
    found = Par(**{field: getattr(result, field) for field in counted})
    if best is None:
        return found
    return min(best, found, key=lambda each: [getattr(each, field) for field in counted])
