"""Measures questions about a large cluster: ``python -m tests.programs.measure_questions [QUESTION ...]``.

A dump of 5,000 nodes with 50,000 pods of Deployments is written, and each question is asked by a process of
its own, as ``simulator ask`` does. Seconds of CPU time since the start of the process: until the dump is
read, until the first answer has figures, and until the end. ``longest step`` is the longest wait of a request
to stop since the objects are read. The numbers are in docs/BENCHMARKS.md."""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

from simulator.api import Manifest
from simulator.command_line.garbage import without_collections
from simulator.commands.ask import read_cluster, sum_events
from simulator.questions.answer import Answer
from simulator.questions.fields import QuestionFields, begin_question
from simulator.versions.features import DEFAULT_FEATURES

BORN: Final = "2026-11-27T10:00:00Z"
AS_STORED: Final = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}
"""What the API server adds to the spec of a pod or template."""
ADMITTED: Final = {"priority": 0, "preemptionPolicy": "PreemptLowerPriority", "enableServiceLinks": True}
"""What it adds to the spec of a pod."""
REPLICAS: Final = 20
PENDING: Final = 500
EVICTED: Final = 10_000
LOOKED_AT_AFTER: Final = 0.5
"""Seconds of work between two looks at the answer until it has a figure. The looks are not counted."""


def make_object(api_version: str, kind: str, name: str, **fields: Any) -> Manifest:
    metadata = {"name": name, "uid": f"{kind}-{name}", "creationTimestamp": BORN}
    metadata |= fields.pop("metadata", {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def make_template(app: str, cpu: str, **spec: Any) -> Manifest:
    container = {
        "name": "main",
        "image": f"registry.example.com/{app}:1.4.2",
        "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
    }
    return {"metadata": {"labels": {"app": app}}, "spec": {**AS_STORED, "containers": [container], **spec}}


def make_nodes(count: int) -> Iterator[Manifest]:
    for number in range(count):
        name = f"node-{number}"
        labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{'abc'[number % 3]}"}
        amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": BORN}
        status = {"allocatable": amounts, "capacity": amounts, "conditions": [ready]}
        yield make_object("v1", "Node", name, metadata={"labels": labels}, spec={}, status=status)


def make_workload(app: str, cpu: str, replicas: int, nodes: Iterator[str], **spec: Any) -> Iterator[Manifest]:
    """Yield a ReplicaSet and its pods. nodes: where they run; those that have none wait."""
    labels = {"app": app}
    meta = {"namespace": "shop", "labels": labels, "generation": 1}
    template = make_template(app, cpu, **spec)
    own = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    counts = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas"), replicas)
    status = {"observedGeneration": 1, **counts}
    yield make_object("apps/v1", "ReplicaSet", app, metadata=meta, spec=own, status=status)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": f"ReplicaSet-{app}"}
    owned = {
        "namespace": "shop",
        "labels": labels,
        "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
    }
    running = {
        "phase": "Running",
        "startTime": BORN,
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": BORN}],
    }
    for replica in range(replicas):
        node = next(nodes, "")
        placed = {"nodeName": node} if node else {}
        status = running if node else {"phase": "Pending"}
        spec_of_pod = {**template["spec"], **ADMITTED, **placed}
        yield make_object("v1", "Pod", f"{app}-{replica:05}", metadata=owned, spec=spec_of_pod, status=status)


def make_workloads(random: Random, nodes: int, pods: int) -> Iterator[Manifest]:
    """Yield workloads, one in ten with a budget and one in twenty with local storage, and one that waits."""
    places = (f"node-{random.randrange(nodes)}" for _ in range(pods))
    for number in range(pods // REPLICAS):
        app = f"app-{number}"
        cpu = random.choice(("500m", "1", "1500m"))
        local = {"volumes": [{"name": "data", "emptyDir": {}}]} if number % 20 == 0 else {}
        yield from make_workload(app, cpu, REPLICAS, places, **local)
        if number % 10 == 0:
            selector = {"matchLabels": {"app": app}}
            disruption = {"disruptionsAllowed": 2, "currentHealthy": REPLICAS, "expectedPods": REPLICAS}
            yield make_object(
                "policy/v1",
                "PodDisruptionBudget",
                app,
                metadata={"namespace": "shop", "generation": 1},
                spec={"maxUnavailable": 2, "selector": selector},
                status={**disruption, "desiredHealthy": REPLICAS - 2, "observedGeneration": 1},
            )
    yield from make_workload("large", "20", PENDING, iter(()))


def make_events(random: Random, count: int, pods: int) -> Iterator[Manifest]:
    for number in range(count):
        of = f"app-{random.randrange(pods // REPLICAS)}-{random.randrange(REPLICAS):05}"
        yield make_object(
            "v1",
            "Event",
            f"event-{number}",
            metadata={"namespace": "shop"},
            reason="Preempted",
            message="Preempted by pod Pod-large-1 on node node-1",
            eventTime="2026-11-27T10:00:00.000000Z",
            involvedObject={"kind": "Pod", "namespace": "shop", "name": of},
        )


def write_dump(path: Path, nodes: int, pods: int) -> None:
    random = Random(1)
    items = [
        *make_nodes(nodes),
        make_object("scheduling.k8s.io/v1", "PriorityClass", "urgent", value=1000),
        *make_workloads(random, nodes, pods),
        *make_events(random, EVICTED, pods),
    ]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1))


def deployment(cpu: str, replicas: int, **spec: Any) -> Manifest:
    return make_object(
        "apps/v1",
        "Deployment",
        "new",
        metadata={"namespace": "shop"},
        spec={
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "new"}},
            "template": make_template("new", cpu, **spec),
        },
    )


