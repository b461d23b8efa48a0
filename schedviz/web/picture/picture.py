"""The state of a sandbox that the pages show, updated by watch events and trace events.

A watched sandbox has one :class:`Picture` in each web process; other pages make one for each request. It has
small records instead of manifests, so that 50,000 pods fit in a web process.
"""

import logging
from collections import Counter, deque
from collections.abc import Mapping
from typing import Final, Literal

from schedviz.store import Failure
from schedviz.web.picture.device_index import DeviceIndex
from schedviz.web.picture.outside_latency import Waits, note_binding
from schedviz.web.picture.priority import SYSTEM_PRIORITY
from schedviz.web.picture.records import (
    BudgetRecord,
    GroupRecord,
    Load,
    NodeRecord,
    PodRecord,
    budget_record,
    group_record,
    node_record,
    pod_record,
)
from schedviz.web.text.node_names import NO_NAMES, ShortNodeNames, names_of
from simulator import trace
from simulator.api import Manifest, WatchEvent
from simulator.client.informer import Pipeline
from simulator.decision import Decision, UnderWay
from simulator.objects.pod_group import POD_GROUPS
from simulator.objects.status import FINISHED_PHASES
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS
from simulator.trace import QueuePlace

log = logging.getLogger(__name__)

TRACE_KEPT: Final = 2000
"""Maximum number of trace events for the log and the timeline: about 400 attempts, more than both show."""
VICTIMS_KEPT: Final = 500
PODS: Final = "pods"
NODES: Final = "nodes"
PRIORITY_CLASSES: Final = "priorityclasses.scheduling.k8s.io"
BUDGETS: Final = "poddisruptionbudgets.policy"
WATCHED: Final = (PODS, NODES, PRIORITY_CLASSES, BUDGETS, RESOURCE_SLICES, RESOURCE_CLAIMS, POD_GROUPS)
OF_NODES: Final = (PODS, NODES, RESOURCE_SLICES, RESOURCE_CLAIMS)
"""The resources that the nodes panel shows."""


