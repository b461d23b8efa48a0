"""The nodes that node selectors match, and the topology domains, which are the nodes with the same value of a
label. Both are computed once, and then for changed nodes only."""

from typing import NamedTuple

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Column, Ints, Rows
from simulator.objects.labels import Requirement
from simulator.objects.node_selector import NodeSelector, NodeSelectorTerm, selects_names


def match_node_selector(cluster: Cluster, selector: NodeSelector) -> Bools:
    """Return bool[width]: the nodes that at least one term of the selector matches.

    An empty term matches no node (component-helpers/scheduling/corev1/nodeaffinity)."""
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
        if selects_names(field):
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


class TopologyDomains(NamedTuple):
    """The domains of one topology key.

    ``numbers`` is int64[width]: the number of the node's domain, from 1 to ``size`` - 1, or 0 if the node
    does not have the key."""

    numbers: Ints
    size: int

    @property
    def has_key(self) -> Bools:
        """The nodes that have the topology key, bool[width]."""
        return self.numbers > 0

    def sum_by_domain(self, counts: Column) -> Ints:
        """Return int64[size]: the sums of ``counts`` ([width]) by domain. Entry 0 is the sum over the nodes
        that do not have the key."""
        # bincount adds in float64, which is exact for integers up to 2^53.
        return np.bincount(self.numbers, weights=counts, minlength=self.size).astype(np.int64)


def topology_domains(cluster: Cluster, topology_key: str) -> TopologyDomains:
    labels = cluster.label(topology_key)

    def number(rows: Rows | slice) -> Ints:
        return labels.ids[: cluster.width][rows] + 1

    # The cache key is the label column and not its name, because the numbers belong to this column.
    return TopologyDomains(cluster.node_column(("domains", labels), number), len(labels.values) + 1)
