"""Measure what-if: the time from a pending pod to the complete answer, for random pods in a random cluster.

CPU time of the process is measured, so that other processes have less influence. docs/BENCHMARKS.md lists
results for comparison.
"""

import argparse
import gc
import sys
import time
from random import Random

import msgspec
import numpy as np

from simulator.apiserver import resources
from simulator.harness.random_clusters import random_cluster, random_pending_pod
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles
from simulator.what_if.answer import WhatIfAnswer
from simulator.what_if.search import search
from simulator.what_if.situation import Situation

NODE_COUNTS = (100, 1000, 5000)
PODS = 50
"""Number of random pods for each cluster size. Only those are measured that are queued and do not fit."""


class WhatIfBenchRow(msgspec.Struct, frozen=True):
    nodes: int
    pods: int
    """Number of pods on the nodes."""
    read_ms: float
    """Time for parsing the manifests to a situation. A worker that already has the cluster does not need
    it."""
    questions: int
    helped: int
    """Number of questions with at least one suggestion."""
    median_ms: float
    max_ms: float
    wait_max_ms: float
    """The longest time between two reports of a search. It cannot be stopped in between."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nodes", type=int, action="append", help=f"by default {NODE_COUNTS}")
    parser.add_argument("--pods", type=int, default=PODS, help=f"number of random pods, by default {PODS}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one JSON object per row")


def run(options: argparse.Namespace) -> int:
    titles = WhatIfBenchRow.__struct_fields__
    if not options.json:
        print("".join(f"{title:>13}" for title in titles))
    for count in options.nodes or NODE_COUNTS:
        row = measure_what_if(count, options.pods, options.seed)
        if options.json:
            sys.stdout.write(msgspec.json.encode(row).decode() + "\n")
        else:
            print("".join(f"{getattr(row, title):>13.0f}" for title in titles))
        sys.stdout.flush()
    return 0


def measure_what_if(nodes: int, pods: int, seed: int) -> WhatIfBenchRow:
    random = Random(seed)  # noqa: S311 - the same cluster each time
    frameworks = profiles(load(None))
    objects = []
    for manifest in random_cluster(random, nodes):
        resource = resources.find_by_kind(manifest["apiVersion"], manifest["kind"])
        assert resource is not None
        objects.append((resource, manifest))
    gc.collect()
    start = time.process_time()
    read = Situation.read(objects, random_pending_pod(random, "question-0"), frameworks)
    read_ms = (time.process_time() - start) * 1000
    spent: list[float] = []
    waits: list[float] = []
    helped = 0
    for i in range(pods):
        pod = Pod.parse(random_pending_pod(random, f"question-{i}"))
        situation = Situation(read.cluster, pod, frameworks, read.nominated)
        start = last = time.process_time()
        own: list[float] = []
        for found in search(situation):  # noqa: B007 - the last one is the answer
            now = time.process_time()
            own.append(now - last)
            last = now
        assert isinstance(found, WhatIfAnswer)
        if found.now.kind in ("unschedulable", "nominated"):
            spent.append(last - start)
            waits += own
            helped += bool(found.suggestions)
    median, most = float(np.median(spent)) * 1000, max(spent) * 1000
    return WhatIfBenchRow(
        nodes, len(read.cluster.pods), read_ms, len(spent), helped, median, most, max(waits) * 1000
    )
