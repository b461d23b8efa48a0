"""Measure scheduling attempts per second, with all nodes filtered.

An attempt is everything from the pod to the decision, and adding the pod to its node, in one process without
a store. ``--record`` also measures the attempts with their records: the Decision and the trace events,
encoded as they are stored. CPU time of the process is measured, so that other processes have less influence.
docs/BENCHMARKS.md lists results for comparison.
"""

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec
import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.command_line.files import InputError
from simulator.command_line.output import print_failure
from simulator.command_line.version_options import add_version_options, features_of
from simulator.decision import Decision
from simulator.decision_columns import stored_encoder
from simulator.framework.batch import make_batch
from simulator.framework.binding import run_reserve
from simulator.framework.runtime import Framework
from simulator.harness.bare_numpy import BareNodes
from simulator.harness.device_workload import DRA, DRA_SHARED
from simulator.harness.gang_workload import GANGS, SIZE, measure_gangs
from simulator.harness.workloads import WORKLOADS, make_initial_pod, make_nodes
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import record, trace_of
from simulator.versions.features import Features

MAX_SECONDS = 5.0
"""Maximum time for a workload. The rate is computed from the pods that were scheduled until then."""
WARM_UP_PODS = 20
"""Number of pods that are scheduled before the measurement, so that caches are filled."""
ALL = {**WORKLOADS, "dra": DRA, "dra-shared": DRA_SHARED}
BARE_NUMPY = "bare-numpy"
NAMES = (*ALL, *GANGS, BARE_NUMPY)
NODE_COUNTS = (500, 1000, 5000)


class Rate(msgspec.Struct, frozen=True):
    attempts_per_second: float
    p50_ms: float
    p99_ms: float


class BenchRow(msgspec.Struct, frozen=True, omit_defaults=True):
    workload: str
    nodes: int
    pods: int
    """Number of pods that were bound before the measurement."""
    attempts: int
    attempts_per_second: float
    p50_ms: float
    p99_ms: float
    with_record: Rate | None = None
    """The rate of the same attempts including the time for their records; None without ``--record``."""
    record_bytes: int = 0
    """Mean size of the record of one attempt."""


class Timing(NamedTuple):
    """The times of one measured pod."""

    decision: float
    """Seconds until the pod has its node."""
    record: float = 0.0
    """Additional seconds for the record."""
    record_bytes: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workload", choices=NAMES, action="append", help="by default all")
    parser.add_argument("--nodes", type=int, action="append", help=f"by default {NODE_COUNTS}")
    parser.add_argument(
        "--pods", type=int, default=0, help="additional bound pods, which should not change the rate"
    )
    add_version_options(parser)
    parser.add_argument("--record", action="store_true", help="also with the record of each attempt")
    parser.add_argument("--json", action="store_true", help="print one JSON object per row")


def run(options: argparse.Namespace) -> int:
    try:
        features = features_of(options.kubernetes, options.feature_gates)
    except InputError as failure:
        print_failure("bench", failure)
        return 1
    if not options.json:
        print(title_line(with_record=options.record))
    for name in options.workload or NAMES:
        for count in options.nodes or NODE_COUNTS:
            if name == BARE_NUMPY:
                row = measure_bare_numpy(count)
            elif name in GANGS:
                row = measure_gang_workload(name, count)
            else:
                row = measure_workload(name, count, options.pods, features, with_record=options.record)
            if options.json:
                sys.stdout.write(msgspec.json.encode(row).decode() + "\n")
            else:
                print("".join(row_columns(row)))
            sys.stdout.flush()
    return 0


def title_line(*, with_record: bool) -> str:
    rates = f"{'attempts/s':>12}{'p50 ms':>9}{'p99 ms':>9}"
    record = f"   with record:{rates}{'kB':>8}" if with_record else ""
    return f"{'workload':<24}{'nodes':>7}{'pods':>8}{rates}{record}"


def row_columns(row: BenchRow) -> Iterator[str]:
    """Yield the columns of a row."""
    yield f"{row.workload:<24}{row.nodes:>7}{row.pods:>8}"
    yield f"{row.attempts_per_second:>12.0f}{row.p50_ms:>9.2f}{row.p99_ms:>9.2f}"
    if row.with_record:
        both = row.with_record
        yield f"{'':15}{both.attempts_per_second:>12.0f}{both.p50_ms:>9.2f}{both.p99_ms:>9.2f}"
        yield f"{row.record_bytes / 1000:>8.1f}"


