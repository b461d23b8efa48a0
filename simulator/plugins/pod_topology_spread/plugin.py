"""podtopologyspread/plugin.go, v1.34."""

from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints
from simulator.config.args import PodTopologySpreadArgs
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
from simulator.plugins.pod_topology_spread import filtering, scoring
from simulator.plugins.pod_topology_spread.common import Action, TopologySpreadConstraint, constraints_of
from simulator.plugins.pod_topology_spread.default_constraints import SYSTEM_DEFAULTS, default_constraints

PRE_FILTER_STATE = "PreFilterPodTopologySpread"
PRE_SCORE_STATE = "PreScorePodTopologySpread"


class PodTopologySpread(PreFilterExtensions, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Spreads pods evenly over topology domains."""

    name = "PodTopologySpread"
    args: PodTopologySpreadArgs

    def __init__(self, args: PodTopologySpreadArgs, framework: Any) -> None:
        super().__init__(args, framework)
        self.system_defaulted = args.defaulting_type != "List"
        self.defaults = SYSTEM_DEFAULTS if self.system_defaulted else args.default_constraints

    def constraints(self, pod: Pod, cluster: Cluster, action: Action) -> list[TopologySpreadConstraint]:
        """The pod's own constraints, or the profile's where it states none at all."""
        stated = pod.spec.get("topologySpreadConstraints")
        if stated:
            return constraints_of(stated, pod.labels, action)
        return default_constraints(self.defaults, pod, cluster, action)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        constraints = self.constraints(pod, state.cluster, "DoNotSchedule")
        if not constraints:
            return SKIP
        state.write(PRE_FILTER_STATE, filtering.pre_filter_state(state.cluster, pod, constraints))
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
        constraints = self.constraints(pod, state.cluster, "ScheduleAnyway")
        if not constraints:
            return SKIP
        # With the system's defaults a node without a zone still takes part in spreading by hostname.
        require_all = bool(pod.spec.get("topologySpreadConstraints")) or not self.system_defaulted
        found = scoring.pre_score_state(nodes, pod, constraints, require_all=require_all)
        state.write(PRE_SCORE_STATE, found)
        return None

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        return scoring.score(self._scoring(state), nodes)

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Explained:
        found: scoring.PreScoreState | None = state.find(PRE_SCORE_STATE)
        return Explained(terms=scoring.terms(found, nodes) if found else [])

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeBatch, scores: Ints) -> Ints:
        return scoring.normalize(self._scoring(state), nodes, scores)

    def _filtering(self, state: CycleState) -> filtering.PreFilterState:
        found: filtering.PreFilterState | None = state.find(PRE_FILTER_STATE)
        if found is None:
            raise PluginError(f'reading "{PRE_FILTER_STATE}" from cycleState: not found')
        return found

    def _scoring(self, state: CycleState) -> scoring.PreScoreState:
        found: scoring.PreScoreState | None = state.find(PRE_SCORE_STATE)
        if found is None:
            raise PluginError(f'error reading "{PRE_SCORE_STATE}" from cycleState: not found')
        return found
