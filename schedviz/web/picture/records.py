"""The records that the pages keep of a pod, a node and a disruption budget: small, instead of the
manifest."""

from collections import Counter
from collections.abc import Iterable
from sys import intern
from typing import Final, Literal

import msgspec

from schedviz.web.text import format as fmt
from simulator.api import Manifest, Micros
from simulator.objects import pod_requests
from simulator.objects.conditions import conditions_of
from simulator.objects.node import ZONE, ZONE_BETA, Node, format_taint
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.objects.pod_group import PodGroup
from simulator.objects.status import status_of

POD_COUNT: Final = "pods"
"""The resource of which each pod takes one."""


class PodRecord(msgspec.Struct, frozen=True):
    """The fields of a pod that the pages show. Times in simulated microseconds; 0 = none."""

    key: str
    uid: str
    priority: int
    requests: dict[str, int]
    node: str
    nominated: str
    phase: str
    terminating: bool
    gone_at: Micros
    """The end of the grace period of a terminating pod."""
    gates: tuple[str, ...]
    created: Micros
    message: str
    """The message of the condition PodScheduled."""
    preempted: bool
    """Whether the pod has the condition DisruptionTarget with the reason PreemptionByScheduler."""
    version: int
    limits: dict[str, int] = {}
    labels: dict[str, str] = {}
    owner: str = ""
    """The uid of its controller; "" = it has none."""
    group: str = ""
    """The key of its PodGroup; "" = it is in none."""
    zones: tuple[str, ...] = ()
    """The zones in which its node has to be, as far as its node selector and its affinity name them."""


class BudgetRecord(msgspec.Struct, frozen=True):
    """The status of a PodDisruptionBudget."""

    key: str
    allowed: int
    healthy: int
    desired: int


class NodeRecord(msgspec.Struct, frozen=True):
    """The fields of a node that the pages show."""

    name: str
    zone: str
    allocatable: dict[str, int]
    taints: tuple[str, ...]
    unschedulable: bool
    conditions: tuple[str, ...]
    """The bad conditions: NotReady, MemoryPressure, ..."""
    version: int
    labels: dict[str, str] = {}


class GroupRecord(msgspec.Struct, frozen=True):
    """A PodGroup. ``min_count`` None: its policy is ``basic``."""

    key: str
    min_count: int | None


class Load:
    """The sums of the requests and limits of pods, by resource. The resource ``pods`` is their number."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.limits: Counter[str] = Counter()

    def add(self, pod: PodRecord, sign: Literal[1, -1] = 1) -> None:
        for sums, amounts in ((self.requests, pod.requests), (self.limits, pod.limits)):
            for resource, amount in amounts.items():
                sums[resource] += sign * amount
        self.requests[POD_COUNT] += sign


NO_LOAD: Final = Load()
"""The load of a node without pods. It must not be changed."""


def pod_record(manifest: Manifest) -> PodRecord:
    pod = Pod.parse(manifest)
    metadata = manifest["metadata"]
    conditions = {item["type"]: item for item in conditions_of(manifest)}
    target = conditions.get("DisruptionTarget", {})
    controller = controller_of(manifest)
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
        owner=intern(controller["uid"]) if controller else "",
        group=intern(pod.pod_group),
        zones=_required_zones(pod),
    )


def _required_zones(pod: Pod) -> tuple[str, ...]:
    selected = (pod.spec.get("nodeSelector") or {}).get(ZONE)
    if selected:
        return (intern(selected),)
    affinity = (pod.spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    found: set[str] = set()
    for term in required.get("nodeSelectorTerms") or ():
        expressions = term.get("matchExpressions") or ()
        named = next((e for e in expressions if (e.get("key"), e.get("operator")) == (ZONE, "In")), None)
        if named is None:
            return ()  # nodes of any zone can match this term
        found.update(named.get("values") or ())
    return tuple(map(intern, sorted(found)))


def budget_record(manifest: Manifest) -> BudgetRecord:
    metadata, status = manifest["metadata"], status_of(manifest)
    return BudgetRecord(
        key=f"{metadata.get('namespace', 'default')}/{metadata['name']}",
        allowed=status.get("disruptionsAllowed", 0),
        healthy=status.get("currentHealthy", 0),
        desired=status.get("desiredHealthy", 0),
    )


def group_record(manifest: Manifest) -> GroupRecord:
    group = PodGroup(manifest)
    return GroupRecord(group.key, group.min_count)


def node_record(manifest: Manifest) -> NodeRecord:
    node = Node.parse(manifest)
    return NodeRecord(
        name=node.name,
        zone=node.labels.get(ZONE) or node.labels.get(ZONE_BETA, ""),
        allocatable=dict(node.allocatable) | {"pods": node.allowed_pods},
        taints=tuple(
            format_taint(taint.get("key", ""), taint.get("value") or "", taint.get("effect", ""))
            for taint in (manifest.get("spec") or {}).get("taints") or []
        ),
        unschedulable=node.unschedulable,
        conditions=tuple(bad_conditions(conditions_of(manifest))),
        version=int(manifest["metadata"].get("resourceVersion", 0)),
        labels=node.labels,
    )


def bad_conditions(conditions: Iterable[Manifest]) -> Iterable[str]:
    """Yield the conditions of a node that report a problem; Ready, if not true, is NotReady."""
    for condition in conditions:
        if condition.get("type") == "Ready":
            if condition.get("status") != "True":
                yield "NotReady"
        elif condition.get("status") == "True":
            yield str(condition.get("type"))
