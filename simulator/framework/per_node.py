"""PerNodeFilter and PerNodeScore: base classes for plugins that filter or score one node per call.

Upstream's plugins are written in this way, and it is the easiest way to write a plugin. It costs one Python
call per node. For thousands of nodes, implement FilterPlugin and ScorePlugin with columns.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection

import numpy as np

from simulator.cluster.columns import Ints
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import FilterPlugin, ScorePlugin
from simulator.framework.node_batch import NodeBatch
from simulator.framework.status import PluginError, Status, Verdicts, error
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.objects.pod_requests import BASIC_RESOURCES


class NodeInfo:
    """A node and its pods (framework.NodeInfo). In preemption, and for nodes with nominated pods, it is a
    copy from which pods were removed or to which pods were added."""

    def __init__(self, nodes: NodeBatch, index: int) -> None:
        self._nodes = nodes
        self._index = index

    @property
    def node(self) -> Node:
        """The parsed node: name, labels, taints and so on. ``node.manifest`` is the whole object."""
        return self._nodes.node(self._index)

    @property
    def pods(self) -> Collection[Pod]:
        return list(self._nodes.pods(self._index))

    @property
    def requested(self) -> Counter[str]:
        """The sums of the requests of the pods by resource: cpu in millicores, others in their unit. It is 0
        for a resource that no pod requests."""
        sums = Counter(dict.fromkeys(BASIC_RESOURCES, 0))
        for pod in self.pods:
            sums.update(pod.requests)
        return sums


def node_infos(nodes: NodeBatch) -> list[tuple[int, NodeInfo]]:
    """Return the nodes of a batch with their indices in it, without free rows."""
    exists = nodes.take(nodes.cluster.exists)
    return [(i, NodeInfo(nodes, i)) for i in np.flatnonzero(exists).tolist()]


class PerNodeFilter(FilterPlugin):
    @abstractmethod
    def filter_node(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None:
        """Return None if the pod can run on the node, else the status that rejects the node. A PluginError
        becomes an Error status of this node only."""

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
        """Return the raw score of a node. It must be from 0 to 100 unless ``normalize`` is overridden."""

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        scores: Ints = np.zeros(len(nodes), dtype=np.int64)
        for i, info in node_infos(nodes):
            scores[i] = self.score_node(state, pod, info)
        return scores
