"""A sandbox as the screens need it, kept up to date from the store's streams.

:class:`Picture` is plain state: one per watched sandbox in the hub, or made for one page and thrown away.
It keeps small records, not manifests: 50,000 pods must fit in a web process.
"""

import logging
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

from schedviz.store import Failure
from simulator import trace
from simulator.api import Manifest, Micros, WatchEvent
from simulator.client.informer import Pipeline
from simulator.decision import Decision, UnderWay
from simulator.objects import pod_requests
from simulator.objects.conditions import conditions_of
from simulator.objects.node import ZONE, ZONE_BETA, Node
from simulator.objects.pod import Pod
from simulator.objects.status import status_of
from simulator.trace import LaneEntry

from . import format as fmt
from .priority import SYSTEM_PRIORITY

log = logging.getLogger(__name__)

TRACE_KEPT: Final = 2000
"""Trace events held for the log and the timeline: some 400 attempts, more than both show."""
VICTIMS_KEPT: Final = 500
FINISHED: Final = ("Succeeded", "Failed")
PODS: Final = "pods"
POD_COUNT: Final = "pods"
"""The resource of which each pod takes one."""
NODES: Final = "nodes"
PRIORITY_CLASSES: Final = "priorityclasses.scheduling.k8s.io"
BUDGETS: Final = "poddisruptionbudgets.policy"
WATCHED: Final = (PODS, NODES, PRIORITY_CLASSES, BUDGETS)


class PodRecord(msgspec.Struct, frozen=True):
    """What the screens say about a pod. Times in simulated microseconds, 0 for none."""

    key: str
    uid: str
    priority: int
    requests: dict[str, int]
    node: str
    nominated: str
    phase: str
    terminating: bool
    gone_at: Micros
    """When a terminating pod's grace period is over."""
    gates: tuple[str, ...]
    created: Micros
    message: str
    """The PodScheduled condition's message."""
    preempted: bool
    """Carries the DisruptionTarget condition with reason PreemptionByScheduler."""
    version: int
    limits: dict[str, int] = {}
    labels: dict[str, str] = {}


class BudgetRecord(msgspec.Struct, frozen=True):
    """A PodDisruptionBudget's status."""

    key: str
    allowed: int
    healthy: int
    desired: int


class NodeRecord(msgspec.Struct, frozen=True):
    name: str
    zone: str
    allocatable: dict[str, int]
    taints: tuple[str, ...]
    unschedulable: bool
    conditions: tuple[str, ...]
    """Those that say something is wrong: NotReady, MemoryPressure, ..."""
    version: int
    labels: dict[str, str] = {}


class Load:
    """What pods, of one node or of all, request and may use at most, by resource. ``pods`` counts them."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.limits: Counter[str] = Counter()

    def add(self, pod: PodRecord, sign: Literal[1, -1] = 1) -> None:
        for sums, amounts in ((self.requests, pod.requests), (self.limits, pod.limits)):
            for resource, amount in amounts.items():
                sums[resource] += sign * amount
        self.requests[POD_COUNT] += sign


NO_LOAD: Final = Load()
"""Of a node without pods: not to be added to."""


def pod_record(manifest: Manifest) -> PodRecord:
    pod = Pod.parse(manifest)
    metadata = manifest["metadata"]
    conditions = {item["type"]: item for item in conditions_of(manifest)}
    target = conditions.get("DisruptionTarget", {})
    return PodRecord(
        key=pod.key,
        uid=pod.uid,
        priority=pod.priority,
        requests=dict(pod.requests),
        node=pod.node_name,
        nominated=pod.nominated_node_name,
        phase=pod.phase or "Pending",
        terminating=pod.terminating,
        gone_at=fmt.parse_time(metadata.get("deletionTimestamp", "")),
        gates=tuple(pod.scheduling_gates),
        created=fmt.parse_time(metadata.get("creationTimestamp", "")),
        message=conditions.get("PodScheduled", {}).get("message", ""),
        preempted=target.get("status") == "True" and target.get("reason") == "PreemptionByScheduler",
        version=pod.resource_version,
        limits=pod_requests.to_amounts(pod_requests.pod_limits(manifest)),
        labels=pod.labels,
    )


def budget_record(manifest: Manifest) -> BudgetRecord:
    metadata, status = manifest["metadata"], status_of(manifest)
    return BudgetRecord(
        key=f"{metadata.get('namespace', 'default')}/{metadata['name']}",
        allowed=status.get("disruptionsAllowed", 0),
        healthy=status.get("currentHealthy", 0),
        desired=status.get("desiredHealthy", 0),
    )


def node_record(manifest: Manifest) -> NodeRecord:
    node = Node.parse(manifest)
    return NodeRecord(
        name=node.name,
        zone=node.labels.get(ZONE) or node.labels.get(ZONE_BETA, ""),
        allocatable=dict(node.allocatable) | {"pods": node.allowed_pods},
        taints=tuple(taint_text(taint) for taint in (manifest.get("spec") or {}).get("taints") or []),
        unschedulable=node.unschedulable,
        conditions=tuple(bad_conditions(conditions_of(manifest))),
        version=int(manifest["metadata"].get("resourceVersion", 0)),
        labels=node.labels,
    )


def taint_text(taint: Manifest) -> str:
    """As kubectl writes it: key=value:Effect, or key:Effect."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key', '')}{value}:{taint.get('effect', '')}"


