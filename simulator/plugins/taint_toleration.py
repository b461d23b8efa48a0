"""pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go, v1.34."""

from collections.abc import Sequence

import numpy as np

from simulator.cluster.columns import Ints
from simulator.decision import ScoreTerm
from simulator.framework.interface import (
    CycleState,
    Explained,
    FilterPlugin,
    PluginError,
    PreScorePlugin,
    ScorePlugin,
    Status,
    Verdicts,
    unresolvable,
)
from simulator.framework.node_batch import NodeBatch
from simulator.framework.normalize import default_normalize_score
from simulator.objects.node import Taint
from simulator.objects.pod import Pod, Toleration

STATE = "PreScoreTaintToleration"


class TaintToleration(FilterPlugin, PreScorePlugin, ScorePlugin):
    """Nodes repel pods by taints. Both questions are asked once per distinct list of taints."""

    name = "TaintToleration"
    counts_only = True

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        """The first NoSchedule or NoExecute taint, in the node's order, that nothing tolerates."""
        taints = nodes.cluster.taints
        statuses: list[Status] = []
        codes = np.zeros(len(taints.values) + 1, dtype=np.int64)
        for number, listed in enumerate(taints.values):
            for taint in listed or ():
                if taint.effect != "PreferNoSchedule" and not tolerated(taint, pod.tolerations):
                    reason = f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
                    statuses.append(unresolvable(reason))
                    codes[number] = len(statuses)
                    break
        if not statuses:
            return None
        return Verdicts(codes[nodes.take(taints.ids)], statuses)

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        """Only tolerations of PreferNoSchedule (or of any effect) count in scoring."""
        soft = [t for t in pod.tolerations if t.effect in ("", "PreferNoSchedule")]
        state.write(STATE, soft)
        return None

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        """How many PreferNoSchedule taints the pod does not tolerate."""
        tolerations = state.find(STATE)
        if tolerations is None:
            raise PluginError(f'failed to read "{STATE}" from cycleState: not found')
        taints = nodes.cluster.taints

        def intolerable(listed: tuple[Taint, ...]) -> int:
            return sum(t.effect == "PreferNoSchedule" and not tolerated(t, tolerations) for t in listed)

        counts = taints.table(intolerable, 0, np.int64)
        if not counts.any():
            return np.zeros(len(nodes), dtype=np.int64)
        scores: Ints = counts[nodes.take(taints.ids)]
        return scores

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Explained:
        """Each taint that somebody here counts."""
        tolerations = state.find(STATE) or []
        listed = [nodes.cluster.node(int(row)).taints for row in nodes.rows]
        counted = dict.fromkeys(
            taint
            for taints in listed
            for taint in taints
            if taint.effect == "PreferNoSchedule" and not tolerated(taint, tolerations)
        )
        return Explained(
            terms=[
                ScoreTerm(
                    "taint", f"{each.key}={each.value}:{each.effect}", 1, [t.count(each) for t in listed]
                )
                for each in counted
            ]
        )

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeBatch, scores: Ints) -> Ints:
        return default_normalize_score(scores, reverse=True)


def tolerated(taint: Taint, tolerations: Sequence[Toleration]) -> bool:
    return any(t.tolerates(*taint) for t in tolerations)
