"""The limits of the cost of CEL evaluations, and the counters for them.

Upstream: apiserver/pkg/apis/cel/config.go.
"""

from collections.abc import Sequence
from typing import Any, Final

from simulator.cel.errors import cost_exceeded
from simulator.kernel.work import OutOfWork, spend_work

PER_CALL_LIMIT: Final = 1_000_000
"""The largest cost of one evaluation."""
COPIED: Final = 500
"""The number of list elements that are copied in the time of one iteration; cel-go does not copy them."""
EVALUATION_WORK: Final = 8
"""The units of work of an evaluation, beside its cost and its iterations."""
_COST_OF_A_UNIT: Final = 2
"""The cost of an evaluation in the time of one unit of work; an iteration takes one, too."""
_LENGTH_OF_A_UNIT: Final = 8
"""The characters that a function reads, or the elements, in the time of one unit of work."""
REQUEST_LIMIT: Final = 10_000_000
"""The largest cost of all rules for one object (RuntimeCELCostBudget)."""


class Meter:
    """The cost of one evaluation so far, and its limits."""

    __slots__ = ("cost", "iterations", "most_iterations")

    def __init__(self, most_iterations: int = PER_CALL_LIMIT) -> None:
        """``most_iterations``: of all macros. An iteration usually costs 3 or more, so that by default the
        limit of the cost is reached first."""
        self.cost = 0
        self.iterations = 0
        self.most_iterations = most_iterations

    def charge(self, cost: int) -> None:
        """Add to the cost. Raises CostExceeded at the limit."""
        self.cost += cost
        if self.cost > PER_CALL_LIMIT:
            raise cost_exceeded()

    def count(self, iterations: int) -> None:
        """Count iterations. Raises CostExceeded at the limit."""
        self.iterations += iterations
        if self.iterations > self.most_iterations:
            raise cost_exceeded()


class OutOfBudget(Exception):
    """The evaluations together cost too much, or the work of the request is done."""


class Budget:
    """The cost that remains for evaluations that share a budget. They also spend the work of the request
    (:mod:`simulator.kernel.work`), which all its budgets share."""

    def __init__(self, cost: int) -> None:
        self._cost = cost

    @property
    def has_ended(self) -> bool:
        return self._cost < 0

    def end(self) -> None:
        self._cost = -1

    def start(self) -> Meter:
        """Return the meter of one more evaluation. Raises OutOfBudget."""
        _spend_work(EVALUATION_WORK)
        return Meter()

    def spend(self, meter: Meter) -> None:
        """Count what an evaluation did. Raises OutOfBudget."""
        _spend_work(meter.cost // _COST_OF_A_UNIT + meter.iterations)
        if meter.cost > self._cost:
            raise OutOfBudget
        self._cost -= meter.cost


def spend_on_lengths(values: Sequence[Any], kinds: tuple[type, ...] = (str, bytes, list)) -> None:
    """Count that a function reads those of these values that have a length. Raises OutOfWork."""
    length = sum(len(value) for value in values if type(value) in kinds)
    if length >= _LENGTH_OF_A_UNIT:
        spend_work(length // _LENGTH_OF_A_UNIT)


def _spend_work(units: int) -> None:
    try:
        spend_work(units)
    except OutOfWork:
        raise OutOfBudget from None
