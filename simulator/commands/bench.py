"""Measure scheduling attempts a second, all nodes looked at and every verdict and score kept.

One process, no store: an attempt is everything from the pod to the decision, and the pod's place on its node.
What the numbers are held against is in docs/BENCHMARKS.md.
"""

import argparse
import gc
import sys
import time

import msgspec
import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.config import load
from simulator.framework.runtime import Framework
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.plugins.registry import profiles
from simulator.scheduler.attempt import Attempt
from simulator.workloads import WORKLOADS, initial, nodes

MAX_SECONDS = 5.0
"""Measuring a workload stops then; the rate is of the pods done until then."""
WARM_UP_PODS = 20
"""Scheduled before the clock starts, so that caches are as full as in a scheduler that has been running."""
NODE_COUNTS = (500, 1000, 5000)


class Row(msgspec.Struct, frozen=True):
    workload: str
    nodes: int
    pods: int
    """Bound before the clock started."""
    attempts: int
    attempts_per_second: float
    p50_ms: float
    p99_ms: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workload", choices=WORKLOADS, action="append", help="all of them without it")
    parser.add_argument("--nodes", type=int, action="append", help=f"{NODE_COUNTS} without it")
    parser.add_argument(
        "--pods", type=int, default=0, help="further bound pods, to show that they cost nothing"
    )
    parser.add_argument("--json", action="store_true", help="a JSON object a row")


def run(options: argparse.Namespace) -> int:
    if not options.json:
        print(f"{'workload':<24}{'nodes':>7}{'pods':>8}{'attempts/s':>12}{'p50 ms':>9}{'p99 ms':>9}")
    for name in options.workload or WORKLOADS:
        for count in options.nodes or NODE_COUNTS:
            row = measure(name, count, options.pods)
            if options.json:
                sys.stdout.write(msgspec.json.encode(row).decode() + "\n")
            else:
                print(
                    f"{row.workload:<24}{row.nodes:>7}{row.pods:>8}{row.attempts_per_second:>12.0f}"
                    f"{row.p50_ms:>9.2f}{row.p99_ms:>9.2f}"
                )
            sys.stdout.flush()
    return 0


def measure(name: str, node_count: int, further_pods: int) -> Row:
    workload = WORKLOADS[name]
    framework = profiles(load(None))["default-scheduler"]
    cluster = Cluster()
    for manifest in nodes(node_count):
        cluster.add_node(Node.parse(manifest))
    for i in range(further_pods):
        cluster.add_pod(Pod.parse(initial(-1 - i)).assumed(f"node-{i % node_count}"))
    for i in range(workload.initial(node_count)):
        cluster.add_pod(Pod.parse(workload.initial_pod(i)).assumed(f"node-{i % node_count}"))
    bound = len(cluster.pods)
    pods = [Pod.parse(workload.pod(i)) for i in range(workload.measured(node_count))]
    warm_up = min(WARM_UP_PODS, len(pods) // 10)
    trace: list[Attempt] = []
    seconds: list[float] = []
    total = 0.0
    step = preempt if workload.preempts else schedule
    gc.collect()
    for i, pod in enumerate(pods):
        taken = step(framework, cluster, pod, trace)
        if i >= warm_up:
            seconds.append(taken)
            total += taken
        if total > MAX_SECONDS:
            break
    p50, p99 = (np.percentile(seconds, [50, 99]) * 1000).tolist()
    return Row(name, node_count, bound, len(seconds), len(seconds) / total, p50, p99)


def schedule(framework: Framework, cluster: Cluster, pod: Pod, trace: list[Attempt]) -> float:
    """Seconds for one attempt; a pod that fits is put on its node."""
    start = time.perf_counter()
    attempt = Attempt(framework, cluster, pod, {}, cycle=len(trace))
    for _ in attempt.run():
        pass
    trace.append(attempt)
    if attempt.selected is not None:
        cluster.add_pod(pod.assumed(cluster.node(attempt.selected).name))
    return time.perf_counter() - start


def preempt(framework: Framework, cluster: Cluster, pod: Pod, trace: list[Attempt]) -> float:
    """Seconds for the attempt that nominates and the one that uses the nomination; the victims go outside the
    clock."""
    seconds = schedule(framework, cluster, pod, trace)
    make = trace[-1].preemption
    assert make is not None
    found = make()
    assert found.chosen, f"{pod.key} found nobody to preempt"
    victims = next(c.victims for c in found.candidates if c.node == found.chosen)
    for victim in victims:
        cluster.remove_pod(cluster.pods[victim.pod])
    manifest = {**pod.manifest, "status": {"nominatedNodeName": found.chosen}}
    return seconds + schedule(framework, cluster, Pod.parse(manifest), trace)
