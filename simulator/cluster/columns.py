"""Columns: NumPy arrays with one entry per node, and a cache of computed columns.

A row is the index of a node in every column. A node keeps its row until it is deleted; then the row is free
and a later node can get it.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

V = TypeVar("V", bound=Hashable)

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]
Column = NDArray[Any]

_HALF = 1 << 63
INTEGERS = (np.int8, np.int16, np.int32, np.int64)

MAX_CACHED_COLUMNS = 512
"""The number of columns that a ColumnCache keeps; beyond it, the least recently used one is dropped. With
5,000 nodes, 512 columns of int64 take 20 MB. Few workloads have more than 512 kinds of pods at a time."""
MAX_ALIKE = 4096
"""The number of values that a ColumnCache keeps for rows that are alike; beyond it, all are dropped."""
MAX_LOOKED_UP = 4
"""The most changed rows whose values are looked up one by one; more of them are computed at once."""


def grow_column(column: Column, capacity: int, fill: int = 0) -> Column:
    """Return a copy of the column with the last axis extended to ``capacity``; new entries are ``fill``."""
    wider = np.full((*column.shape[:-1], capacity), fill, dtype=column.dtype)
    wider[..., : column.shape[-1]] = column
    return wider


def wrapped(total: int) -> int:
    """Return a sum as int64 has it: on overflow it wraps around, as in Go."""
    return total if -_HALF <= total < _HALF else (total + _HALF) % (2 * _HALF) - _HALF


def add_wrapping(column: Ints, index: int, amount: int) -> None:
    """Add ``amount`` to one entry, which wraps around on overflow."""
    column[index] = wrapped(column.item(index) + amount)


def narrowed(column: Ints) -> NDArray[Any]:
    """Return a copy in the smallest integer type that holds the values."""
    low, high = (int(column.min()), int(column.max())) if column.size else (0, 0)
    kind = next(kind for kind in INTEGERS if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return column.astype(kind)


@lru_cache(maxsize=32)
def constant(count: int, value: int) -> NDArray[np.int8]:
    """Return a column of equal values, the same one each time, which cannot be written to."""
    column = np.full(count, value, dtype=np.int8)
    column.setflags(write=False)
    return column


class InternedColumn(Generic[V]):
    """A column of values that many rows share.

    Each distinct value has a number. ``ids[row]`` is the number of the row's value, -1 if it has none;
    ``values[number]`` is the value, None if the number is free. To compute something from the values,
    compute it once per distinct value with :meth:`table` and index the result with ``ids``.
    """

    def __init__(self, capacity: int) -> None:
        self.ids: Ints = np.full(capacity, -1, dtype=np.int64)
        self.values: list[V | None] = []
        self._numbers: dict[V, int] = {}
        self._uses: list[int] = []
        self._free: list[int] = []

    def grow(self, capacity: int) -> None:
        self.ids = grow_column(self.ids, capacity, -1)

    def set(self, row: int, value: V | None) -> None:
        """Set the value of a row; None = the row has no value."""
        old = int(self.ids[row])
        self.ids[row] = -1 if value is None else self._take(value)
        if old >= 0:
            self._release(old)

    def number(self, value: V) -> int:
        """Return the number of the value, -1 if no row has it."""
        return self._numbers.get(value, -1)

    def table(self, compute: Callable[[V], Any], absent: Any, dtype: Any) -> Column:
        """Return ``compute(value)`` for each number. The last entry is ``absent``, so that id -1 (a row
        without a value) gets it."""
        results = [absent if value is None else compute(value) for value in self.values]
        results.append(absent)
        return np.array(results, dtype=dtype)

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
    """A cache of computed columns that recomputes only the rows that changed.

    Every change in the cluster has a generation, a number that increases. A column that was computed at
    generation g is stale in the rows that changed at a later generation.
    """

    def __init__(self) -> None:
        self._columns: OrderedDict[Hashable, tuple[int, Column]] = OrderedDict()
        self._alike: dict[tuple[Hashable, Hashable], Column] = {}
        """By key and by what a row's value depends on: the value."""
        self._stale: tuple[tuple[int, int, int], Rows] = (0, 0, 0), np.empty(0, dtype=np.intp)
        """A generation, a later one, and the number of rows, and the rows that changed in between: the
        columns that a cycle reads were mostly computed in the same cycle before."""

    def get(
        self,
        key: Hashable,
        changed_at: Ints,
        generation: int,
        compute: Callable[[Rows | slice], Column],
        alike: Callable[[int], Hashable] | None = None,
    ) -> Column:
        """Return the column of ``key``, of length ``len(changed_at)``. Callers must not write to it.

        ``changed_at[row]`` is the generation of the row's last change, ``generation`` that of the last change
        of any row. ``compute(rows)`` gets an index array, or a slice for all rows, and returns their values.
        ``alike(row)``: all that the value of a row depends on, so that it is computed once for rows that are
        alike, and the column of integers has the smallest type that holds them; None = this is not known.
        """
        found = self._columns.get(key)
        width = len(changed_at)
        if found is not None and found[1].shape[-1] == width:
            since, column = found
            self._columns.move_to_end(key)
            if since == generation:
                return column
            span = since, generation, width
            if span != self._stale[0]:
                self._stale = span, (changed_at > since).nonzero()[0]
            stale = self._stale[1]
            if len(stale) * 2 < width:
                if alike is not None and len(stale) <= MAX_LOOKED_UP:
                    for row in stale.tolist():
                        value = self._value(key, row, alike(row), compute)
                        if value.itemsize > column.itemsize:
                            column = column.astype(value.dtype)
                        column[..., row] = value
                else:
                    values = compute(stale) if alike is None else narrowed(compute(stale))
                    if values.itemsize > column.itemsize:
                        column = column.astype(values.dtype)
                    column[..., stale] = values
                self._columns[key] = (generation, column)
                return column
        column = compute(slice(0, width))
        if alike is not None:
            column = narrowed(column)
        self._columns[key] = (generation, column)
        if len(self._columns) > MAX_CACHED_COLUMNS:
            self._columns.popitem(last=False)
        return column

    def _value(
        self, key: Hashable, row: int, alike: Hashable, compute: Callable[[Rows | slice], Column]
    ) -> Column:
        """Return the value of a row, that of an earlier row which was alike where there was one."""
        value = self._alike.get((key, alike))
        if value is None:
            if len(self._alike) >= MAX_ALIKE:
                self._alike.clear()
            value = self._alike[key, alike] = narrowed(compute(np.array([row])))[..., 0]
        return value