def bad_conditions(conditions: Iterable[Manifest]) -> Iterable[str]:
    for condition in conditions:
        if condition.get("type") == "Ready":
            if condition.get("status") != "True":
                yield "NotReady"
        elif condition.get("status") == "True":
            yield str(condition.get("type"))


class Picture:
    """State only moves forward: an event older than what is held for its key is ignored, so events may
    repeat."""

    def __init__(self) -> None:
        self.pods: dict[str, PodRecord] = {}
        self.nodes: dict[str, NodeRecord] = {}
        self.classes: dict[str, int] = {}
        self.budgets: dict[str, BudgetRecord] = {}
        self.by_node: dict[str, dict[str, PodRecord]] = {}
        """Unfinished pods by the node they are bound to."""
        self.loads: dict[str, Load] = {}
        """Their sums by node, and over all nodes."""
        self.load = Load()
        self.room: Counter[str] = Counter()
        """Allocatable of all nodes."""
        self.nominated: dict[str, dict[str, PodRecord]] = {}
        """Pods that wait for a node, by the node."""
        self.unqueued: dict[str, PodRecord] = {}
        """Pods without a node: where they are not in a lane, the scheduler has not seen them yet."""
        self.priorities: Counter[int] = Counter()
        self.lanes: Mapping[str, LaneEntry] = {}
        self.moves = -1
        """The number of the last change of the lanes; -1 before they were read."""
        self.decision: Decision | None = None
        self.under_way: UnderWay | None = None
        """The cycle that stands between two of its extension points."""
        self.preemption: Decision | None = None
        """The last decision that chose victims."""
        self.trace: deque[tuple[int, trace.Event]] = deque(maxlen=TRACE_KEPT)
        self.past = False
        """It is of a past moment, and stays as it is."""
        self.ahead: list[tuple[int, trace.Event]] = []
        """What was told after that."""
        self.victims: dict[str, str] = {}
        """Victim to preemptor, both by key."""
        self.leader = ""
        self.failure: Failure | None = None
        """How the loop failed."""
        self.pipeline: Pipeline | None = None
        """What came in by the leader's informer."""
        self.version = 0
        self.seq = 0
        self.layout = 0
        """Counts changes of the set of nodes or of their labels."""
        self.dirty_nodes: set[str] = set()
        """Nodes whose card may have changed; whoever draws them clears the set."""

    def user_classes(self) -> dict[str, int]:
        """The PriorityClasses without Kubernetes' own, which every cluster has and few pods use."""
        return {name: value for name, value in self.classes.items() if value < SYSTEM_PRIORITY}

    def object(self, resource: str, manifest: Manifest) -> bool:
        """An object as it is now; False, and it is left out, where it does not fit its kind: the components
        leave it out, too."""
        try:
            self._object(resource, manifest)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as fault:
            log.warning("one of %s cannot be shown: %s: %s", resource, type(fault).__name__, fault)
            return False
        return True

    def _object(self, resource: str, manifest: Manifest) -> None:
        if resource == PODS:
            self._pod(pod_record(manifest))
        elif resource == NODES:
            self._node(node_record(manifest))
        elif resource == PRIORITY_CLASSES:
            self.classes[manifest["metadata"]["name"]] = int(manifest.get("value", 0))
        elif resource == BUDGETS:
            budget = budget_record(manifest)
            self.budgets[budget.key] = budget

    def watch_event(self, event: WatchEvent) -> None:
        self.version = max(self.version, event.version)
        there = event.type != "DELETED"
        if there and self._held(event.resource, event.key) >= event.version:
            return
        if there and self.object(event.resource, event.object):
            return
        if event.resource == PODS:
            self._forget_pod(event.key)
        elif event.resource == NODES:
            if (gone := self.nodes.pop(event.key, None)) is not None:
                self.layout += 1
                self._count_room(gone, -1)
        elif event.resource == PRIORITY_CLASSES:
            self.classes.pop(event.key, None)
        elif event.resource == BUDGETS:
            self.budgets.pop(event.key, None)

    def _held(self, resource: str, key: str) -> int:
        """The version of an object that is in the picture; 0 for none."""
        held = self.pods.get(key) if resource == PODS else self.nodes.get(key) if resource == NODES else None
        return held.version if held else 0

    def trace_event(self, seq: int, event: trace.Event) -> None:
        if seq <= self.seq:
            return
        self.seq = seq
        self.trace.append((seq, event))
        if isinstance(event, trace.VictimDeleted):
            self.victims[event.pod] = event.preemptor
            while len(self.victims) > VICTIMS_KEPT:
                del self.victims[next(iter(self.victims))]
        elif isinstance(event, trace.PodRemoved):
            self.victims.pop(event.pod, None)

    def decided(self, decision: Decision) -> None:
        # One without an outcome was of a cycle under way, which may have ended without any.
        if self.decision is None or not self.decision.outcome or decision.cycle >= self.decision.cycle:
            self.decision = decision
        if decision.preemption is not None and decision.preemption.chosen:
            self.preemption = decision

    def _node(self, node: NodeRecord) -> None:
        before = self.nodes.get(node.name)
        self.layout += before is None or before.labels != node.labels
        if before:
            self._count_room(before, -1)
        self._count_room(node, 1)
        self.nodes[node.name] = node
        self.dirty_nodes.add(node.name)

    def _count_room(self, node: NodeRecord, sign: Literal[1, -1]) -> None:
        for resource, amount in node.allocatable.items():
            self.room[resource] += sign * amount

    def _pod(self, pod: PodRecord) -> None:
        self._forget_pod(pod.key)
        self.pods[pod.key] = pod
        self.priorities[pod.priority] += 1
        if pod.phase in FINISHED:
            return
        if pod.node:
            self.by_node.setdefault(pod.node, {})[pod.key] = pod
            self.loads.setdefault(pod.node, Load()).add(pod)
            self.load.add(pod)
            self.dirty_nodes.add(pod.node)
            return
        self.unqueued[pod.key] = pod
        if pod.nominated:
            self.nominated.setdefault(pod.nominated, {})[pod.key] = pod
            self.dirty_nodes.add(pod.nominated)

    def _forget_pod(self, key: str) -> None:
        pod = self.pods.pop(key, None)
        if pod is None:
            return
        self.unqueued.pop(key, None)
        self.priorities[pod.priority] -= 1
        if not self.priorities[pod.priority]:
            del self.priorities[pod.priority]
        if key in self.by_node.get(pod.node, {}):
            self.load.add(pod, -1)
            self.loads[pod.node].add(pod, -1)
            if len(self.by_node[pod.node]) == 1:
                del self.loads[pod.node]
        for index, node in ((self.by_node, pod.node), (self.nominated, pod.nominated)):
            if key in index.get(node, {}):
                del index[node][key]
                self.dirty_nodes.add(node)
                if not index[node]:
                    del index[node]
