"""The extension points PreScore and Score (pkg/scheduler/framework/runtime/framework.go)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.columns import Ints, constant, narrowed
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import MAX_NODE_SCORE, MIN_NODE_SCORE
from simulator.framework.node_batch import NodeBatch
from simulator.framework.runtime import Framework
from simulator.framework.status import PluginError
from simulator.objects.pod import Pod


class ScoreColumns(NamedTuple):
    """The scores of one plugin for the nodes that passed the filters.

    The arrays have the smallest integer type that holds their values, because the trace keeps them."""

    plugin: str
    weight: int
    raw: NDArray[Any]
    normalized: NDArray[Any]
    """The scores from 0 to 100. Only the scores of an extender can be outside this range."""
    all_zero: bool = False
    """Whether the plugin gave no raw scores, as all are 0."""

    def weighted(self) -> Ints:
        """The normalized scores multiplied by the weight, int64[n]."""
        added: Ints = np.multiply(self.normalized, self.weight, dtype=np.int64)
        return added


def run_pre_score(framework: Framework, state: CycleState, pod: Pod, nodes: NodeBatch) -> list[str]:
    """Return the names of the plugins that returned Skip, sorted (RunPreScorePlugins). Raises PluginError."""
    skipped = set()
    for plugin in framework.pre_score_plugins:
        try:
            status = plugin.pre_score(state, pod, nodes)
        except PluginError as fault:
            raise PluginError(f'running PreScore plugin "{plugin.name}": {fault}') from None
        if status is None:
            continue
        if status.code != "Skip":
            raise PluginError(f'running PreScore plugin "{plugin.name}": {status.message}')
        skipped.add(plugin.name)
    state.skip_score = frozenset(skipped)
    return sorted(skipped)


def run_score(
    framework: Framework, state: CycleState, pod: Pod, nodes: NodeBatch
) -> tuple[list[ScoreColumns], Ints]:
    """Return the scores of each plugin, and int32[n] or int64[n], the sum of the weighted scores
    (RunScorePlugins). Raises PluginError."""
    columns = []
    totals: NDArray[Any] = np.zeros(len(nodes), dtype=framework.totals_type)
    for plugin in framework.score_plugins:
        if plugin.name in state.skip_score:
            continue
        weight = framework.weights[plugin.name]
        try:
            raw = plugin.score(state, pod, nodes)
            if raw is None:
                same = plugin.normalized_zero
                zeros, equal = constant(len(nodes), 0), constant(len(nodes), same)
                columns.append(ScoreColumns(plugin.name, weight, zeros, equal, all_zero=True))
                if same:
                    totals += same * weight
                continue
            normalized = plugin.normalize(state, pod, nodes, raw)
        except PluginError as fault:
            raise PluginError(f'running Score plugins: plugin "{plugin.name}" failed with: {fault}') from None
        _check_range(plugin.name, normalized)
        small = normalized.astype(np.int8)
        totals += small if weight == 1 else np.multiply(small, weight, dtype=totals.dtype)
        columns.append(
            ScoreColumns(plugin.name, weight, small if raw is normalized else narrowed(raw), small)
        )
    return columns, totals


def _check_range(plugin: str, scores: Ints) -> None:
    """Raise PluginError if a score is below 0 or above 100."""
    if not len(scores):
        return
    if np.minimum.reduce(scores) >= MIN_NODE_SCORE and np.maximum.reduce(scores) <= MAX_NODE_SCORE:
        return
    wrong = scores[(scores < MIN_NODE_SCORE) | (scores > MAX_NODE_SCORE)][0]
    raise PluginError(
        f'applying score defaultWeights on Score plugins: plugin "{plugin}" returns an invalid '
        f"score {wrong}, it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
    )
