"""TaintToleration (pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go)."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from simulator.cluster.columns import Ints
from simulator.framework.cluster_event import NODE, POD, ActionType
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import (
    MAX_NODE_SCORE,
    EnqueueExtensions,
    FilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    SignPlugin,
)
from simulator.framework.node_batch import NodeBatch
from simulator.framework.normalize import default_normalize_score
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.score_explanation import ScoreExplanation, ScoreTerm
from simulator.framework.signers import Fragments, sign_tolerations
from simulator.framework.status import PluginError, Status, Verdicts, unresolvable
from simulator.objects.node import Node, Taint
from simulator.objects.pod import Pod, Toleration

STATE = "PreScoreTaintToleration"
COMPARISON_OPERATORS = "TaintTolerationComparisonOperators"
UNTOLERATED = "node(s) had untolerated taint"


class TaintToleration(EnqueueExtensions, SignPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Rejects nodes with taints that the pod does not tolerate, and prefers nodes with few PreferNoSchedule
    taints that it does not tolerate. Results are computed once per distinct list of taints."""

    name = "TaintToleration"
    normalized_zero = MAX_NODE_SCORE

    def _tolerated(self, taint: Taint, tolerations: Sequence[Toleration]) -> bool:
        return tolerated(taint, tolerations, self._compares)

    @cached_property
    def _compares(self) -> bool:
        return self.handle.features.enabled(COMPARISON_OPERATORS)

    def sign_pod(self, pod: Pod) -> Fragments:
        return sign_tolerations(pod)

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [
            register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT, self.node_changed),
            register(POD, ActionType.UPDATE_POD_TOLERATION, toleration_changed),
        ]

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        """Reject a node if the pod does not tolerate one of its NoSchedule or NoExecute taints. The reason is
        the same for all taints; until v1.34.1 it named the first (kubernetes#134740)."""
        taints = nodes.cluster.taints
        names_taint = self.handle.features.version.taint_message_names_taint
        statuses: list[Status] = []
        codes = np.zeros(len(taints.values) + 1, dtype=np.int64)
        for number, listed in enumerate(taints.values):
            for taint in listed or ():
                if taint.effect != "PreferNoSchedule" and not tolerated(
                    taint, pod.tolerations, self._compares
                ):
                    if names_taint:
                        statuses.append(unresolvable(f"{UNTOLERATED} {{{taint.key}: {taint.value}}}"))
                    elif not statuses:
                        statuses.append(unresolvable(f"{UNTOLERATED}(s)"))
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

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints | None:
        """Return the number of PreferNoSchedule taints that the pod does not tolerate."""
        tolerations = state.find(STATE)
        if tolerations is None:
            raise PluginError(f'failed to read "{STATE}" from cycleState: not found')
        taints = nodes.cluster.taints
        if not any(t.effect == "PreferNoSchedule" for listed in taints.values for t in listed or ()):
            return None

        def count_intolerable(listed: tuple[Taint, ...]) -> int:
            return sum(t.effect == "PreferNoSchedule" and not self._tolerated(t, tolerations) for t in listed)

        counts = taints.table(count_intolerable, 0, np.int64)
        if not counts.any():
            return None
        scores: Ints = counts[nodes.take(taints.ids)]
        return scores

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> ScoreExplanation:
        """Return a term for each taint that counts in the score of at least one of these nodes."""
        tolerations = state.find(STATE) or []
        taints = nodes.cluster.taints
        listed = [taints.values[number] or () for number in nodes.take(taints.ids).tolist()]
        counted = dict.fromkeys(
            taint
            for each in listed
            for taint in each
            if taint.effect == "PreferNoSchedule" and not self._tolerated(taint, tolerations)
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

    def node_changed(self, pod: Pod, old: Node | None, new: Node) -> bool:
        """Queue if the pod tolerates the taints of an added node, or of a changed node whose earlier taints
        it did not tolerate."""
        return (old is None or not self._tolerates_node(pod, old)) and self._tolerates_node(pod, new)

    def _tolerates_node(self, pod: Pod, node: Node) -> bool:
        return all(
            self._tolerated(taint, pod.tolerations)
            for taint in node.taints
            if taint.effect != "PreferNoSchedule"
        )


def tolerated(taint: Taint, tolerations: Sequence[Toleration], compares: bool = False) -> bool:
    """Return whether a taint is tolerated. ``compares``: whether the gate COMPARISON_OPERATORS is on."""
    return any(t.tolerates(*taint, compares) for t in tolerations)


# Queueing hints


def toleration_changed(pod: Pod, old: Pod, new: Pod) -> bool:
    """Queue if the updated pod is the rejected pod. Tolerations can only be added."""
    return new.uid == pod.uid
