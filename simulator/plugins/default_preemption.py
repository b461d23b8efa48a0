"""DefaultPreemption (pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go)."""

from collections.abc import Iterator, Sequence

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.pod_group_state import find_pod_group
from simulator.config.args import Args, Cause
from simulator.framework.cluster_event import POD, ActionType
from simulator.framework.cycle_state import CycleState
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.extender import ExtenderError
from simulator.framework.interface import (
    EnqueueExtensions,
    GroupSchedule,
    PodGroupPostFilterPlugin,
    PreemptionPlugin,
    PreEnqueuePlugin,
)
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.status import (
    GroupVictims,
    PostFilterResult,
    SelectedCandidate,
    Status,
    error,
    unresolvable,
    unschedulable,
)
from simulator.objects.pod import Pod
from simulator.objects.pod_group import PodGroup
from simulator.preemption.disruption_budgets import list_budgets
from simulator.preemption.dry_run import NOT_HELPFUL, dry_run
from simulator.preemption.eligibility import ineligibility_reason
from simulator.preemption.pod_group_preemption import preempt_for_group
from simulator.preemption.select_candidate import EVALUATION, Evaluation, call_extenders, pick_one_node
from simulator.versions.feature_gates import TOPOLOGY_AWARE_SCHEDULING, WORKLOAD_AWARE_PREEMPTION


class DefaultPreemptionArgs(Args):
    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100

    def validate(self) -> Iterator[Cause]:
        if not 0 <= self.min_candidate_nodes_percentage <= 100:
            yield "minCandidateNodesPercentage", "not in valid range [0, 100]"
        if self.min_candidate_nodes_absolute < 0:
            yield "minCandidateNodesAbsolute", "not in valid range [0, inf)"
        if not self.min_candidate_nodes_percentage and not self.min_candidate_nodes_absolute:
            yield (
                "minCandidateNodesPercentage",
                "cannot be zero at the same time as minCandidateNodesAbsolute",
            )


class DefaultPreemption(EnqueueExtensions, PreEnqueuePlugin, PreemptionPlugin, PodGroupPostFilterPlugin):
    """Nominates the pod to a node on which it fits after pods of lower priority are evicted."""

    name = "DefaultPreemption"
    args_type = DefaultPreemptionArgs
    args: DefaultPreemptionArgs

    def events_to_register(self) -> list[ClusterEventWithHint]:
        """Register Pod/Delete, so that a gated preemptor is processed again when a victim is deleted."""
        return [register(POD, ActionType.DELETE, pod_deleted)]

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Keep the pod gated while the victims of its preemption, or of that of its group, are being
        evicted."""
        if pod.pod_group and self.handle.features.enabled(WORKLOAD_AWARE_PREEMPTION):
            group = find_pod_group(self.handle.cluster, pod.pod_group)
            if group is not None and group.uid in self.handle.preempting:
                return unresolvable("waiting for the preemption for this pod group to be finished")
            return None
        if pod.uid in self.handle.preempting:
            return unresolvable("waiting for the preemption for this pod to be finished")
        return None

    def post_filter(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis
    ) -> tuple[PostFilterResult | None, Status | None]:
        reason = self._reason_of_group(state, pod) if state.of_pod_group else ""
        reason = reason or ineligibility_reason(pod, diagnosis, state.cluster)
        if reason:
            state.write(EVALUATION, Evaluation(ineligible_reason=reason))
            return None, _unschedulable(reason)
        nodes = diagnosis.rows_with_code("Unschedulable")
        if not len(nodes):
            not_helpful = Diagnosis(state.cluster)
            not_helpful.absent = NOT_HELPFUL
            state.write(EVALUATION, Evaluation())
            return PostFilterResult(""), _unschedulable(not_helpful.message())
        # GetOffsetAndNumCandidates: upstream starts at a random node.
        start = state.draw("preemption offset", len(nodes))
        rows = np.concatenate([nodes[start:], nodes[:start]])
        enough = self.candidates_to_find(len(nodes))
        result = dry_run(self.handle, state, pod, rows, enough=enough, pdbs=list_budgets(state.cluster))
        if not len(result.candidates.rows):
            state.write(EVALUATION, Evaluation(dry_run=result))
            return PostFilterResult(""), _unschedulable(result.diagnosis.message())
        try:
            candidates = call_extenders(self.handle.extenders, state.cluster, pod, result.candidates)
        except ExtenderError as fault:
            return None, error(f"preemption: {fault}")
        if not len(candidates.rows):
            return None, _unschedulable("no candidate node for preemption")
        tied, rule = pick_one_node(candidates)
        drawn = state.draw("preemption", len(tied.rows))
        chosen = state.cluster.node(int(tied.rows[drawn])).name
        candidate = SelectedCandidate(chosen, tied.victims(drawn), rule, len(candidates.rows))
        tried = result._replace(candidates=candidates)
        state.write(EVALUATION, Evaluation(dry_run=tried, tied=tied, chosen=chosen, rule=rule))
        return PostFilterResult(chosen, candidate), None

    def _reason_of_group(self, state: CycleState, pod: Pod) -> str:
        """Return why no pod is preempted for a single member of a group, "" if any may be."""
        features = self.handle.features
        if features.enabled(TOPOLOGY_AWARE_SCHEDULING):
            group = find_pod_group(state.cluster, pod.pod_group)
            if group is not None and group.has_constraints:
                return "not eligible due to placement-based pod group scheduling limitation"
        if features.enabled(WORKLOAD_AWARE_PREEMPTION):
            return "not eligible due to workload aware preemption enabled"
        return ""

    def pod_group_post_filter(
        self,
        cluster: Cluster,
        group: PodGroup,
        pods: Sequence[Pod],
        schedule: GroupSchedule,
    ) -> GroupVictims | Status:
        return preempt_for_group(cluster, group, pods, schedule)

    def candidates_to_find(self, nodes: int) -> int:
        """Return the number of candidates to find: a percentage of the nodes, at least the absolute minimum,
        at most all (calculateNumCandidates)."""
        share = nodes * self.args.min_candidate_nodes_percentage // 100
        return min(nodes, max(share, self.args.min_candidate_nodes_absolute))


def _unschedulable(message: str) -> Status:
    return unschedulable(f"preemption: {message}")


def pod_deleted(pod: Pod, old: Pod, new: None) -> bool:
    """Queueing hint: never queue. The hints of the plugins that rejected the pod decide whether it is
    requeued when a victim is deleted."""
    return False
