"""pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go, v1.34."""

from typing import Any

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints
from simulator.config.args import NodeAffinityArgs
from simulator.decision import ScoreTerm
from simulator.framework.interface import (
    SKIP,
    CycleState,
    Explained,
    FilterPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
    Status,
    Verdicts,
    unresolvable,
)
from simulator.framework.node_batch import NodeBatch
from simulator.framework.normalize import default_normalize_score
from simulator.objects.labels import Selector
from simulator.objects.node_selector import (
    NodeSelector,
    NodeSelectorTerm,
    PreferredTerm,
    node_selector,
    preferred_terms,
)
from simulator.objects.pod import Pod

REASON_POD = unresolvable("node(s) didn't match Pod's node affinity/selector")
REASON_ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")
REASON_CONFLICT = unresolvable("pod affinity terms conflict")


class NodeAffinity(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """nodeSelector and node affinity, with the affinity that the profile adds to every pod."""

    name = "NodeAffinity"
    counts_only = True
    args: NodeAffinityArgs

    def __init__(self, args: NodeAffinityArgs, framework: Any) -> None:
        super().__init__(args, framework)
        added = args.added_affinity or {}
        self.added = node_selector(added.get("requiredDuringSchedulingIgnoredDuringExecution"))
        stated = added.get("preferredDuringSchedulingIgnoredDuringExecution")
        self.added_preferred = preferred_terms(stated)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        """Narrows the nodes down where every term names nodes."""
        if pod.node_affinity is None and self.added is None and pod.node_selector is None:
            return SKIP
        if not pod.node_affinity:
            return None
        allowed: set[str] = set()
        for term in pod.node_affinity:
            names = _names(term)
            if names is None:
                return None
            allowed |= names
        return PreFilterResult(frozenset(allowed)) if allowed else REASON_CONFLICT

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        codes = np.zeros(len(nodes), dtype=np.uint8)
        required = required_node_affinity(pod, nodes.cluster)
        if required is not None:
            codes[~nodes.take(required)] = 2
        if self.added is not None:
            codes[~nodes.take(nodes.cluster.selected(self.added))] = 1
        return Verdicts(codes, (REASON_ENFORCED, REASON_POD))

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        return None if pod.preferred_node_affinity or self.added_preferred else SKIP

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        """The sum of the weights of the preferred terms that select the node."""
        scores = np.zeros(len(nodes), dtype=np.int64)
        for preferred in self._preferred(pod):
            selected = nodes.cluster.selected((preferred.term,))
            scores[nodes.take(selected)] += preferred.weight
        return scores

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Explained:
        return Explained(
            terms=[
                ScoreTerm(
                    "node",
                    ",".join(map(str, (*each.term.expressions, *each.term.fields))),
                    each.weight,
                    nodes.take(nodes.cluster.selected((each.term,))).astype(np.int64).tolist(),
                )
                for each in self._preferred(pod)
            ]
        )

    def _preferred(self, pod: Pod) -> list[PreferredTerm]:
        """The terms that count: those of no weight, and empty ones, do not."""
        stated = (*self.added_preferred, *pod.preferred_node_affinity)
        return [each for each in stated if each.weight and not each.term.empty]

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeBatch, scores: Ints) -> Ints:
        return default_normalize_score(scores, reverse=False)


def required_node_affinity(pod: Pod, cluster: Cluster) -> Bools | None:
    """bool[width]: the nodes that nodeSelector and required node affinity together allow
    (GetRequiredNodeAffinity in component-helpers/scheduling/corev1/nodeaffinity); None where the pod states
    neither."""
    found: Bools | None = None
    if pod.node_selector is not None:
        found = cluster.selected(_as_terms(pod.node_selector))
    if pod.node_affinity is not None:
        selected = cluster.selected(pod.node_affinity)
        found = selected if found is None else found & selected
    return found


def _as_terms(selector: Selector) -> NodeSelector:
    return (NodeSelectorTerm(selector.requirements, ()),)


def _names(term: NodeSelectorTerm) -> frozenset[str] | None:
    """The node names that a term allows; None where it does not say."""
    names: frozenset[str] | None = None
    for field in term.fields:
        if field.key == "metadata.name" and field.operator == "In":
            values = frozenset(field.values)
            names = values if names is None else names & values
    return names