class Picture:
    """The state of a sandbox that the pages show. An event that is older than the stored state of its object
    is ignored, so events may be repeated."""

    def __init__(self) -> None:
        self.pods: dict[str, PodRecord] = {}
        self.nodes: dict[str, NodeRecord] = {}
        self.classes: dict[str, int] = {}
        self.never_preempting: set[str] = set()
        """The PriorityClasses whose pods may not preempt."""
        self.budgets: dict[str, BudgetRecord] = {}
        self.groups: dict[str, GroupRecord] = {}
        """The PodGroups by key."""
        self.members: dict[str, dict[str, PodRecord]] = {}
        """The unfinished pods that name a PodGroup, by its key."""
        self.devices = DeviceIndex()
        self.by_node: dict[str, dict[str, PodRecord]] = {}
        """Unfinished pods by the node they are bound to."""
        self.loads: dict[str, Load] = {}
        """What these pods request, by node; some nodes may have been deleted."""
        self.load = Load()
        """What the pods on the nodes that exist request together."""
        self.wanted: Counter[str] = Counter()
        """The number of unfinished pods that request each resource; without resources that none requests."""
        self.room: Counter[str] = Counter()
        """The allocatable resources of all nodes together."""
        self.nominated: dict[str, dict[str, PodRecord]] = {}
        """Nominated pods that are not bound, by their nominated node."""
        self.unqueued: dict[str, PodRecord] = {}
        """Pods without a node. The scheduler has not seen those yet that are in no lane."""
        self.priorities: Counter[int] = Counter()
        self.queue_places: Mapping[str, QueuePlace] = {}
        self.moves = -1
        """The number of the last move in the queue; -1 before the first read."""
        self.decision: Decision | None = None
        self.under_way: UnderWay | None = None
        """The cycle that is stopped between two extension points."""
        self.preemption: Decision | None = None
        """The last decision that chose victims."""
        self.trace: deque[tuple[int, trace.Event]] = deque(maxlen=TRACE_KEPT)
        self.past = False
        """Whether it is of a past moment, and does not change."""
        self.ahead: list[tuple[int, trace.Event]] = []
        """The trace events after the past moment."""
        self.stands_down = False
        """Whether its scheduler leaves all pods to outside schedulers."""
        self.mirrors = False
        """Whether the sandbox mirrors a real cluster."""
        self.outside: Waits = {}
        """The last bindings of outside schedulers."""
        self.victims: dict[str, str] = {}
        """The key of the preemptor, by the key of its victim."""
        self.leader = ""
        self.failure: Failure | None = None
        """The last failure of a slice of the sandbox."""
        self.pipeline: Pipeline | None = None
        """The informer of the leader."""
        self.version = 0
        self.seq = 0
        self.layout = 0
        """The number of changes of the set of nodes or of their labels."""
        self._named = -1
        """The layout for which ``_names`` was made."""
        self._names = NO_NAMES
        self._patterns: list[str] = []
        self.dirty_nodes: set[str] = set()
        """Nodes whose card may have changed. The caller that draws them clears the set."""

    def node_names(self) -> ShortNodeNames:
        """Return the short names of its nodes."""
        if self._named != self.layout:
            self._named, self._names = self.layout, names_of(tuple(self.nodes))
            self._patterns = self._names.patterns(self.nodes)
        return self._names

    def name_patterns(self) -> list[str]:
        """Return the parts of names that short names leave out: :meth:`NodeNames.patterns`."""
        self.node_names()
        return self._patterns

    @property
    def judging(self) -> Decision | None:
        """The decision whose verdicts the nodes show: the newest one, unless the scheduler stands down."""
        return None if self.stands_down else self.decision

    def group_of(self, pod: str) -> str:
        """Return the key of the PodGroup that a pod names; "" if it is in none."""
        found = self.pods.get(pod)
        return found.group if found else ""

    def user_classes(self) -> dict[str, int]:
        """Return the PriorityClasses without those of Kubernetes itself."""
        return {name: value for name, value in self.classes.items() if value < SYSTEM_PRIORITY}

    def preempting_classes(self) -> dict[str, int]:
        """Return those of the :meth:`user_classes` whose pods may preempt others."""
        return {
            name: value for name, value in self.user_classes().items() if name not in self.never_preempting
        }

    def object(self, resource: str, manifest: Manifest) -> bool:
        """Add or replace an object. Returns False for an object that does not fit its schema; it is left out,
        as the components of the sandbox ignore it."""
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
            name = manifest["metadata"]["name"]
            self.classes[name] = int(manifest.get("value", 0))
            self.never_preempting.discard(name)
            if manifest.get("preemptionPolicy") == "Never":
                self.never_preempting.add(name)
        elif resource == BUDGETS:
            budget = budget_record(manifest)
            self.budgets[budget.key] = budget
        elif resource == POD_GROUPS:
            group = group_record(manifest)
            self.groups[group.key] = group
        elif resource == RESOURCE_SLICES:
            self.devices.put_slice(manifest)
        elif resource == RESOURCE_CLAIMS:
            self.devices.put_claim(manifest)

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
                self._count_node(gone, -1)
        elif event.resource == PRIORITY_CLASSES:
            self.classes.pop(event.key, None)
        elif event.resource == BUDGETS:
            self.budgets.pop(event.key, None)
        elif event.resource == POD_GROUPS:
            self.groups.pop(event.key, None)
        elif event.resource == RESOURCE_SLICES:
            self.devices.remove_slice(event.key)
        elif event.resource == RESOURCE_CLAIMS:
            self.devices.remove_claim(event.key)

    def _held(self, resource: str, key: str) -> int:
        """Return the version of the object in the picture; 0 if it has none."""
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
        elif isinstance(event, trace.OutsideBound):
            note_binding(self.outside, event)
        elif isinstance(event, trace.PodRemoved):
            self.victims.pop(event.pod, None)

    def decided(self, decision: Decision) -> None:
        # A decision without an outcome is of an unfinished cycle, which may end without a decision.
        if self.decision is None or not self.decision.outcome or decision.cycle >= self.decision.cycle:
            self.decision = decision
        if decision.preemption is not None and decision.preemption.chosen:
            self.preemption = decision

    def _node(self, node: NodeRecord) -> None:
        before = self.nodes.get(node.name)
        self.layout += before is None or before.labels != node.labels
        if before:
            self._count_node(before, -1)
        self._count_node(node, 1)
        self.nodes[node.name] = node
        self.dirty_nodes.add(node.name)

    def _count_node(self, node: NodeRecord, sign: Literal[1, -1]) -> None:
        """Count what a node has, and what the pods bound to it request."""
        for resource, amount in node.allocatable.items():
            self.room[resource] += sign * amount
        for pod in self.by_node.get(node.name, {}).values():
            self.load.add(pod, sign)

    def _want(self, pod: PodRecord, sign: Literal[1, -1]) -> None:
        """Count what a pod requests. Cards show only resources that some pod requests."""
        if pod.phase in FINISHED_PHASES:
            return
        for resource in (name for name, amount in pod.requests.items() if amount):
            known = self.wanted[resource]
            self.wanted[resource] += sign
            if not self.wanted[resource]:
                del self.wanted[resource]
            if not known or resource not in self.wanted:
                self.dirty_nodes.update(self.nodes)

    def _pod(self, pod: PodRecord) -> None:
        self._want(pod, 1)  # first, so that the only request for a resource does not end in between
        self._forget_pod(pod.key)
        self.pods[pod.key] = pod
        self.priorities[pod.priority] += 1
        if pod.phase in FINISHED_PHASES:
            return
        if pod.group:
            self.members.setdefault(pod.group, {})[pod.key] = pod
        if pod.node:
            self.by_node.setdefault(pod.node, {})[pod.key] = pod
            self.loads.setdefault(pod.node, Load()).add(pod)
            if pod.node in self.nodes:
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
        self._want(pod, -1)
        self.unqueued.pop(key, None)
        if key in self.members.get(pod.group, {}):
            del self.members[pod.group][key]
            if not self.members[pod.group]:
                del self.members[pod.group]
        self.priorities[pod.priority] -= 1
        if not self.priorities[pod.priority]:
            del self.priorities[pod.priority]
        if key in self.by_node.get(pod.node, {}):
            if pod.node in self.nodes:
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
