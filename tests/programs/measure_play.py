"""Measures how long a played workload takes: ``python -m tests.programs.measure_play [PODS NODES]``.

CPU time and the largest memory of the process. The pods request what those of openb do, come at random times
and run for a random while."""

import resource
import sys
import time
from random import Random
from typing import Final

from simulator.arrivals.play_run import PlayRun
from simulator.arrivals.read import read_bytes, read_nodes_file
from simulator.arrivals.workload import make_workload, played_scenario
from simulator.compare.comparison_run import Side

SIZES: Final = ((8_000, 1_500), (100_000, 5_000))
PODS_HEAD: Final = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,scheduled_time,deletion_time"
)
RUN_SECONDS: Final = 30_000
"""The mean time for which a pod runs."""


def make_nodes(count: int, random: Random) -> str:
    lines = ["sn,cpu_milli,memory_mib,gpu,model"]
    for number in range(count):
        gpus = random.choice((0, 2, 8))
        model = random.choice(("G2", "T4")) if gpus else ""
        size = random.choice(("32000,262144", "96000,786432", "128000,786432"))
        lines.append(f"node-{number},{size},{gpus},{model}")
    return "\n".join(lines)


def make_pods(count: int, nodes: int, random: Random) -> str:
    """Return pods of which as many run at the same time as use about half of the GPUs of the nodes."""
    between = RUN_SECONDS / (0.8 * nodes)
    lines, now = [PODS_HEAD], 0.0
    for number in range(count):
        now += random.expovariate(1 / between)
        end = now + random.expovariate(1 / RUN_SECONDS)
        gpus = random.choice((0, 1, 1, 1, 2, 8))
        share = random.choice((220, 500, 1000)) if gpus == 1 else 1000
        size = random.choice(("4000,8192", "8000,15258", "12000,32768", "32000,32768"))
        model = random.choice(("", "T4")) if gpus else ""
        lines.append(f"pod-{number},{size},{gpus},{share},{model},{now:.0f},{now:.0f},{end:.0f}")
    return "\n".join(lines)


def measure(pods: int, nodes: int) -> None:
    began, random = time.process_time(), Random(1)
    cluster = read_nodes_file(make_nodes(nodes, random).encode())
    arrivals = read_bytes(make_pods(pods, nodes, random).encode()).arrivals
    workload = make_workload(arrivals, cluster, played_scenario("measured", 10_000, 1))
    playing = PlayRun(workload, [Side(seed=1)], workload.duration)
    for _ in playing.run():
        pass
    outcome = playing.result().a
    used = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(
        f"{pods:,} pods on {nodes:,} nodes: {used:.0f} s of CPU time, {memory} MB; "
        f"{outcome.bound:,} bound in {outcome.cycles:,} cycles",
        flush=True,
    )


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    for size in [tuple(given)] if given else SIZES:
        measure(*size)
