"""Measure what-if: the time from a pending pod to the whole answer, over random pods in a random cluster.

Times are the process's own (it has one thread): on a machine that does something else, too, they say more
than a clock on the wall. What they are held against is in docs/BENCHMARKS.md.
"""

import argparse
import gc
import sys
import time
from random import Random

import msgspec
import numpy as np

from simulator.apiserver import resources
from simulator.config import load
from simulator.objects.pod import Pod
from simulator.plugins.registry import profiles
from simulator.random_clusters import cluster, pending
from simulator.what_if.answer import Answer
from simulator.what_if.search import search
from simulator.what_if.situation import Situation

NODE_COUNTS = (100, 1000, 5000)
PODS = 50
"""Random pods for each size, of which those count that are queued and do not fit."""


class Row(msgspec.Struct, frozen=True):
    nodes: int
    pods: int
    """On them."""
    read_ms: float
    """From manifests to a situation, which a worker that has a cluster already need not do."""
    questions: int
    helped: int
    """Questions with at least one suggestion."""
    median_ms: float
    max_ms: float
    wait_max_ms: float
    """The longest time between two reports, in which a search cannot be stopped."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nodes", type=int, action="append", help=f"{NODE_COUNTS} without it")
    parser.add_argument("--pods", type=int, default=PODS, help=f"random pods to ask about, {PODS} without it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="a JSON object a row")


def run(options: argparse.Namespace) -> int:
    titles = Row.__struct_fields__
    if not options.json:
        print("".join(f"{title:>13}" for title in titles))
    for count in options.nodes or NODE_COUNTS:
        row = measure(count, options.pods, options.seed)
        if options.json:
            sys.stdout.write(msgspec.json.encode(row).decode() + "\n")
        else:
            print("".join(f"{getattr(row, title):>13.0f}" for title in titles))
        sys.stdout.flush()
    return 0


def measure(nodes: int, pods: int, seed: int) -> Row:
    random = Random(seed)  # noqa: S311 - the same cluster each time
    frameworks = profiles(load(None))
    objects = []
    for manifest in cluster(random, nodes):
        resource = resources.of_kind(manifest["apiVersion"], manifest["kind"])
        assert resource is not None
        objects.append((resource, manifest))
    gc.collect()
    start = time.process_time()
    read = Situation.read(objects, pending(random, "question-0"), frameworks)
    read_ms = (time.process_time() - start) * 1000
    spent: list[float] = []
    waits: list[float] = []
    helped = 0
    for i in range(pods):
        pod = Pod.parse(pending(random, f"question-{i}"))
        situation = Situation(read.cluster, pod, frameworks, read.nominated)
        start = last = time.process_time()
        own: list[float] = []
        for found in search(situation):  # noqa: B007 - the last one is the answer
            now = time.process_time()
            own.append(now - last)
            last = now
        assert isinstance(found, Answer)
        if found.now.kind in ("unschedulable", "nominated"):
            spent.append(last - start)
            waits += own
            helped += bool(found.suggestions)
    median, most = float(np.median(spent)) * 1000, max(spent) * 1000
    return Row(nodes, len(read.cluster.pods), read_ms, len(spent), helped, median, most, max(waits) * 1000)
