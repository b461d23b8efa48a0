"""What comes of a comparison."""

from typing import Literal

import msgspec

from simulator.api import Micros
from simulator.decision import Decision

Unit = Literal["pods", "percent", "points"]
"""``points``: percentage points, of a standard deviation."""


class Curve(msgspec.Struct, frozen=True):
    """A figure over simulated time: it has each value until the next point's time."""

    name: str
    """``pending``, ``requested:<resource>``, ``fragmentation``, ``load-deviation``, ``zone-deviation`` or
    ``preempted``; see :mod:`simulator.compare.observer` for what each means."""
    unit: Unit
    points: list[tuple[Micros, float]]
    """(time since the start, value), thinned out; mean and peak are of everything."""
    mean: float
    """Over time."""
    peak: float
    last: float


class Waits(msgspec.Struct, frozen=True):
    """How long the pods of one priority waited for a node, from when they were seen without a scheduling
    gate."""

    priority: int
    bound: int
    median: Micros | None
    """Of those that were bound, as p90; None where none was."""
    p90: Micros | None
    pending: int
    """Still waiting at the end."""
    longest_pending: Micros
    """How long the first of those has waited by then; 0 without any."""


class Outcome(msgspec.Struct, frozen=True):
    """One side."""

    cycles: int
    bound: int
    preempted: int
    """Victims of preemption."""
    curves: list[Curve]
    waits: list[Waits]
    """Highest priority first."""

    def curve(self, name: str) -> Curve | None:
        return next((curve for curve in self.curves if curve.name == name), None)


class Difference(msgspec.Struct, frozen=True):
    """The first scheduling cycle at which the two did not do the same."""

    cycle: int
    kind: Literal["pod", "outcome", "node", "victims", "none"]
    """What differs first: the pod that was popped, what became of it, the node that was chosen or nominated,
    the victims there; ``none``: one side had no such cycle any more."""
    a: Decision | None
    b: Decision | None


class Comparison(msgspec.Struct, frozen=True):
    start: Micros
    end: Micros
    """Since the start: up to where both were run."""
    complete: bool
    """False where somebody stopped it before its time."""
    reference: dict[str, int]
    """The requests of the pod by which fragmentation is measured; empty without any."""
    a: Outcome
    b: Outcome
    difference: Difference | None
    """None = every cycle was the same."""
