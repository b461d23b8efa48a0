"""pkg/scheduler/framework/plugins/helper/normalize_score.go, v1.34."""

import numpy as np

from simulator.cluster.columns import Ints
from simulator.framework.interface import MAX_NODE_SCORE


def default_normalize_score(scores: Ints, *, reverse: bool) -> Ints:
    """Scores of 0 or more in proportion to the highest one, which becomes 100 (or 0 with
    ``reverse``)."""
    highest = int(scores.max(initial=0))
    if highest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores
    scaled = MAX_NODE_SCORE * scores // highest
    return MAX_NODE_SCORE - scaled if reverse else scaled
