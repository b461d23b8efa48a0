"""The extension points and queueing hints of InterPodAffinity (interpodaffinity/plugin.go)."""

from collections.abc import Iterable, Iterator
from functools import partial

from simulator.cluster.columns import Ints, Rows
from simulator.config.args import Args, Cause
from simulator.framework.cluster_event import NODE, POD, ActionType
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import (
    ColumnExtensions,
    EnqueueExtensions,
    FilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    SignPlugin,
)
from simulator.framework.node_batch import NodeBatch
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.score_explanation import ScoreExplanation
from simulator.framework.signers import LABELS, Fragments
from simulator.framework.status import SKIP, PluginError, PreFilterResult, Status, Verdicts
from simulator.objects.node import Node
from simulator.objects.pod import AffinityTerm, Pod
from simulator.plugins.inter_pod_affinity import filtering, scoring
from simulator.versions.kubernetes_version import KubernetesVersion

NO_NAMESPACE_LABELS: dict[str, str] = {}
"""The labels of namespaces for the hints: none, as upstream. A namespaceSelector that requires a label
matches no pod."""


def events_to_register(version: KubernetesVersion) -> list[ClusterEventWithHint]:
    pods = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_POD_LABEL
    return [
        register(POD, pods, partial(pod_changed, version)),
        register(NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL, node_changed),
    ]


def pod_changed(version: KubernetesVersion, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Queue if a pod on a node now matches all affinity terms of the rejected pod and did not before, or no
    longer matches all its anti-affinity terms; since v1.36 also if the rejected pod's own labels changed, or
    a pod was deleted whose anti-affinity terms it matches."""
    if version.affinity_hint_sees_both_sides and old is not None and new is not None and new.uid == pod.uid:
        return True
    if any(changed is not None and not is_placed(changed, version) for changed in (old, new)):
        return False
    affinity = pod.affinity
    matches_now = new is not None and matches_all(affinity.required, new)
    if old is None:
        return matches_now
    matched_anti = matches_all(affinity.required_anti, old)
    if new is None:
        theirs = version.affinity_hint_sees_both_sides and matches_all(old.affinity.required_anti, pod)
        return matched_anti or theirs
    return (matches_now and not matches_all(affinity.required, old)) or (
        matched_anti and not matches_all(affinity.required_anti, new)
    )


def is_placed(pod: Pod, version: KubernetesVersion) -> bool:
    """Whether the pod is on a node, or (since v1.36) nominated to one."""
    return bool(pod.node_name or (version.hints_count_nominated_pods and pod.nominated_node_name))


def matches_all(terms: Iterable[AffinityTerm], pod: Pod) -> bool:
    terms = tuple(terms)
    return bool(terms) and all(term.matches(pod, NO_NAMESPACE_LABELS) for term in terms)


def node_changed(pod: Pod, old: Node | None, new: Node) -> bool:
    """Queue if a domain of an affinity term gained the node, or a domain of an anti-affinity term lost it."""
    for term in pod.affinity.required:
        domain = new.labels.get(term.topology_key)
        if domain is not None and (old is None or old.labels.get(term.topology_key) != domain):
            return True
    for term in pod.affinity.required_anti:
        if old is None:
            return True
        domain = old.labels.get(term.topology_key)
        if domain is not None and new.labels.get(term.topology_key) != domain:
            return True
    return False


PRE_FILTER_STATE = "PreFilterInterPodAffinity"
PRE_SCORE_STATE = "PreScoreInterPodAffinity"


class InterPodAffinityArgs(Args):
    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False

    def validate(self) -> Iterator[Cause]:
        if not 0 <= self.hard_pod_affinity_weight <= 100:
            yield "hardPodAffinityWeight", "not in valid range [0, 100]"


class InterPodAffinity(
    EnqueueExtensions, SignPlugin, ColumnExtensions, FilterPlugin, PreScorePlugin, ScorePlugin
):
    """Filters and scores nodes by the pod's affinity and anti-affinity to the pods in their topology domains,
    and by the affinity and anti-affinity of these pods to the pod."""

    name = "InterPodAffinity"
    args_type = InterPodAffinityArgs
    args: InterPodAffinityArgs

    def sign_pod(self, pod: Pod) -> Fragments | None:
        """The scores of a pod with affinity depend on all nodes of a topology domain."""
        affinity = pod.spec.get("affinity") or {}
        if affinity.get("podAffinity") is not None or affinity.get("podAntiAffinity") is not None:
            return None
        return {LABELS: pod.labels}

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return events_to_register(self.handle.features.version)

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
