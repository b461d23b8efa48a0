"""pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go, v1.34."""

import numpy as np

from simulator import preemption
from simulator.config.args import DefaultPreemptionArgs
from simulator.decision import Failure, Preemption
from simulator.framework.diagnosis import Diagnosis
from simulator.framework.interface import (
    CycleState,
    PostFilterPlugin,
    PostFilterResult,
    Status,
    unschedulable,
)
from simulator.pod import Pod


class DefaultPreemption(PostFilterPlugin):
    """Finds the node where the least harm is done by evicting pods of lower priority."""

    name = "DefaultPreemption"
    args: DefaultPreemptionArgs

    def post_filter(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis
    ) -> tuple[PostFilterResult | None, Status | None]:
        reason = preemption.eligible(pod, diagnosis, state.cluster)
        if reason:
            return PostFilterResult(None, _record(reason)), unschedulable(f"preemption: {reason}")
        nodes = diagnosis.rows_with_code("Unschedulable")
        if not len(nodes):
            message = preemption.not_helpful(state.cluster, {})
            return PostFilterResult("", _record()), unschedulable(f"preemption: {message}")
        # Upstream starts anywhere, so that not always the same nodes suffer.
        start = state.draw("preemption offset", len(nodes))
        rows = np.concatenate([nodes[start:], nodes[:start]])
        enough = self.candidates_to_find(len(nodes))
        pdbs = preemption.budgets(state.cluster)
        result = preemption.dry_run(self.framework, state, pod, rows, enough=enough, pdbs=pdbs)
        if not result.candidates:
            message = preemption.not_helpful(state.cluster, result.failed)
            record = _record(non_candidates=preemption.failures(result, state.cluster))
            return PostFilterResult("", record), unschedulable(f"preemption: {message}")
        left, rule = preemption.pick(result.candidates)
        names = [state.cluster.node(found.row).name for found in left]
        chosen = names[state.draw("preemption", len(names))]
        record = Preemption(
            eligible=True,
            ineligible_reason="",
            candidates=[preemption.candidate(found, pod, state) for found in result.candidates],
            non_candidates=preemption.failures(result, state.cluster),
            tied=names,
            chosen=chosen,
            rule=rule,
            code="Success",
            plugin="",
            message="",
        )
        return PostFilterResult(chosen, record), None

    def candidates_to_find(self, nodes: int) -> int:
        """calculateNumCandidates: a share of the nodes, but not too few, and no more than there are."""
        share = nodes * self.args.min_candidate_nodes_percentage // 100
        return min(nodes, max(share, self.args.min_candidate_nodes_absolute))


def _record(reason: str = "", non_candidates: dict[str, Failure] | None = None) -> Preemption:
    """Nobody to evict."""
    return Preemption(
        eligible=not reason,
        ineligible_reason=reason,
        candidates=[],
        non_candidates=non_candidates or {},
        tied=[],
        chosen="",
        rule=0,
        code="Unschedulable",
        plugin="",
        message="",
    )
