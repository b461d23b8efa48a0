"""The score of DynamicResources (Score and computeScore in dynamicresources.go, since v1.35)."""

from typing import Final

import numpy as np

from simulator.api import Manifest
from simulator.cluster.columns import Ints
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import ScorePlugin
from simulator.framework.node_batch import NodeBatch
from simulator.framework.normalize import default_normalize_score
from simulator.objects.pod import Pod
from simulator.plugins.dynamic_resources.dynamic_resources import DynamicResources
from simulator.plugins.dynamic_resources.filter_search import allocations_on
from simulator.plugins.dynamic_resources.pod_claims import STATE, ClaimsState
from simulator.plugins.dynamic_resources.resource_claim import ResourceClaim

MOST_ALTERNATIVES: Final = 8
"""The maximum number of subrequests in ``firstAvailable`` (FirstAvailableDeviceRequestMaxSize)."""


class ScoringDynamicResources(DynamicResources, ScorePlugin):
    """Prefers nodes on which the claims get the subrequests that stand first in ``firstAvailable``."""

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints | None:
        found: ClaimsState = state.read(STATE)
        if not any(request.first_available for claim in found.claims for request in claim.requests):
            return None
        scores: Ints = np.zeros(len(nodes), dtype=np.int64)
        for index, row in enumerate(nodes.rows.tolist()):
            chosen = allocations_on(state.cluster, found, row)
            scores[index] = sum(
                _score(claim, claim.allocation or chosen.get(claim.uid) or {}) for claim in found.claims
            )
        return scores

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeBatch, scores: Ints) -> Ints:
        return default_normalize_score(scores, reverse=False)


def _score(claim: ResourceClaim, allocation: Manifest) -> int:
    """Return the score of a claim: a subrequest that was allocated counts the more, the earlier it stands."""
    results = (allocation.get("devices") or {}).get("results") or ()
    allocated = {result["request"] for result in results}
    return sum(
        MOST_ALTERNATIVES - place
        for request in claim.requests
        for place, alternative in enumerate(request.alternatives)
        if request.first_available and request.result_name(alternative) in allocated
    )
