"""NodeLabels: the values of node labels as columns, one for every label key that was used."""

from collections.abc import Sequence

from simulator.cluster.columns import InternedColumn
from simulator.objects.node import Node


class NodeLabels:
    """The labels of the nodes. ``nodes`` is the cluster's list of nodes by row, which the cluster keeps up to
    date."""

    def __init__(self, nodes: Sequence[Node | None], capacity: int) -> None:
        self._nodes = nodes
        self._capacity = capacity
        self._columns: dict[str, InternedColumn[str]] = {}

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        for column in self._columns.values():
            column.grow(capacity)

    def set(self, row: int, node: Node | None) -> None:
        """Update a row in all columns; None = the row is free."""
        for key, column in self._columns.items():
            column.set(row, node.labels.get(key) if node else None)

    def column(self, key: str) -> InternedColumn[str]:
        """Return the column of a label key. The first call for a key creates it from all nodes."""
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = InternedColumn(self._capacity)
            for row, node in enumerate(self._nodes):
                if node is not None:
                    column.set(row, node.labels.get(key))
        return column
