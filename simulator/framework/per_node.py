"""Plugins that think of one node at a time, lifted to the batches of the interface.

This is how upstream's plugins are written, and the easiest way to write one's own. It costs a Python call a
node: at thousands of nodes, write the plugin over columns instead.
"""

from abc import abstractmethod
from collections.abc import Collection

import numpy as np

from simulator.cluster.columns import Ints
from simulator.framework.interface import (
    CycleState,
    FilterPlugin,
    PluginError,
    ScorePlugin,
    Status,
    Verdicts,
    error,
)
from simulator.framework.node_batch import NodeBatch
from simulator.objects.node import Node
from simulator.objects.pod import Pod


class NodeInfo:
    """A node with its pods, as they are or, in preemption and with nominated pods, as they are supposed to
    be."""

    def __init__(self, nodes: NodeBatch, index: int) -> None:
        self._nodes = nodes
        self._index = index

    @property
    def node(self) -> Node:
        """Name, labels, taints, ...; ``node.manifest`` is all of it."""
        return self._nodes.node(self._index)

    @property
    def pods(self) -> Collection[Pod]:
        return list(self._nodes.pods(self._index))

    @property
    def requested(self) -> dict[str, int]:
        """What the pods request together: cpu in millicores, the rest in units."""
        amounts = self._nodes.requested[:, self._index].tolist()
        return {name: amounts[line] for name, line in self._nodes.cluster.resources.items()}


def node_infos(nodes: NodeBatch) -> list[tuple[int, NodeInfo]]:
    """With their places in the batch; free rows are left out."""
    there = nodes.take(nodes.cluster.exists)
    return [(i, NodeInfo(nodes, i)) for i in np.flatnonzero(there).tolist()]


class PerNodeFilter(FilterPlugin):
    @abstractmethod
    def filter_node(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Whether this node can take the pod; None = it can. A PluginError is this node's alone."""

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        codes: Ints = np.zeros(len(nodes), dtype=np.int64)
        numbers: dict[Status, int] = {}
        for i, info in node_infos(nodes):
            try:
                status = self.filter_node(state, pod, info)
            except PluginError as fault:
                status = error(str(fault))
            if status is not None:
                codes[i] = numbers.setdefault(status, len(numbers) + 1)
        return Verdicts(codes, list(numbers))


class PerNodeScore(ScorePlugin):
    @abstractmethod
    def score_node(self, state: CycleState, pod: Pod, info: NodeInfo) -> int:
        """A raw score: any number, if ``normalize`` brings all of them to 0..100."""

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        scores: Ints = np.zeros(len(nodes), dtype=np.int64)
        for i, info in node_infos(nodes):
            scores[i] = self.score_node(state, pod, info)
        return scores
