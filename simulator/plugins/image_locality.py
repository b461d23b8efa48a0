"""pkg/scheduler/framework/plugins/imagelocality/image_locality.go, v1.34."""

import numpy as np

from simulator.cluster.columns import Ints
from simulator.decision import ScoreInput
from simulator.framework.interface import MAX_NODE_SCORE, CycleState, Explained, ScorePlugin
from simulator.framework.node_batch import NodeBatch
from simulator.objects.pod import Pod

MEGABYTE = 1024 * 1024
MIN_THRESHOLD = 23 * MEGABYTE
"""Less than this on a node is as good as nothing."""
MAX_CONTAINER_THRESHOLD = 1000 * MEGABYTE
"""Per container: more than this is no better."""


class ImageLocality(ScorePlugin):
    """Prefers nodes that hold the pod's images, large ones more, widespread ones more."""

    name = "ImageLocality"

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        sums = self._sums(pod, nodes)
        if sums is None:
            return np.zeros(len(nodes), dtype=np.int64)
        highest = MAX_CONTAINER_THRESHOLD * len(pod.images)
        sums = np.clip(sums, MIN_THRESHOLD, highest)
        scores: Ints = MAX_NODE_SCORE * (sums - MIN_THRESHOLD) // (highest - MIN_THRESHOLD)
        return scores

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Explained:
        sums = self._sums(pod, nodes)
        return Explained([] if sums is None else [ScoreInput("images", len(pod.images), sums.tolist(), [])])

    def _sums(self, pod: Pod, nodes: NodeBatch) -> Ints | None:
        """The bytes of the pod's images on each node; None where no node has any of them."""
        cluster = nodes.cluster
        states = cluster.images.states
        held = [states[image] for image in pod.images if image in states]
        if not held:
            return None
        sums = np.zeros(cluster.width, dtype=np.int64)
        for image in held:
            # Spread over all nodes, so that one node with the image does not draw all the pods to itself.
            sums[list(image.rows)] += int(image.size * (len(image.rows) / cluster.node_count))
        return nodes.take(sums)
