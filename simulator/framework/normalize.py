"""default_normalize_score (pkg/scheduler/framework/plugins/helper/normalize_score.go)."""

import numpy as np

from simulator.cluster.columns import Ints
from simulator.framework.interface import MAX_NODE_SCORE


def default_normalize_score(scores: Ints, *, reverse: bool) -> Ints:
    """Scale scores of 0 or more so that the highest becomes 100. With ``reverse``, return 100 minus the
    scaled scores (DefaultNormalizeScore)."""
    highest = int(scores.max(initial=0))
    if highest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores
    scaled = MAX_NODE_SCORE * scores // highest
    return MAX_NODE_SCORE - scaled if reverse else scaled
