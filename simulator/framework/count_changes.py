"""CountChanges: changes to numbers of pods per node, for pods that are added to or removed from a copy."""

import numpy as np

from simulator.cluster.columns import Ints, Rows
from simulator.framework.node_batch import NodeBatch


class CountChanges:
    """The difference, per row, to a number of pods that a plugin counted in PreFilter."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._changes: Ints | None = None

    def __bool__(self) -> bool:
        """Whether :meth:`add` was called."""
        return self._changes is not None

    def add(self, rows: Rows, amount: int) -> None:
        """Add ``amount`` pods (negative = remove pods) on each of these rows. A row that occurs twice gets
        the amount twice."""
        if self._changes is None:
            self._changes = np.zeros(self._width, dtype=np.int64)
        np.add.at(self._changes, rows, amount)

    def for_nodes(self, nodes: NodeBatch) -> Ints | int:
        """Return the changes on the nodes of a batch, int64[n], or 0 if there are none."""
        return 0 if self._changes is None else nodes.take(self._changes)

    def clone(self) -> "CountChanges":
        clone = CountChanges(self._width)
        clone._changes = None if self._changes is None else self._changes.copy()
        return clone
