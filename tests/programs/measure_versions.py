"""Compare the speed of two versions of the simulator in one run.

    git worktree add ../before COMMIT
    python -m tests.programs.measure_versions ../before        # against the version here
    python -m tests.programs.measure_versions . --kubernetes-before v1.34 --kubernetes v1.36

Each row of the benchmark is measured in both versions by turns, so that what else the machine does slows both
down alike; the best of the rounds counts. The exit status is 1 where a row is slower than before by more than
5 percent."""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simulator.commands.bench import NODE_COUNTS
from simulator.harness.workloads import WORKLOADS

HERE = Path(__file__).parents[2]
SLOWER = 0.95
"""The ratio to the rate before below which a row counts as slower."""
ROUNDS = 3


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.programs.measure_versions", description=__doc__)
    parser.add_argument("before", type=Path, help="a checkout of the other version")
    for side in ("", "-before"):
        parser.add_argument(f"--kubernetes{side}", default="", help="the version of Kubernetes")
    parser.add_argument("--workload", choices=WORKLOADS, action="append", help="all of them without it")
    parser.add_argument("--nodes", type=int, action="append", help=f"{NODE_COUNTS} without it")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help=f"measurements of each, {ROUNDS} without it"
    )
    options = parser.parse_args(arguments)
    slower = 0
    rates = f"{'before':>9}{'now':>9}{'ratio':>7}"
    print(f"{'attempts/s':<24}{'nodes':>7}{rates}   with record:{rates}")
    for workload in options.workload or WORKLOADS:
        for nodes in options.nodes or NODE_COUNTS:
            sides = [(options.before, options.kubernetes_before), (HERE, options.kubernetes)]
            before, now = best_of_both(sides, workload, nodes, options.rounds)
            ratios = [later / earlier for earlier, later in zip(before, now, strict=True)]
            slower += min(ratios) < SLOWER
            decision = f"{before[0]:>9.0f}{now[0]:>9.0f}{ratios[0]:>7.2f}"
            record = f"{before[1]:>9.0f}{now[1]:>9.0f}{ratios[1]:>7.2f}"
            print(f"{workload:<24}{nodes:>7}{decision}{'':15}{record}", flush=True)
    print(f"{slower} rows are slower than before by more than {1 - SLOWER:.0%}")
    return int(slower > 0)


def best_of_both(
    sides: Sequence[tuple[Path, str]], workload: str, nodes: int, rounds: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Attempts a second of both sides, checkouts and versions of Kubernetes, each without and with the
    record."""
    found: list[list[tuple[float, float]]] = [[], []]
    for _ in range(rounds):
        for (folder, kubernetes), rates in zip(sides, found, strict=True):
            rates.append(measured(folder, kubernetes, workload, nodes))
    best = [(max(a for a, _ in rates), max(b for _, b in rates)) for rates in found]
    return best[0], best[1]


def measured(folder: Path, kubernetes: str, workload: str, nodes: int) -> tuple[float, float]:
    command = [sys.executable, "-m", "simulator", "bench", "--record", "--json"]
    command += ["--workload", workload, "--nodes", str(nodes)]
    command += ["--kubernetes", kubernetes] if kubernetes else []
    row: dict[str, Any] = json.loads(subprocess.check_output(command, cwd=folder))
    return row["attempts_per_second"], row["with_record"]["attempts_per_second"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
