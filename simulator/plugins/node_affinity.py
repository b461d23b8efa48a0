"""NodeAffinity (pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go)."""

from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np

from simulator.api import Manifest
from simulator.apiserver import selector_validation
from simulator.apiserver.status import Cause as StatusCause
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools, Ints
from simulator.cluster.node_selectors import match_node_selector
from simulator.config.args import Args, Cause, check_type
from simulator.framework.cluster_event import NODE, ActionType
from simulator.framework.cycle_state import CycleState
from simulator.framework.handle import Handle
from simulator.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    SignPlugin,
)
from simulator.framework.node_batch import NodeBatch
from simulator.framework.normalize import default_normalize_score
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.score_explanation import ScoreExplanation, ScoreTerm
from simulator.framework.signers import NODE_AFFINITY, NODE_SELECTOR, Fragments
from simulator.framework.status import SKIP, PreFilterResult, Status, Verdicts, unresolvable
from simulator.objects.labels import Selector
from simulator.objects.node import Node
from simulator.objects.node_selector import (
    NodeSelector,
    NodeSelectorTerm,
    PreferredTerm,
    node_selector,
    node_selector_matches,
    preferred_terms,
)
from simulator.objects.pod import Pod

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"

REASON_POD = unresolvable("node(s) didn't match Pod's node affinity/selector")
REASON_ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")
REASON_CONFLICT = unresolvable("pod affinity terms conflict")


class _Requirement(msgspec.Struct, forbid_unknown_fields=True):
    key: str
    operator: str
    values: list[str] = []


class _Term(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    match_expressions: list[_Requirement] = []
    match_fields: list[_Requirement] = []


class _Selector(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    node_selector_terms: list[_Term] = []


class _Preferred(msgspec.Struct, forbid_unknown_fields=True):
    weight: int
    preference: _Term


class _AddedAffinity(msgspec.Struct, forbid_unknown_fields=True):
    required: _Selector | None = msgspec.field(name=REQUIRED, default=None)
    preferred: list[_Preferred] | None = msgspec.field(name=PREFERRED, default=None)


class NodeAffinityArgs(Args):
    added_affinity: Manifest | None = None

    def validate(self) -> Iterator[Cause]:
        added, path = self.added_affinity, "addedAffinity"
        if added is None:
            return
        wrong = [*check_type(added, _AddedAffinity, path)]
        yield from wrong
        if wrong:
            return
        found: list[StatusCause] = []
        if (required := added.get(REQUIRED)) is not None:
            found += selector_validation.NODE_SELECTOR(required, f"{path}.{REQUIRED}")
        for i, preferred in enumerate(added.get(PREFERRED) or ()):
            place = f"{path}.{PREFERRED}[{i}].preference"
            found += selector_validation.PREFERRED_TERM(preferred["preference"], place)
        yield from ((each.field, each.message) for each in found)


class NodeAffinity(EnqueueExtensions, SignPlugin, PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Filters and scores nodes by the nodeSelector and the node affinity of the pod, and by addedAffinity,
    the node affinity that the profile adds to all pods."""

    name = "NodeAffinity"
    args_type = NodeAffinityArgs
    args: NodeAffinityArgs

    def __init__(self, args: NodeAffinityArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        added = args.added_affinity or {}
        self.added = node_selector(added.get(REQUIRED))
        self.added_preferred = preferred_terms(added.get(PREFERRED))

    def sign_pod(self, pod: Pod) -> Fragments:
        affinity = (pod.spec.get("affinity") or {}).get("nodeAffinity")
        return {NODE_AFFINITY: affinity, NODE_SELECTOR: pod.spec.get("nodeSelector")}

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL, self.node_changed)]

    def node_changed(self, pod: Pod, old: Node | None, new: Node) -> bool:
        """Queueing hint: queue if an added node matches, or a changed node matches and did not before."""
        if self.added is not None and not node_selector_matches(self.added, new.name, new.labels):
            return False
        return matches_required_affinity(pod, new) and (
            old is None or not matches_required_affinity(pod, old)
        )

    def skips(self, pod: Pod) -> bool:
        return pod.node_affinity is None and self.added is None and pod.node_selector is None

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        """Return the names of the nodes if every required term has a requirement on metadata.name."""
        if not pod.node_affinity:
            return None
        allowed: set[str] = set()
        for term in pod.node_affinity:
            names = _node_names(term)
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
            codes[~nodes.take(match_node_selector(nodes.cluster, self.added))] = 1
        return Verdicts(codes, (REASON_ENFORCED, REASON_POD))

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        return None if pod.preferred_node_affinity or self.added_preferred else SKIP

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        """Return the sum of the weights of the preferred terms that match the node."""
        scores = np.zeros(len(nodes), dtype=np.int64)
        for preferred in self._preferred_terms(pod):
            matched = match_node_selector(nodes.cluster, (preferred.term,))
            scores[nodes.take(matched)] += preferred.weight
        return scores

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> ScoreExplanation:
        return ScoreExplanation(
            terms=[
                ScoreTerm(
                    "node",
                    ",".join(map(str, (*each.term.expressions, *each.term.fields))),
                    each.weight,
                    nodes.take(match_node_selector(nodes.cluster, (each.term,))).astype(np.int64).tolist(),
                )
                for each in self._preferred_terms(pod)
            ]
        )

    def _preferred_terms(self, pod: Pod) -> list[PreferredTerm]:
        """Return the preferred terms of the profile and the pod, without empty ones and those of weight 0."""
        terms = (*self.added_preferred, *pod.preferred_node_affinity)
        return [each for each in terms if each.weight and not each.term.empty]

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeBatch, scores: Ints) -> Ints:
        return default_normalize_score(scores, reverse=False)


def matches_required_affinity(pod: Pod, node: Node) -> bool:
    """Whether the node matches the pod's nodeSelector and required node affinity
    (GetRequiredNodeAffinity(pod).Match(node))."""
    if pod.node_selector is not None and not pod.node_selector.matches(node.labels):
        return False
    return pod.node_affinity is None or node_selector_matches(pod.node_affinity, node.name, node.labels)


def required_node_affinity(pod: Pod, cluster: Cluster) -> Bools | None:
    """Return bool[width]: the nodes that match the pod's nodeSelector and required node affinity; None if the
    pod has neither (GetRequiredNodeAffinity in component-helpers/scheduling/corev1/nodeaffinity)."""
    matched: Bools | None = None
    if pod.node_selector is not None:
        matched = match_node_selector(cluster, _as_terms(pod.node_selector))
    if pod.node_affinity is not None:
        by_affinity = match_node_selector(cluster, pod.node_affinity)
        matched = by_affinity if matched is None else matched & by_affinity
    return matched


def _as_terms(selector: Selector) -> NodeSelector:
    return (NodeSelectorTerm(selector.requirements, ()),)


def _node_names(term: NodeSelectorTerm) -> frozenset[str] | None:
    """Return the node names that a term allows by metadata.name, None if it has no such requirement."""
    names: frozenset[str] | None = None
    for field in term.fields:
        if field.key == "metadata.name" and field.operator == "In":
            values = frozenset(field.values)
            names = values if names is None else names & values
    return names
