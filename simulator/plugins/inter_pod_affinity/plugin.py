"""The extension points of InterPodAffinity (interpodaffinity/plugin.go, v1.34)."""

from collections.abc import Iterator

from simulator.cluster.columns import Ints, Rows
from simulator.config.args import Args, Cause
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import (
    ColumnExtensions,
    EnqueueExtensions,
    FilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from simulator.framework.node_batch import NodeBatch
from simulator.framework.queueing_hint import ClusterEventWithHint
from simulator.framework.score_explanation import ScoreExplanation
from simulator.framework.status import SKIP, PluginError, PreFilterResult, Status, Verdicts
from simulator.objects.pod import Pod
from simulator.plugins.inter_pod_affinity import filtering, queueing_hints, scoring

PRE_FILTER_STATE = "PreFilterInterPodAffinity"
PRE_SCORE_STATE = "PreScoreInterPodAffinity"


class InterPodAffinityArgs(Args):
    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False

    def validate(self) -> Iterator[Cause]:
        if not 0 <= self.hard_pod_affinity_weight <= 100:
            yield "hardPodAffinityWeight", "not in valid range [0, 100]"


class InterPodAffinity(EnqueueExtensions, ColumnExtensions, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Filters and scores nodes by the pod's affinity and anti-affinity to the pods in their topology domains,
    and by the affinity and anti-affinity of these pods to the pod."""

    name = "InterPodAffinity"
    args_type = InterPodAffinityArgs
    args: InterPodAffinityArgs

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return queueing_hints.events_to_register()

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        found = filtering.pre_filter_state(state.cluster, pod)
        if found is None:
            return SKIP
        state.write(PRE_FILTER_STATE, found)
        return None

    def add_pods(self, state: CycleState, pod: Pod, added: Pod, rows: Rows) -> None:
        self._pre_filter_state(state).update_with_pod(added, rows, 1)

    def remove_pods(self, state: CycleState, pod: Pod, removed: Pod, rows: Rows) -> None:
        self._pre_filter_state(state).update_with_pod(removed, rows, -1)

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        return self._pre_filter_state(state).verdicts(nodes)

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        has_preferred = bool(pod.affinity.preferred or pod.affinity.preferred_anti)
        if not has_preferred and self.args.ignore_preferred_terms_of_existing_pods:
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

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> ScoreExplanation:
        return ScoreExplanation(terms=scoring.explain_terms(nodes, pod, self.args.hard_pod_affinity_weight))

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeBatch, scores: Ints) -> Ints:
        return scoring.normalize(scores)

    def _pre_filter_state(self, state: CycleState) -> filtering.AffinityPreFilterState:
        found: filtering.AffinityPreFilterState | None = state.find(PRE_FILTER_STATE)
        if found is None:
            raise PluginError(f'error reading "{PRE_FILTER_STATE}" from cycleState: not found')
        return found
