"""The nodes that node selectors match, computed once per selector and then for changed nodes only."""

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Rows
from simulator.objects.labels import Requirement
from simulator.objects.node_selector import NodeSelector, NodeSelectorTerm


def match_node_selector(cluster: Cluster, selector: NodeSelector) -> Bools:
    """Return bool[width]: the nodes that at least one term of the selector matches.

    An empty term matches no node (component-helpers/scheduling/corev1/nodeaffinity, v1.34)."""
    matched: Bools = cluster.node_column(
        ("node selector", selector), lambda rows: _match_any_term(cluster, selector, rows)
    )
    return matched


def _match_any_term(cluster: Cluster, selector: NodeSelector, rows: Rows | slice) -> Bools:
    matched = np.zeros_like(_existing(cluster, rows))
    for term in selector:
        if not term.empty:
            matched |= _match_term(cluster, term, rows)
    return matched


def _match_term(cluster: Cluster, term: NodeSelectorTerm, rows: Rows | slice) -> Bools:
    matched = _existing(cluster, rows).copy()
    for expression in term.expressions:
        matched &= _match_expression(cluster, expression, rows)
    for field in term.fields:
        named = np.zeros(cluster.width, dtype=np.bool_)
        if field.key == "metadata.name":
            named[[row for name, row in cluster.rows.items() if field.matches_value(name)]] = True
        matched &= named[rows]
    return matched


def _match_expression(cluster: Cluster, expression: Requirement, rows: Rows | slice) -> Bools:
    column = cluster.label(expression.key)
    matches = column.table(expression.matches_value, expression.matches_value(None), np.bool_)
    matched: Bools = matches[column.ids[: cluster.width][rows]]
    return matched


def _existing(cluster: Cluster, rows: Rows | slice) -> Bools:
    return cluster.exists[: cluster.width][rows]
