"""Manifests and decisions for tests of the screens."""

from typing import Any

from msgspec.structs import replace

from simulator.api import Manifest
from simulator.decision import Candidate, Decision, Failure, PluginScores, Preemption, PreFilter, Victim
from simulator.decision_columns import IntColumn
from simulator.trace import Lane, QueuePlace

START = 1_800_000_000_000_000
FILTERS = ["NodeUnschedulable", "TaintToleration", "NodeResourcesFit"]


def pod(name: str, version: int = 1, *, node: str = "", priority: int = 0, **more: Any) -> Manifest:
    """``more``: cpu (text), phase, nominated, deleted (timestamp)."""
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "resourceVersion": str(version)}
    if "deleted" in more:
        metadata["deletionTimestamp"] = more["deleted"]
    container = {"name": "main", "resources": {"requests": {"cpu": more.get("cpu", "1")}}}
    spec = {"containers": [container], "priority": priority, **({"nodeName": node} if node else {})}
    status = {"phase": more.get("phase", "Running" if node else "Pending")}
    if "nominated" in more:
        status["nominatedNodeName"] = more["nominated"]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def node(name: str, version: int = 1, zone: str = "zone-a", cpu: str = "4", **spec: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "resourceVersion": str(version),
            "labels": {"topology.kubernetes.io/zone": zone},
        },
        "spec": spec,
        "status": {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}},
    }


def lane(name: str, where: Lane, priority: int = 0, **more: Any) -> QueuePlace:
    return QueuePlace(
        pod=f"default/{name}",
        uid=f"uid-{name}",
        lane=where,
        priority=priority,
        since=START,
        attempts=1,
        **{"queued": START, **more},
    )


def candidate(name: str, *priorities: int, pdb: int = 0, start: str = "2027-01-15T08:00:00Z") -> Candidate:
    return Candidate(
        node=name,
        victims=[
            Victim(f"default/{name}-{place}", each, False, start) for place, each in enumerate(priorities)
        ],
        pdb_violations=pdb,
        highest_priority=max(priorities),
        priority_sum=sum(each + 2**31 for each in priorities),
        earliest_start=start,
        cleared_nominations=[],
    )


NOTHING_FITS = Decision(
    cycle=7,
    t=START,
    pod="default/web",
    uid="uid-web",
    attempt=2,
    profile="default-scheduler",
    priority=1000,
    requests={"cpu": 1500, "memory": 2**30},
    nodes=["n1", "n2", "n3"],
    pre_filter=PreFilter("Success", "", [], None, ["NodePorts"]),
    filter_plugins=FILTERS,
    verdicts=IntColumn([1, 2, -1]),
    failures=[
        Failure("NodeResourcesFit", "Unschedulable", ["Insufficient cpu"]),
        Failure("TaintToleration", "UnschedulableAndUnresolvable", ["node(s) had untolerated taint {a: b}"]),
    ],
    feasible=[],
    scores=[],
    pre_score_skipped=[],
    totals=[],
    tied=[],
    selected="",
    nominated_shortcut=False,
    preemption=None,
    unschedulable_plugins=["NodeResourcesFit", "TaintToleration"],
    message="0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {a: b}.",
    outcome="unschedulable",
)

SCHEDULED = replace(
    NOTHING_FITS,
    verdicts=IntColumn([0, 2, 0]),
    feasible=[0, 2],
    scores=[
        PluginScores("NodeResourcesFit", 1, [40, 61], [40, 61], [40, 61]),
        PluginScores("TaintToleration", 3, [2, 0], [0, 100], [0, 300]),
    ],
    totals=[40, 361],
    tied=["n3"],
    selected="n3",
    message="",
    outcome="scheduled",
)


def preempting(rule: int, chosen: str, *candidates: Candidate) -> Decision:
    return replace(
        NOTHING_FITS,
        outcome="preempting",
        preemption=Preemption(
            eligible=True,
            ineligible_reason="",
            candidates=list(candidates),
            non_candidates={},
            tied=[chosen],
            chosen=chosen,
            rule=rule,
            code="Success",
            plugin="DefaultPreemption",
            message="",
        ),
    )
