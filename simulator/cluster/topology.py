"""Topology domains: the sets of nodes that have the same value of a label, whose key is the topology key."""

from typing import NamedTuple

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Column, Ints, Rows


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
