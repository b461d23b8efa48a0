"""NodeResourcesFit (pkg/scheduler/framework/plugins/noderesources/fit.go)."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal

import msgspec
import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints
from simulator.config.args import Args, Cause
from simulator.framework.cluster_event import DEVICE_CLASS, NODE, POD, ActionType
from simulator.framework.cycle_state import CycleState
from simulator.framework.handle import Handle
from simulator.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PlacementScorePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    SignPlugin,
)
from simulator.framework.node_batch import NodeBatch, batch_of
from simulator.framework.placement import PlacementAssignments
from simulator.framework.queueing_hint import ClusterEventWithHint, freed_resources, register
from simulator.framework.score_explanation import ScoreExplanation
from simulator.framework.signers import Fragments, sign_resources
from simulator.framework.status import (
    PluginError,
    PreFilterResult,
    Status,
    Verdicts,
    unresolvable,
    unschedulable,
)
from simulator.objects.metadata import name_of
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.objects.pod_group import PodGroup
from simulator.objects.pod_requests import PODS, is_extended_resource
from simulator.plugins.dynamic_resources.device_totals import DeviceTotals, device_totals
from simulator.plugins.dynamic_resources.extended_resources import CLASS_PREFIX, serving_classes
from simulator.plugins.dynamic_resources.extended_resources import GATE as EXTENDED_RESOURCES
from simulator.plugins.node_resources.resource_allocation import (
    MAX_CUSTOM_PRIORITY_SCORE,
    Allocation,
    PreScoreState,
    ResourceSpec,
    Scorer,
    UtilizationShapePoint,
    cpu_and_memory,
    least_allocated,
    list_allocations,
    most_allocated,
    requested_to_capacity_ratio,
    score_inputs,
    validate_resources,
    validate_shape,
)

STATE = "PreFilterNodeResourcesFit"
PRE_SCORE_STATE = "PreScoreNodeResourcesFit"
TOO_MANY_PODS = "Too many pods"
INSUFFICIENT = "Insufficient "
"""The beginning of the reason of a node that has too little of the resource named after it."""
BITS = 62
"""How many bits a word of :func:`_find_shortages` has; its value is not negative."""
MAX_TABLE = 4096
"""The largest number of possible combinations of shortages for which _number_combinations uses a table, which
is much faster than sorting. It is enough for pods that request up to 10 resources."""


class RequestedToCapacityRatioParam(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    shape: list[UtilizationShapePoint] = []


class ScoringStrategy(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    type: Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"] = "LeastAllocated"
    resources: list[ResourceSpec] = msgspec.field(default_factory=list)
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None


class NodeResourcesFitArgs(Args):
    ignored_resources: list[str] = []
    ignored_resource_groups: list[str] = []
    scoring_strategy: ScoringStrategy | None = None

    def validate(self) -> Iterator[Cause]:
        for i, name in enumerate(self.ignored_resources):
            if not name:
                yield f"ignoredResources[{i}]", "name part must be non-empty"
        for i, group in enumerate(self.ignored_resource_groups):
            if "/" in group:
                yield f"ignoredResourceGroups[{i}]", "resource group name can't contain '/'"
        strategy = self.scoring_strategy
        if strategy is None:
            self.scoring_strategy = strategy = ScoringStrategy()
        if not strategy.resources:
            strategy.resources = cpu_and_memory()
        yield from validate_resources("scoringStrategy.resources", strategy.resources)
        if strategy.type == "RequestedToCapacityRatio":
            shape = strategy.requested_to_capacity_ratio
            yield from validate_shape(
                "scoringStrategy.requestedToCapacityRatio.shape",
                shape.shape if shape else [],
                MAX_CUSTOM_PRIORITY_SCORE,
            )


class NodeResourcesFit(
    EnqueueExtensions, SignPlugin, PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin
):
    """Rejects nodes that do not have enough free resources for the pod's requests, and scores nodes by one of
    three strategies."""

    name = "NodeResourcesFit"
    args_type = NodeResourcesFitArgs

    def __init__(self, args: NodeResourcesFitArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        strategy = args.scoring_strategy
        assert strategy is not None, "NodeResourcesFitArgs.validate sets the default"
        self.resources = strategy.resources
        self._names = tuple(spec.name for spec in self.resources)
        self.scorer = self._scorer(args)
        self.ignored = frozenset(args.ignored_resources)
        self.ignored_groups = frozenset(args.ignored_resource_groups)

    @staticmethod
    def _scorer(args: NodeResourcesFitArgs) -> Scorer:
        strategy = args.scoring_strategy
        assert strategy is not None
        if strategy.type == "MostAllocated":
            return most_allocated
        if strategy.type == "RequestedToCapacityRatio":
            ratio = strategy.requested_to_capacity_ratio
            return requested_to_capacity_ratio(ratio.shape if ratio else [])
        return least_allocated

    def sign_pod(self, pod: Pod) -> Fragments | None:
        return sign_resources(pod, self.handle.features)

    def events_to_register(self) -> list[ClusterEventWithHint]:
        nodes = ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE
        events = [
            register(POD, ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN, pod_changed),
            register(NODE, nodes, partial(node_changed, self)),
        ]
        if self.handle.features.enabled(EXTENDED_RESOURCES):
            events.append(register(DEVICE_CLASS, ActionType.ADD | ActionType.UPDATE, class_changed))
        return events

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> PreFilterResult | Status | None:
        state.write(STATE, pod.own_requests)
        return None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Verdicts | None:
        requests: dict[str, int] | None = state.find(STATE)
        if requests is None:
            raise PluginError(f'error reading "{STATE}" from cycleState: not found')
        checked = tuple((name, n) for name, n in requests.items() if n > 0 and not self.ignores(name))
        cluster = nodes.cluster
        served = self.served(cluster, requests)
        if nodes.is_copy:
            return _verdicts(_find_shortages(nodes, checked, served), checked)
        shortages = cluster.amounts_column(
            ("NodeResourcesFit", checked, served),
            tuple([name for name, _ in checked]),
            lambda rows: _find_shortages(batch_of(cluster, rows), checked, served),
        )
        return _verdicts(nodes.take(shortages), checked)

    def served(self, cluster: Cluster, requests: Iterable[str]) -> frozenset[str]:
        """Return the requested resources that a DeviceClass serves where a node has none of them: these are
        left to DynamicResources (shouldDelegateResourceToDRA)."""
        if not self.handle.features.enabled(EXTENDED_RESOURCES):
            return frozenset()
        classes = serving_classes(cluster)
        return frozenset(classes.keys() & {*requests}) if classes else frozenset()

    def ignores(self, name: str) -> bool:
        """Whether ignoredResources or ignoredResourceGroups exclude this resource from filtering."""
        if not (self.ignored or self.ignored_groups) or not is_extended_resource(name):
            return False
        return name in self.ignored or name.split("/", maxsplit=1)[0] in self.ignored_groups

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Status | None:
        state.write(PRE_SCORE_STATE, self._pre_score_state(state, pod))
        return None

    def score(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> Ints:
        requests, devices = self._pre_score_state(state, pod)
        if devices is not None:  # these change without the node
            return self._score(nodes, requests, devices)
        cluster = nodes.cluster
        return nodes.take(
            cluster.amounts_column(
                (self, requests),
                self._names,
                lambda rows: self._score(batch_of(cluster, rows), requests, None),
            )
        )

    def explain(self, state: CycleState, pod: Pod, nodes: NodeBatch) -> ScoreExplanation:
        strategy = self.args.scoring_strategy
        requests, devices = self._pre_score_state(state, pod)
        ratio = strategy.requested_to_capacity_ratio
        return ScoreExplanation(
            score_inputs(nodes, self.resources, requests, non_zero=True, devices=devices),
            strategy.type,
            tuple((point.utilization, point.score) for point in ratio.shape) if ratio else (),
        )

    def explanation_key(self, state: CycleState, pod: Pod) -> Hashable | None:
        requests, devices = self._pre_score_state(state, pod)
        return requests if devices is None else None

    def _pre_score_state(self, state: CycleState, pod: Pod) -> PreScoreState:
        """Return what PreScore wrote; where it is not enabled, what it would write (getPreScoreState)."""
        found: PreScoreState | None = state.find(PRE_SCORE_STATE)
        if found is None:
            requests = tuple([pod.scored_requests.get(name, 0) for name in self._names])
            found = PreScoreState(requests, self._devices(state.cluster))
        return found

    def _devices(self, cluster: Cluster) -> DeviceTotals | None:
        return device_totals(cluster, self.handle.features, self._names)

    def _score(self, nodes: NodeBatch, requests: Sequence[int], devices: DeviceTotals | None) -> Ints:
        found = list_allocations(nodes, self.resources, requests, non_zero=True, devices=devices)
        return self.scorer(found, len(nodes))


class PlacementScoringNodeResourcesFit(NodeResourcesFit, PlacementScorePlugin):
    """NodeResourcesFit where TopologyAwareWorkloadScheduling is on. It prefers the placements of which most
    is requested (ScorePlacement in placement_score.go), whatever the strategy for nodes is."""

    def score_placements(
        self, cluster: Cluster, group: PodGroup, assignments: Sequence[PlacementAssignments]
    ) -> Sequence[int]:
        return [self._score_placement(cluster, each) for each in assignments]

    def _score_placement(self, cluster: Cluster, assignments: PlacementAssignments) -> int:
        """Return the score of all nodes of the placement as if they were one."""
        requests = [
            sum(pod.scored_requests.get(spec.name, 0) for pod in assignments.pods) for spec in self.resources
        ]
        nodes = NodeBatch(cluster, assignments.placement.rows)
        found = list_allocations(
            nodes, self.resources, requests, non_zero=True, devices=self._devices(cluster)
        )
        as_one = [
            Allocation(
                each.weight,
                np.array([each.allocatable.sum()]),
                np.array([(each.requested - each.request).sum() + each.request]),
            )
            for each in found
        ]
        return int(most_allocated(as_one, 1)[0])


def lacking_resource(reason: str) -> str:
    """Return the resource that a reason of this plugin says is lacking, ``pods`` for too many pods; "" for
    another reason."""
    if reason == TOO_MANY_PODS:
        return PODS
    return reason.removeprefix(INSUFFICIENT) if reason.startswith(INSUFFICIENT) else ""


Requests = Sequence[tuple[str, int]]
"""Resources and the requested amount of each."""


def _find_shortages(nodes: NodeBatch, requests: Requests, served: frozenset[str]) -> Ints:
    """Return int64[words, n], a set of bits for each node (fitsRequest), BITS in each word. Bit 0: too many
    pods. Bits 1 to m: not enough of each of the m resources. Bit m + 1: a request is larger than the node's
    allocatable amount. ``served``: resources of which a node without any lacks nothing."""
    cluster = nodes.cluster
    shortages: Ints = np.zeros(((len(requests) + 1) // BITS + 1, len(nodes)), dtype=np.int64)
    shortages[0] = nodes.pod_count + 1 > nodes.take(cluster.allowed_pods)
    exceeds_allocatable = np.zeros(len(nodes), dtype=np.bool_)
    for bit, (name, amount) in enumerate(requests, start=1):
        allocatable = nodes.take(cluster.allocatable.column(name))
        lacks = allocatable - nodes.requested(name) < amount
        exceeds = allocatable < amount
        if name in served:
            lacks &= allocatable > 0
            exceeds &= allocatable > 0
        shortages[bit // BITS] |= np.multiply(lacks, 1 << bit % BITS)
        exceeds_allocatable |= exceeds
    shortages[-1] |= np.multiply(exceeds_allocatable, 1 << (len(requests) + 1) % BITS)
    return shortages


def _verdicts(shortages: Ints, requests: Requests) -> Verdicts | None:
    """Return one status per combination of shortages that occurs. It is UnschedulableAndUnresolvable if a
    request is larger than the node's allocatable amount."""
    if not np.count_nonzero(shortages):
        return None
    reasons = [TOO_MANY_PODS, *(f"{INSUFFICIENT}{name}" for name, _ in requests)]
    combinations, codes = _number_combinations(shortages, 2 << len(reasons))
    statuses = []
    for words in combinations:
        present = [reason for bit, reason in enumerate(reasons) if words[bit // BITS] >> bit % BITS & 1]
        exceeds_allocatable = words[-1] >> len(reasons) % BITS & 1
        statuses.append((unresolvable if exceeds_allocatable else unschedulable)(*present))
    return Verdicts(codes, statuses)


def _number_combinations(shortages: Ints, size: int) -> tuple[list[list[int]], Ints]:
    """Return the combinations of bits in ``shortages`` (int64[words, n]; ``size``: how many there can be)
    without that of no bit, and int64[n]: the index of each node's combination in this list plus 1, 0 for no
    bit."""
    if size > MAX_TABLE:
        with_none = np.append(shortages, np.zeros((len(shortages), 1), dtype=np.int64), axis=1)
        found, numbers = np.unique(with_none, axis=1, return_inverse=True)
        return found[:, 1:].T.tolist(), numbers[:-1]
    (word,) = shortages
    found = np.flatnonzero(np.bincount(word))
    found = found[found > 0]
    table = np.zeros(size, dtype=np.int64)
    table[found] = np.arange(1, len(found) + 1)
    return found[:, np.newaxis].tolist(), table[word]


# Queueing hints


def node_changed(plugin: NodeResourcesFit, pod: Pod, old: Node | None, new: Node) -> bool:
    """Queue if the pod fits on the node when no pods are on it, and the node was added or has more of a
    requested resource than before, or a DeviceClass serves one that the node does not have. As upstream, this
    hint does not consider ``ignoredResources``."""
    requests = {name: amount for name, amount in pod.own_requests.items() if amount}
    served = {
        name for name in plugin.served(plugin.handle.cluster, requests) if not new.allocatable.get(name, 0)
    }
    if new.allowed_pods < 1 or any(
        amount > new.allocatable.get(name, 0) for name, amount in requests.items() if name not in served
    ):
        return False
    if old is None or new.allowed_pods > old.allowed_pods or served:
        return True
    return any(new.allocatable.get(name, 0) > old.allocatable.get(name, 0) for name in requests)


def class_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue if the pod requests a resource that the DeviceClass serves, and did not serve before
    (isSchedulableAfterDeviceClassEvent)."""
    resource = (new.get("spec") or {}).get("extendedResourceName")
    if old is None and f"{CLASS_PREFIX}{name_of(new)}" in pod.own_requests:
        return True
    if old is not None and ((old.get("spec") or {}).get("extendedResourceName") or "") == (resource or ""):
        return False
    return resource is not None and resource in pod.own_requests


def pod_changed(pod: Pod, old: Pod, new: Pod | None) -> bool:
    """Queue if a pod with a node was deleted, if the rejected pod itself requests less, or if a pod on a node
    requests less of a resource that the rejected pod requests."""
    if new is None:
        return freed_resources(old)
    if new.uid == pod.uid:
        return True
    if not new.node_name:
        return False
    return any(
        old.requests.get(name, 0) > new.requests.get(name, 0)
        for name, amount in pod.own_requests.items()
        if amount
    )
