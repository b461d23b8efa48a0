"""Columns: one number per node row, kept up to date as nodes and pods come and go.

A row is a node's place in every column; it stays the node's for as long as the node exists, and is used again
after that. Three kinds are here: interned values, whole columns computed from rows, and the order of nodes.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

V = TypeVar("V", bound=Hashable)

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]
Column = NDArray[Any]

MAX_CACHED_COLUMNS = 512
"""Computed columns kept at a time; the one unused for longest goes first. At 5,000 nodes 512 columns of int64
are 20 MB, and a workload of more than 512 kinds of pods at once is rare."""


def grown(column: Column, capacity: int, fill: int = 0) -> Column:
    """The column, its last axis lengthened to ``capacity``."""
    wider = np.full((*column.shape[:-1], capacity), fill, dtype=column.dtype)
    wider[..., : column.shape[-1]] = column
    return wider


def shift(column: Ints, index: int, by: int) -> None:
    """Add to one entry; beyond int64 it wraps around, as upstream's sums do (an array does so silently, where
    a NumPy scalar warns)."""
    column[index : index + 1] += by


class Interned(Generic[V]):
    """Small numbers for values that many rows share: ``ids[row]`` is the number of the row's value, -1 for
    none.

    A question about values is asked once per distinct value (:meth:`table`) and spread over the rows by their
    ids.
    """

    def __init__(self, capacity: int) -> None:
        self.ids: Ints = np.full(capacity, -1, dtype=np.int64)
        self.values: list[V | None] = []
        self._numbers: dict[V, int] = {}
        self._uses: list[int] = []
        self._free: list[int] = []

    def grow(self, capacity: int) -> None:
        self.ids = grown(self.ids, capacity, -1)

    def set(self, row: int, value: V | None) -> None:
        """Give a row its value; None takes it away."""
        old = int(self.ids[row])
        self.ids[row] = -1 if value is None else self._take(value)
        if old >= 0:
            self._release(old)

    def number(self, value: V) -> int:
        """The value's number; -1 where no row has it."""
        return self._numbers.get(value, -1)

    def table(self, ask: Callable[[V], Any], absent: Any, dtype: Any) -> Column:
        """The answer per number, that for rows without value at the end (so that id -1 finds it)."""
        answers = [absent if value is None else ask(value) for value in self.values]
        answers.append(absent)
        return np.array(answers, dtype=dtype)

    def _take(self, value: V) -> int:
        number = self._numbers.get(value)
        if number is None:
            if self._free:
                number = self._free.pop()
                self.values[number] = value
            else:
                number = len(self.values)
                self.values.append(value)
                self._uses.append(0)
            self._numbers[value] = number
        self._uses[number] += 1
        return number

    def _release(self, number: int) -> None:
        self._uses[number] -= 1
        if not self._uses[number]:
            value = self.values[number]
            assert value is not None
            del self._numbers[value]
            self.values[number] = None
            self._free.append(number)


class ColumnCache:
    """Columns computed by somebody from what a clock dates, recomputed only for rows that changed since.

    ``clock[row]`` is the generation at which the row last changed; a column computed at generation g is stale
    in the rows whose clock is past g.
    """

    def __init__(self) -> None:
        self._columns: OrderedDict[Hashable, tuple[int, Column]] = OrderedDict()

    def get(
        self, key: Hashable, clock: Ints, generation: int, compute: Callable[[Rows | slice], Column]
    ) -> Column:
        """The column of ``key`` over ``len(clock)`` rows. ``compute`` is given the rows to work out (all of
        them as a slice), and must return their values in that order. The result must not be written to."""
        found = self._columns.get(key)
        width = len(clock)
        if found is not None and found[1].shape[-1] == width:
            since, column = found
            self._columns.move_to_end(key)
            if since == generation:
                return column
            stale = np.flatnonzero(clock > since)
            if len(stale) * 2 < width:
                if len(stale):
                    column[..., stale] = compute(stale)
                self._columns[key] = (generation, column)
                return column
        column = compute(slice(0, width))
        self._columns[key] = (generation, column)
        if len(self._columns) > MAX_CACHED_COLUMNS:
            self._columns.popitem(last=False)
        return column
