"""Topology domains: nodes that have the same value of a label, the topology key."""

from typing import NamedTuple

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Column, Ints, Rows


class Domains(NamedTuple):
    """``numbers``: int64[width], a node's domain from 1 on, 0 where it lacks the key. Below ``size``."""

    numbers: Ints
    size: int

    @property
    def known(self) -> Bools:
        """bool[width]: the nodes that have the key."""
        return self.numbers > 0

    def sums(self, counts: Column) -> Ints:
        """int64[size]: ``counts`` (per row) added up by domain; at 0 those of nodes without the key."""
        # bincount adds up in float64, which is exact for whole numbers to 2^53.
        return np.bincount(self.numbers, weights=counts, minlength=self.size).astype(np.int64)


def domains(cluster: Cluster, topology_key: str) -> Domains:
    labels = cluster.label(topology_key)

    def number(rows: Rows | slice) -> Ints:
        return labels.ids[: cluster.width][rows] + 1

    # The key is the label's column and not its name: another column would have other numbers.
    return Domains(cluster.node_column(("domains", labels), number), len(labels.values) + 1)
