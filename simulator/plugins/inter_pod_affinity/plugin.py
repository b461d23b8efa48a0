"""interpodaffinity/plugin.go, v1.34."""

from simulator.cluster.columns import Ints
from simulator.config.args import InterPodAffinityArgs
from simulator.framework.interface import (
    SKIP,
    CycleState,
    Explained,
    FilterPlugin,
    PluginError,
    PreFilterExtensions,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
    Status,
    Verdicts,
)
from simulator.framework.node_batch import NodeBatch
from simulator.objects.pod import Pod
from simulator.plugins.inter_pod_affinity import filtering, scoring

PRE_FILTER_STATE = "PreFilterInterPodAffinity"
PRE_SCORE_STATE = "PreScoreInterPodAffinity"


class InterPodAffinity(PreFilterExtensions, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Brings pods together, or keeps them apart, by what already runs in a domain."""

    name = "InterPodAffinity"
    args: InterPodAffinityArgs

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        found = filtering.pre_filter_state(state.cluster, pod)
        if found is None:
            return SKIP
        state.write(PRE_FILTER_STATE, found)
        return None

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int) -> Status | None:
        self._filtering(state).suppose(added, row, 1)
        return None

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int) -> Status | None:
        self._filtering(state).suppose(removed, row, -1)
        return None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        return self._filtering(state).verdicts(nodes)

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        states_none = not (pod.affinity.preferred or pod.affinity.preferred_anti)
        if states_none and self.args.ignore_preferred_terms_of_existing_pods:
            return SKIP
        scores = scoring.topology_scores(state.cluster, pod, self.args.hard_pod_affinity_weight)
        if scores is None:
            return SKIP
        state.write(PRE_SCORE_STATE, scores)
        return None

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        scores: Ints | None = state.find(PRE_SCORE_STATE)
        if scores is None:
            raise PluginError(f'failed to read "{PRE_SCORE_STATE}" from cycleState: not found')
        return nodes.take(scores)

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Explained:
        return Explained(terms=scoring.terms(nodes, pod, self.args.hard_pod_affinity_weight))

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeBatch, scores: Ints) -> Ints:
        return scoring.normalize(scores)

    def _filtering(self, state: CycleState) -> filtering.PreFilterState:
        found: filtering.PreFilterState | None = state.find(PRE_FILTER_STATE)
        if found is None:
            raise PluginError(f'error reading "{PRE_FILTER_STATE}" from cycleState: not found')
        return found
