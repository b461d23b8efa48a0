"""The extension points and queueing hints of PodTopologySpread (podtopologyspread/plugin.go)."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.config.args import Args, Cause
from simulator.framework.cluster_event import NODE, POD, ActionType
from simulator.framework.cycle_state import CycleState
from simulator.framework.handle import Handle
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
from simulator.framework.signers import NO_FRAGMENTS, Fragments
from simulator.framework.status import SKIP, PluginError, PreFilterResult, Status, Verdicts
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.plugins.pod_topology_spread import filtering, scoring
from simulator.plugins.pod_topology_spread.common import (
    SYSTEM_DEFAULTS,
    Action,
    TopologySpreadConstraint,
    constraints_of,
    default_constraints,
)
from simulator.plugins.taint_toleration import COMPARISON_OPERATORS


def pod_changed(
    constraints: Sequence[TopologySpreadConstraint],
    pod: Pod,
    old: Pod | None,
    new: Pod | None,
    *,
    with_nominated: bool,
) -> bool:
    """Queue in these cases (``with_nominated``: nominated pods count, too):

    * A counted pod was added or deleted that matches a constraint.
    * The labels of a counted pod changed, and it matches a constraint only before or only after the change.
    * The tolerations of the rejected pod changed, and a constraint has nodeTaintsPolicy Honor."""
    if any(changed is not None and not is_counted(changed, pod, with_nominated) for changed in (old, new)):
        return False
    if old is None or new is None:
        changed = new or old
        assert changed is not None, "old and new cannot both be None"
        return any(c.matches(changed.labels) for c in constraints)
    got_toleration = new.uid == pod.uid and new.tolerations != old.tolerations
    if got_toleration and any(c.honor_node_taints for c in constraints):
        return True
    return any(c.matches(old.labels) != c.matches(new.labels) for c in constraints)


def node_changed(constraints: Sequence[TopologySpreadConstraint], old: Node | None, new: Node | None) -> bool:
    """Queue in these cases:

    * A node with the topology keys of all constraints was added or deleted.
    * A node had the keys of all constraints only before or only after a change.
    * The values of the keys changed, or the taints of a node with all keys."""
    keys = {constraint.topology_key for constraint in constraints}
    before = old is not None and keys <= old.labels.keys()
    after = new is not None and keys <= new.labels.keys()
    if old is None or new is None:
        return before or after
    if before != after:
        return True
    moved = after and any(old.labels[key] != new.labels[key] for key in keys)
    return moved or (after and old.taints != new.taints)


def is_counted(changed: Pod, pod: Pod, with_nominated: bool) -> bool:
    """Whether the changed pod is the rejected pod, or a pod on a node in the same namespace
    (involvedInTopologySpreading)."""
    node = changed.node_name or (with_nominated and changed.nominated_node_name)
    return changed.uid == pod.uid or (changed.namespace == pod.namespace and bool(node))


PRE_FILTER_STATE = "PreFilterPodTopologySpread"
PRE_SCORE_STATE = "PreScorePodTopologySpread"


class PodTopologySpreadArgs(Args):
    default_constraints: list[Manifest] = []
    defaulting_type: Literal["", "System", "List"] = ""

    def validate(self) -> Iterator[Cause]:
        self.defaulting_type = self.defaulting_type or "System"
        if self.defaulting_type == "System" and self.default_constraints:
            yield "defaultingType", "when .defaultingType is System, .defaultConstraints must be empty"
        seen: set[tuple[Any, Any]] = set()
        for i, constraint in enumerate(self.default_constraints):
            path = f"defaultConstraints[{i}]"
            skew = constraint.get("maxSkew")
            if not isinstance(skew, int) or skew <= 0:
                yield f"{path}.maxSkew", "not in valid range (0, inf)"
            if not constraint.get("topologyKey"):
                yield f"{path}.topologyKey", "can not be empty"
            if constraint.get("whenUnsatisfiable") not in ("DoNotSchedule", "ScheduleAnyway"):
                yield f"{path}.whenUnsatisfiable", 'supported values: "DoNotSchedule", "ScheduleAnyway"'
            if constraint.get("labelSelector") is not None:
                yield (
                    f"{path}.labelSelector",
                    "constraint must not define a selector, as they deduced for each pod",
                )
            pair = (constraint.get("topologyKey"), constraint.get("whenUnsatisfiable"))
            if pair in seen:
                yield f"{path}", "duplicate topologyKey and whenUnsatisfiable"
            seen.add(pair)


class PodTopologySpread(
    EnqueueExtensions, SignPlugin, ColumnExtensions, FilterPlugin, PreScorePlugin, ScorePlugin
):
    """Filters and scores nodes so that matching pods are evenly spread over topology domains."""

    name = "PodTopologySpread"
    args_type = PodTopologySpreadArgs
    args: PodTopologySpreadArgs

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self.system_defaulted = args.defaulting_type != "List"
        self.defaults = SYSTEM_DEFAULTS if self.system_defaulted else args.default_constraints

    def sign_pod(self, pod: Pod) -> Fragments | None:
        """A pod with constraints has no signature."""
        return None if pod.spec.get("topologySpreadConstraints") else NO_FRAGMENTS

    @property
    def signs_pods(self) -> bool:
        """A pod has default constraints, where the profile has any."""
        return not self.defaults

    def events_to_register(self) -> list[ClusterEventWithHint]:
        pods = (
            ActionType.ADD
            | ActionType.DELETE
            | ActionType.UPDATE_POD_LABEL
            | ActionType.UPDATE_POD_TOLERATION
        )
        nodes = (
            ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT
        )
        return [register(POD, pods, self.pod_changed), register(NODE, nodes, self.node_changed)]

    def pod_changed(self, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
        """Queueing hint: see :func:`pod_changed`."""
        constraints = self.constraints(pod, self.handle.cluster, "DoNotSchedule")
        with_nominated = self.handle.features.version.hints_count_nominated_pods
        return pod_changed(constraints, pod, old, new, with_nominated=with_nominated)

    def node_changed(self, pod: Pod, old: Node | None, new: Node | None) -> bool:
        """Queueing hint: see :func:`node_changed`."""
        return node_changed(self.constraints(pod, self.handle.cluster, "DoNotSchedule"), old, new)

    def constraints(self, pod: Pod, cluster: Cluster, action: Action) -> list[TopologySpreadConstraint]:
        """Return the pod's constraints with this ``whenUnsatisfiable``; if the pod has no constraints at all,
        the default constraints."""
        manifests = pod.spec.get("topologySpreadConstraints")
        if manifests:
            compares = self.handle.features.enabled(COMPARISON_OPERATORS)
            return constraints_of(manifests, pod.labels, action, compares_taints=compares)
        return default_constraints(self.defaults, pod, cluster, action)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        constraints = self.constraints(pod, state.cluster, "DoNotSchedule")
        if not constraints:
            return SKIP
        state.write(PRE_FILTER_STATE, filtering.pre_filter_state(state.cluster, pod, constraints))
        return None

    def add_pods(self, state: CycleState, pod: Pod, added: Pod, rows: Rows) -> None:
        self._pre_filter_state(state).update_with_pod(added, rows, 1)

    def remove_pods(self, state: CycleState, pod: Pod, removed: Pod, rows: Rows) -> None:
        self._pre_filter_state(state).update_with_pod(removed, rows, -1)

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        return self._pre_filter_state(state).verdicts(nodes)

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        constraints = self.constraints(pod, state.cluster, "ScheduleAnyway")
        if not constraints:
            return SKIP
        # requireAllTopologies: with the system defaults, a node without a zone is still scored by hostname.
        require_all = bool(pod.spec.get("topologySpreadConstraints")) or not self.system_defaulted
        found = scoring.pre_score_state(nodes, pod, constraints, require_all=require_all)
        state.write(PRE_SCORE_STATE, found)
        return None

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        return scoring.score(self._pre_score_state(state), nodes)

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> ScoreExplanation:
        found: scoring.PreScoreState | None = state.find(PRE_SCORE_STATE)
        return ScoreExplanation(terms=scoring.explain_terms(found, nodes) if found else [])

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeBatch, scores: Ints) -> Ints:
        return scoring.normalize(self._pre_score_state(state), nodes, scores)

    def _pre_filter_state(self, state: CycleState) -> filtering.SpreadPreFilterState:
        found: filtering.SpreadPreFilterState | None = state.find(PRE_FILTER_STATE)
        if found is None:
            raise PluginError(f'reading "{PRE_FILTER_STATE}" from cycleState: not found')
        return found

    def _pre_score_state(self, state: CycleState) -> scoring.PreScoreState:
        found: scoring.PreScoreState | None = state.find(PRE_SCORE_STATE)
        if found is None:
            raise PluginError(f'error reading "{PRE_SCORE_STATE}" from cycleState: not found')
        return found
