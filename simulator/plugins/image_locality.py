"""ImageLocality (pkg/scheduler/framework/plugins/imagelocality/image_locality.go)."""

import numpy as np

from simulator.cluster.columns import Ints
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import MAX_NODE_SCORE, ScorePlugin, SignPlugin
from simulator.framework.node_batch import NodeBatch
from simulator.framework.score_explanation import ScoreExplanation, ScoreInput
from simulator.framework.signers import IMAGES, Fragments
from simulator.objects.pod import Pod

MEGABYTE = 1024 * 1024
MIN_THRESHOLD = 23 * MEGABYTE
"""Sum of bytes up to which the score is 0."""
MAX_CONTAINER_THRESHOLD = 1000 * MEGABYTE
"""Sum of bytes per container from which on the score is 100."""


class ImageLocality(SignPlugin, ScorePlugin):
    """Prefers nodes that have the pod's images. The score increases with the size of an image and with the
    number of nodes that have it."""

    name = "ImageLocality"

    def sign_pod(self, pod: Pod) -> Fragments:
        return {IMAGES: sorted(self._images(pod))}

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints | None:
        sums = self._sums(pod, nodes)
        if sums is None:
            return None
        highest = MAX_CONTAINER_THRESHOLD * len(pod.images)
        sums = np.clip(sums, MIN_THRESHOLD, highest)
        scores: Ints = MAX_NODE_SCORE * (sums - MIN_THRESHOLD) // (highest - MIN_THRESHOLD)
        return scores

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> ScoreExplanation:
        sums = self._sums(pod, nodes)
        return ScoreExplanation(
            [] if sums is None else [ScoreInput("images", len(pod.images), sums.tolist(), [])]
        )

    def _images(self, pod: Pod) -> tuple[str, ...]:
        counts_volumes = self.handle.features.version.image_locality_counts_volumes
        return pod.images + pod.image_volumes if counts_volumes else pod.images

    def _sums(self, pod: Pod, nodes: NodeBatch) -> Ints | None:
        """Return the sum of the scaled sizes (bytes) of the pod's images on each node, int64[n]; None if no
        node has any of them (sumImageScores)."""
        cluster = nodes.cluster
        states = cluster.images.states
        found = [states[image] for image in self._images(pod) if image in states]
        if not found:
            return None
        sums = np.zeros(cluster.width, dtype=np.int64)
        for image in found:
            # scaledImageScore: with this factor, a single node that has the image does not get all pods.
            sums[list(image.rows)] += int(image.size * (len(image.rows) / cluster.node_count))
        return nodes.take(sums)
