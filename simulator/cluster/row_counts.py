"""Counts per node, stored sparsely and read as arrays.

The stored counts grow with the number of pods: one entry per group of pods and node that has such pods.
Arrays over all rows exist only for the keys that were read most recently.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

import numpy as np

from simulator.cluster.columns import Ints, grow_column

K = TypeVar("K", bound=Hashable)

MAX_COUNT_COLUMNS = 1024
"""The number of columns that a CountColumnCache keeps; beyond it, the least recently used one is dropped and
computed again when it is needed. 1024 is enough for 500 Deployments whose pods each need two counts. With
5,000 nodes, 1024 columns take 64 MB."""


class RowCounts:
    """A count for every row that has at least one. Each change also updates the columns that sum it."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}
        self.columns: list[CountColumn] = []

    def add(self, row: int, amount: int) -> None:
        """Add ``amount`` to the count of a row. It is negative when pods are removed."""
        count = self.rows.get(row, 0) + amount
        if count:
            self.rows[row] = count
        else:
            del self.rows[row]
        for column in self.columns:
            column.counts[row] += amount
            column.total += amount

    def add_to_column(self, column: "CountColumn") -> None:
        """Add these counts to a column, which follows their changes from now on."""
        self.columns.append(column)
        column.parts.add(self)
        for row, count in self.rows.items():
            column.counts[row] += count
            column.total += count

    def remove_from_columns(self) -> None:
        """Detach these counts, which must all be 0, from their columns."""
        assert not self.rows, "only counts of 0 can be removed from columns"
        for column in self.columns:
            column.parts.discard(self)
        self.columns.clear()


class CountColumn:
    """The sum of several RowCounts. ``counts`` is int64[capacity]; only RowCounts may write to it."""

    def __init__(self, capacity: int) -> None:
        self.counts: Ints = np.zeros(capacity, dtype=np.int64)
        self.total = 0
        self.parts: set[RowCounts] = set()


class CountColumnCache(Generic[K]):
    """The columns that were read most recently. ``on_evict`` is called with the key of a column that is
    dropped because there are more than MAX_COUNT_COLUMNS."""

    def __init__(self, capacity: int, on_evict: Callable[[K], None] | None = None) -> None:
        self._capacity = capacity
        self._on_evict = on_evict
        self._columns: OrderedDict[K, CountColumn] = OrderedDict()

    def get(self, key: K, parts: Callable[[], Iterable[RowCounts]]) -> CountColumn:
        """Return the column of ``key``. If it is not in the cache, it is the sum of ``parts()``."""
        column = self._columns.get(key)
        if column is not None:
            self._columns.move_to_end(key)
            return column
        column = self._columns[key] = CountColumn(self._capacity)
        for part in parts():
            part.add_to_column(column)
        if len(self._columns) > MAX_COUNT_COLUMNS:
            oldest = next(iter(self._columns))
            self.drop(oldest)
            if self._on_evict is not None:
                self._on_evict(oldest)
        return column

    def get_cached(self, key: K) -> CountColumn:
        """Return the cached column. Raises KeyError if it is not in the cache."""
        return self._columns[key]

    def __len__(self) -> int:
        return len(self._columns)

    def drop(self, key: K) -> None:
        """Remove a column from the cache, if it is there."""
        column = self._columns.pop(key, None)
        if column is not None:
            for part in column.parts:
                part.columns.remove(column)

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        for column in self._columns.values():
            column.counts = grow_column(column.counts, capacity)
