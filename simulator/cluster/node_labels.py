"""Node labels as columns, and node selectors matched against them once per selector."""

from typing import TYPE_CHECKING

import numpy as np

from simulator.cluster.columns import Bools, Interned, Rows
from simulator.objects.labels import Requirement
from simulator.objects.node import Node
from simulator.objects.node_selector import NodeSelector, NodeSelectorTerm

if TYPE_CHECKING:
    from simulator.cluster.cluster import Cluster


class NodeLabels:
    """One interned column for every label key that somebody asked for."""

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._columns: dict[str, Interned[str]] = {}

    def grow(self, capacity: int) -> None:
        for column in self._columns.values():
            column.grow(capacity)

    def set(self, row: int, node: Node | None) -> None:
        for key, column in self._columns.items():
            column.set(row, node.labels.get(key) if node else None)

    def column(self, key: str) -> Interned[str]:
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = Interned(self._cluster.capacity)
            for row, node in enumerate(self._cluster.nodes):
                if node is not None:
                    column.set(row, node.labels.get(key))
        return column

    def selected(self, selector: NodeSelector) -> Bools:
        """bool[width]: the nodes that any term of the selector selects."""
        found: Bools = self._cluster.node_column(
            ("node selector", selector), lambda rows: self._any_term(selector, rows)
        )
        return found

    def _any_term(self, selector: NodeSelector, rows: Rows | slice) -> Bools:
        found = np.zeros_like(self._existing(rows))
        for term in selector:
            if not term.empty:
                found |= self._term(term, rows)
        return found

    def _term(self, term: NodeSelectorTerm, rows: Rows | slice) -> Bools:
        found = self._existing(rows).copy()
        for expression in term.expressions:
            found &= self._expression(expression, rows)
        for field in term.fields:
            named = np.zeros(self._cluster.width, dtype=np.bool_)
            if field.key == "metadata.name":
                named[[row for name, row in self._cluster.rows.items() if field.matches_value(name)]] = True
            found &= named[rows]
        return found

    def _expression(self, expression: Requirement, rows: Rows | slice) -> Bools:
        column = self.column(expression.key)
        answers = column.table(expression.matches_value, expression.matches_value(None), np.bool_)
        found: Bools = answers[column.ids[: self._cluster.width][rows]]
        return found

    def _existing(self, rows: Rows | slice) -> Bools:
        return self._cluster.exists[: self._cluster.width][rows]