def over_zones() -> list[Manifest]:
    labels = {"matchLabels": {"app": "new"}}
    key = "topology.kubernetes.io/zone"
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": labels}]


FIELDS: Final[dict[str, QuestionFields]] = {
    "fits": QuestionFields("fits", [deployment("15", 200, priorityClassName="urgent")]),
    "more": QuestionFields("more", [deployment("250m", 1)]),
    "more-spread": QuestionFields("more", [deployment("250m", 1, topologySpreadConstraints=over_zones())]),
    "drain": QuestionFields("drain", nodes=[f"node-{number}" for number in range(20)]),
    "removable": QuestionFields("removable"),
    "add": QuestionFields("add", shapes=["name=big,cpu=64,memory=256Gi"]),
    "evictions": QuestionFields("evictions"),
}


def ask(name: str, path: Path, within: float) -> str:
    first, read, longest, looks, answer = 0.0, 0.0, 0.0, 0.0, None
    if name == "evictions":
        answer = sum_events(path)
        first = time.process_time()
    else:
        with without_collections():
            cluster = read_cluster(path, DEFAULT_FEATURES)
            read = last = time.process_time()
            question = begin_question(cluster, FIELDS[name])
        looked = 0.0
        for _ in question.run():
            now = time.process_time()
            longest = max(longest, now - last)
            if not first and now - looked > LOOKED_AT_AFTER:
                first = now - looks if has_figures(question.answer()) else 0.0
                looked = time.process_time()
                looks += looked - now
            last = time.process_time()
            if last - looks > within:
                break
        answer = question.answer()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    end = f"{time.process_time() - looks:.1f}" if answer.complete else f"more than {within:.0f}"
    return (
        f"{name}: read {read:.1f}, first answer {first or time.process_time():.1f}, end {end} s; "
        f"longest step {longest:.2f} s; {memory} MB; {' '.join(map(str, answer.summary))}"
    )


def has_figures(answer: Answer) -> bool:
    return bool(answer.summary and answer.figure)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("questions", nargs="*", help=f"of {', '.join(FIELDS)}; by default all")
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=50_000)
    parser.add_argument("--within", type=float, default=120.0, help="seconds until a question is stopped")
    parser.add_argument("--dump", type=Path, help="a dump that is there already; asks in this process")
    options = parser.parse_args()
    if options.dump:
        for name in options.questions or FIELDS:
            print(ask(name, options.dump, options.within), flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "dump.json")
        write_dump(path, options.nodes, options.pods)
        print(f"{options.nodes} nodes, {options.pods} pods, {path.stat().st_size / 1e6:.0f} MB", flush=True)
        for name in options.questions or FIELDS:
            command = [sys.executable, "-m", "tests.programs.measure_questions", name, "--dump", str(path)]
            subprocess.run([*command, "--within", str(options.within)], check=True)


if __name__ == "__main__":
    main()
