"""How many of something are on each node: kept sparse, read dense.

What is kept grows with the cluster's pods (a count per kind of pod and node that has any); arrays over all
rows exist only for the questions that were asked lately.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

import numpy as np

from simulator.cluster.columns import Ints, grown

K = TypeVar("K", bound=Hashable)

MAX_COLUMNS = 1024
"""Dense columns kept at a time by one index; the one unused for longest goes first, and is added up again
when it is asked for again. Enough for 500 Deployments in turn that ask about their pods in two ways; at 5,000
nodes it is 64 MB."""


class RowCounts:
    """A count per row, of rows that have any. Columns that it is part of follow every change."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}
        self.columns: list[Column] = []

    def change(self, row: int, by: int) -> None:
        count = self.rows.get(row, 0) + by
        if count:
            self.rows[row] = count
        else:
            del self.rows[row]
        for column in self.columns:
            column.counts[row] += by
            column.total += by

    def join(self, column: "Column") -> None:
        """Be part of the column from now on."""
        self.columns.append(column)
        column.parts.add(self)
        for row, count in self.rows.items():
            column.counts[row] += count
            column.total += count

    def leave(self) -> None:
        """Be part of no column any more, having come to nothing."""
        assert not self.rows, "counts that are dropped must be back at zero"
        for column in self.columns:
            column.parts.discard(self)
        self.columns.clear()


class Column:
    """The sum of some RowCounts: ``counts`` is int64[capacity], not to be written to by readers."""

    def __init__(self, capacity: int) -> None:
        self.counts: Ints = np.zeros(capacity, dtype=np.int64)
        self.total = 0
        self.parts: set[RowCounts] = set()


def ignore(_: object) -> None:
    """Nothing to be done."""


class Columns(Generic[K]):
    """The columns that were asked for, by what they count. ``let_go`` is told of a key whose column had to
    go."""

    def __init__(self, capacity: int, let_go: Callable[[K], None] = ignore) -> None:
        self._capacity = capacity
        self._let_go = let_go
        self._columns: OrderedDict[K, Column] = OrderedDict()

    def get(self, key: K, parts: Callable[[], Iterable[RowCounts]]) -> Column:
        """The column of ``key``; ``parts`` is asked what it consists of where it is not kept."""
        column = self._columns.get(key)
        if column is not None:
            self._columns.move_to_end(key)
            return column
        column = self._columns[key] = Column(self._capacity)
        for part in parts():
            part.join(column)
        if len(self._columns) > MAX_COLUMNS:
            oldest = next(iter(self._columns))
            self.drop(oldest)
            self._let_go(oldest)
        return column

    def kept(self, key: K) -> Column:
        """Raises KeyError where the column is not kept."""
        return self._columns[key]

    def __len__(self) -> int:
        return len(self._columns)

    def drop(self, key: K) -> None:
        """Forget a column, if it is kept."""
        column = self._columns.pop(key, None)
        if column is not None:
            for part in column.parts:
                part.columns.remove(column)

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        for column in self._columns.values():
            column.counts = grown(column.counts, capacity)
