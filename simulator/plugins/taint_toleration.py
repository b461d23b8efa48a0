"""TaintToleration (pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go, v1.34)."""

from collections.abc import Sequence

import numpy as np

from simulator.cluster.columns import Ints
from simulator.framework.cluster_event import NODE, POD, ActionType
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import EnqueueExtensions, FilterPlugin, PreScorePlugin, ScorePlugin
from simulator.framework.node_batch import NodeBatch
from simulator.framework.normalize import default_normalize_score
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.score_explanation import ScoreExplanation, ScoreTerm
from simulator.framework.status import PluginError, Status, Verdicts, unresolvable
from simulator.objects.node import Node, Taint
from simulator.objects.pod import Pod, Toleration

STATE = "PreScoreTaintToleration"


class TaintToleration(EnqueueExtensions, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Rejects nodes with taints that the pod does not tolerate, and prefers nodes with few PreferNoSchedule
    taints that it does not tolerate. Results are computed once per distinct list of taints."""

    name = "TaintToleration"

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [
            register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT, node_changed),
            register(POD, ActionType.UPDATE_POD_TOLERATION, toleration_changed),
        ]

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        """Reject a node if the pod does not tolerate one of its NoSchedule or NoExecute taints. The reason is
        the first such taint."""
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
        """Write the tolerations with effect PreferNoSchedule or without effect; only these count in
        scoring."""
        soft = [t for t in pod.tolerations if t.effect in ("", "PreferNoSchedule")]
        state.write(STATE, soft)
        return None

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        """Return the number of PreferNoSchedule taints that the pod does not tolerate."""
        tolerations = state.find(STATE)
        if tolerations is None:
            raise PluginError(f'failed to read "{STATE}" from cycleState: not found')
        taints = nodes.cluster.taints

        def count_intolerable(listed: tuple[Taint, ...]) -> int:
            return sum(t.effect == "PreferNoSchedule" and not tolerated(t, tolerations) for t in listed)

        counts = taints.table(count_intolerable, 0, np.int64)
        if not counts.any():
            return np.zeros(len(nodes), dtype=np.int64)
        scores: Ints = counts[nodes.take(taints.ids)]
        return scores

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> ScoreExplanation:
        """Return a term for each taint that counts in the score of at least one of these nodes."""
        tolerations = state.find(STATE) or []
        listed = [nodes.cluster.node(int(row)).taints for row in nodes.rows]
        counted = dict.fromkeys(
            taint
            for taints in listed
            for taint in taints
            if taint.effect == "PreferNoSchedule" and not tolerated(taint, tolerations)
        )
        return ScoreExplanation(
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


# Queueing hints


def node_changed(pod: Pod, old: Node | None, new: Node) -> bool:
    """Queue if the pod tolerates the taints of an added node, or of a changed node whose earlier taints it
    did not tolerate."""
    return (old is None or not tolerates_node(pod, old)) and tolerates_node(pod, new)


def tolerates_node(pod: Pod, node: Node) -> bool:
    return all(
        tolerated(taint, pod.tolerations) for taint in node.taints if taint.effect != "PreferNoSchedule"
    )


def toleration_changed(pod: Pod, old: Pod, new: Pod) -> bool:
    """Queue if the updated pod is the rejected pod. Tolerations can only be added."""
    return new.uid == pod.uid
