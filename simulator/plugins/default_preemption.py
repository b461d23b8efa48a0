"""pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go, v1.34."""

from functools import partial

import numpy as np

from simulator.config.args import DefaultPreemptionArgs
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.interface import (
    CycleState,
    PostFilterPlugin,
    PostFilterResult,
    Status,
    error,
    unschedulable,
)
from simulator.objects.pod import Pod
from simulator.preemption import record
from simulator.preemption.budgets import budgets
from simulator.preemption.candidates import pick
from simulator.preemption.dry_run import NOT_HELPFUL, dry_run
from simulator.preemption.eligibility import ineligible
from simulator.scheduler.extender import ExtenderError
from simulator.scheduler.extender_calls import candidates_left


class DefaultPreemption(PostFilterPlugin):
    """Finds the node where the least harm is done by evicting pods of lower priority."""

    name = "DefaultPreemption"
    args: DefaultPreemptionArgs

    def post_filter(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis
    ) -> tuple[PostFilterResult | None, Status | None]:
        reason = ineligible(pod, diagnosis, state.cluster)
        if reason:
            return PostFilterResult(None, partial(record.refused, reason)), _refusal(reason)
        nodes = diagnosis.rows_with_code("Unschedulable")
        if not len(nodes):
            untried = Diagnosis(state.cluster)
            untried.absent = NOT_HELPFUL
            return PostFilterResult("", record.nothing_to_try), _refusal(untried.message())
        # Upstream starts anywhere, so that not always the same nodes suffer.
        start = state.draw("preemption offset", len(nodes))
        rows = np.concatenate([nodes[start:], nodes[:start]])
        enough = self.candidates_to_find(len(nodes))
        result = dry_run(self.framework, state, pod, rows, enough=enough, pdbs=budgets(state.cluster))
        if not len(result.candidates.rows):
            found = partial(record.dry_run, state, pod, result)
            return PostFilterResult("", found), _refusal(result.diagnosis.message())
        try:
            offered = candidates_left(self.framework.extenders, state.cluster, pod, result.candidates)
        except ExtenderError as fault:
            return None, error(f"preemption: {fault}")
        if not len(offered.rows):
            return None, _refusal("no candidate node for preemption")
        result = result._replace(candidates=offered)
        left, rule = pick(offered)
        chosen = state.cluster.node(int(left.rows[state.draw("preemption", len(left.rows))])).name
        found = partial(record.dry_run, state, pod, result, left=left, chosen=chosen, rule=rule)
        return PostFilterResult(chosen, found), None

    def candidates_to_find(self, nodes: int) -> int:
        """calculateNumCandidates: a share of the nodes, but not too few, and no more than there are."""
        share = nodes * self.args.min_candidate_nodes_percentage // 100
        return min(nodes, max(share, self.args.min_candidate_nodes_absolute))


def _refusal(message: str) -> Status:
    return unschedulable(f"preemption: {message}")