def measure_workload(
    name: str, node_count: int, further_pods: int, features: Features, *, with_record: bool = False
) -> BenchRow:
    workload = ALL[name]
    framework = profiles(load(None, features=features))["default-scheduler"]
    cluster = Cluster()
    for manifest in make_nodes(node_count):
        cluster.add_node(Node.parse(manifest))
    for resource, key, manifest in workload.objects(node_count):
        cluster.set_object(resource, key, manifest)
    for i in range(further_pods):
        cluster.add_pod(Pod.parse(make_initial_pod(-1 - i)).assumed(f"node-{i % node_count}"))
    for i in range(workload.initial(node_count)):
        cluster.add_pod(Pod.parse(workload.initial_pod(i)).assumed(f"node-{i % node_count}"))
    bound = len(cluster.pods)
    pods = [Pod.parse(workload.pod(i)) for i in range(workload.measured(node_count))]
    warm_up = min(WARM_UP_PODS, len(pods) // 10)
    bench = Bench(framework, cluster, with_record=with_record)
    timings: list[Timing] = []
    step: Callable[[Pod], Timing] = bench.preempt if workload.preempts else bench.schedule
    # The collections within the attempts do not walk what is there before: the modules, and the cluster.
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    total = 0.0
    for i, pod in enumerate(pods):
        timing = step(pod)
        if i >= warm_up:
            timings.append(timing)
            total += timing.decision + timing.record
        if total > MAX_SECONDS:
            break
    decisions = to_rate([timing.decision for timing in timings])
    return BenchRow(
        workload=name,
        nodes=node_count,
        pods=bound,
        attempts=len(timings),
        attempts_per_second=decisions.attempts_per_second,
        p50_ms=decisions.p50_ms,
        p99_ms=decisions.p99_ms,
        with_record=to_rate([timing.decision + timing.record for timing in timings]) if with_record else None,
        record_bytes=sum(timing.record_bytes for timing in timings) // len(timings),
    )


def measure_bare_numpy(node_count: int) -> BenchRow:
    """Measure *basic* by :mod:`simulator.harness.bare_numpy`."""
    basic = WORKLOADS["basic"]
    pods = basic.initial(node_count)
    nodes = BareNodes(node_count, pods)
    seconds = []
    for _ in range(basic.measured(node_count)):
        start = time.process_time()
        best = nodes.best()
        if len(best):
            nodes.bind(int(best[0]))
        seconds.append(time.process_time() - start)
    rate = to_rate(seconds)
    return BenchRow(
        BARE_NUMPY, node_count, pods, len(seconds), rate.attempts_per_second, rate.p50_ms, rate.p99_ms
    )


def measure_gang_workload(name: str, node_count: int) -> BenchRow:
    """Measure pod groups, in v1.36 with their gates: an attempt is one of a member, with its share of the
    group's cycle; of placements, it is the member's in all of them."""
    seconds = measure_gangs(name, node_count)
    rate = to_rate([each / SIZE for each in seconds])
    return BenchRow(
        workload=name,
        nodes=node_count,
        pods=0,
        attempts=len(seconds) * SIZE,
        attempts_per_second=rate.attempts_per_second,
        p50_ms=rate.p50_ms,
        p99_ms=rate.p99_ms,
    )


def to_rate(seconds: list[float]) -> Rate:
    p50, p99 = (np.percentile(seconds, [50, 99]) * 1000).tolist()
    return Rate(len(seconds) / sum(seconds), p50, p99)


class Bench:
    """A scheduler without a queue."""

    def __init__(self, framework: Framework, cluster: Cluster, *, with_record: bool) -> None:
        self._framework = framework
        self._cluster = cluster
        self._batch = make_batch(framework)
        self._with_record = with_record
        self._number = 0
        self._last: Attempt | None = None
        self._decision: Decision | None = None
        """The last one."""

    def schedule(self, pod: Pod) -> Timing:
        """Run one attempt. If the pod fits, it is added to its node."""
        start = time.process_time()
        attempt = Attempt(self._framework, self._cluster, pod, {}, cycle=self._number, batch=self._batch)
        attempt.complete()
        self._number += 1
        self._last = attempt
        decided = recorded = time.process_time()
        record_bytes = 0
        if self._with_record:
            self._decision = record(attempt, before=self._decision)
            record_bytes = sum(map(len, encode_record(self._decision, attempt)))
            recorded = time.process_time()
        if attempt.selected is not None:
            self._reserve(attempt, pod.assumed(self._cluster.node(attempt.selected).name))
        end = time.process_time()
        return Timing(decided - start + end - recorded, recorded - decided, record_bytes)

    def _reserve(self, attempt: Attempt, assumed: Pod) -> None:
        """Add the assumed pod to its node; with claims, reserve their devices."""
        self._cluster.add_pod(assumed)
        if assumed.spec.get("resourceClaims"):
            status = run_reserve(self._framework, attempt.state, assumed, assumed.node_name)
            assert status is None, status

    def preempt(self, pod: Pod) -> Timing:
        """Run the attempt that nominates a node and the attempt that uses the nomination. The time for
        removing the victims is not measured."""
        first = self.schedule(pod)
        candidate = None if self._last is None else self._last.candidate
        assert candidate is not None, f"{pod.key} found nobody to preempt"
        for victim in candidate.victims:
            self._cluster.remove_pod(victim)
        manifest = {**pod.manifest, "status": {"nominatedNodeName": candidate.node}}
        second = self.schedule(Pod.parse(manifest))
        return Timing(
            first.decision + second.decision,
            first.record + second.record,
            first.record_bytes + second.record_bytes,
        )


def encode_record(decision: Decision, attempt: Attempt) -> Iterator[str]:
    """Yield the Decision and the trace events of an attempt, encoded as schedviz/store/codec.py does."""
    for part in (decision, *trace_of(attempt)):
        yield stored_encoder.encode(part).decode()
