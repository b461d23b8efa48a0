"""``make fuzz PART=cost``: sends requests of half the permitted size to the real processes, one by one.

It prints the ten dearest by CPU seconds and by memory, how long a visitor of another sandbox waited
meanwhile, the slices of the worker that were too long, and the requests whose calls grow too fast.
"""

import argparse
import math
import os
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path
from typing import Final

from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock

# The settings are read once, so the address must be known before the server behind it is started.
REDIS_PORT, PASSWORD = free_port(), secrets.token_hex(8)
os.environ["REDIS_URL"] = f"redis://:{PASSWORD}@127.0.0.1:{REDIS_PORT}/0"
os.environ["DJANGO_SETTINGS_MODULE"] = "schedviz.settings"
for name in ("PER_SANDBOX", "PER_OWNER", "PER_ADDRESS"):
    os.environ[f"MAX_REQUESTS_PER_SECOND_{name}"] = "0"

import django  # noqa: E402 (as above)

django.setup()

from schedviz.loop.driver import LONG_SLICE_SECONDS  # noqa: E402
from schedviz.store import Store  # noqa: E402
from tests.programs.costs.cases import Case, crowd_cases, growing_cases, sample  # noqa: E402
from tests.programs.costs.counting import calls_of  # noqa: E402
from tests.programs.costs.served import Cost, Server  # noqa: E402
from tests.stack import running  # noqa: E402

SECONDS: Final = 2.0
MEGABYTES: Final = 200.0
"""What one request may cost at most."""
WAITED: Final = 0.5
"""Seconds that 95 % of the visitor's requests may take at most."""
_REPORTED: Final = 50


def chosen(asked: argparse.Namespace) -> list[Case]:
    """Return the requests with many objects, at most a quarter of all, and others, in a lasting order."""
    if asked.only:
        return [case for case in (*crowd_cases(), *growing_cases()) if asked.only in case.name]
    if not asked.objects:
        return [*crowd_cases(), *growing_cases()]
    draw, crowds = random.Random(asked.seed), crowd_cases()
    found: list[Case] = [*draw.sample(crowds, min(len(crowds), asked.objects // 4))]
    found += sample(asked.objects - len(found), asked.seed)
    draw.shuffle(found)
    return found


def measure(server: Server, cases: Iterable[Case], end: float) -> list[Cost]:
    """Return what requests cost. end: when no further one is begun, by time.monotonic()."""
    costs: list[Cost] = []
    for case in cases:
        if time.monotonic() > end:
            break
        cost = server.cost_of(case)
        if cost is None:
            continue
        costs.append(cost)
        if is_wrong(cost):
            print(cost, flush=True)
        if len(costs) % _REPORTED == 0:
            print(f"{len(costs)} requests; the visitor's p95 {server.visitor.p95():.3f} s", flush=True)
    return costs


def is_wrong(cost: Cost) -> bool:
    return cost.seconds > SECONDS or cost.megabytes > MEGABYTES or cost.is_fault


def count(directory: Path, cases: Iterable[Case]) -> list[str]:
    """Return what is wrong with the calls of requests. No worker runs, whose writes would make the requests
    repeat theirs."""
    wrong = []
    with lock(directory) as held:
        redis = EmbeddedRedis.start(directory, held, REDIS_PORT, PASSWORD)
        store = Store(redis.url)
        for case in cases:
            calls = calls_of(store, case)
            if calls and calls.wrong:
                wrong.append(f"{calls.wrong}: {case.name}")
                print(wrong[-1], flush=True)
        store.close()
        redis.stop()
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.programs.costs", description="Measures what requests cost."
    )
    parser.add_argument("--objects", type=int, default=2_000, help="how many; 0 = all")
    parser.add_argument("--seed", type=int, default=1, help="other seeds choose others")
    parser.add_argument("--only", default="", help="all those whose name contains this")
    parser.add_argument("--minutes", type=float, default=math.inf, help="ends after so many")
    asked = parser.parse_args()
    cases, end = chosen(asked), time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory(prefix="schedviz-cost-") as directory:
        with running(Path(directory), REDIS_PORT, PASSWORD) as stack:
            server = Server(stack)
            with server.visitor as visitor:
                costs = measure(server, cases, end)
            faults = [fault for log in stack.logs for fault in log.faults()]
            slices = server.long_slices()
        measured = {cost.name for cost in costs}
        counted = count(Path(directory) / "counting", [case for case in cases if case.name in measured])
    wrong = [*filter(is_wrong, costs)]
    for name in ("seconds", "megabytes", "waited"):
        print(f"The dearest by {name}:")
        print(*sorted(costs, key=attrgetter(name), reverse=True)[:10], sep="\n")
    long = [each for each in slices if each.cpu_seconds > LONG_SLICE_SECONDS]
    print(f"Slices of more than {LONG_SLICE_SECONDS:g} s: {len(slices)}, by their CPU time {len(long)}")
    print(*sorted(slices, key=attrgetter("seconds"), reverse=True)[:10], sep="\n")
    print(f"The visitor sent {len(visitor.waited)} requests; p95 {visitor.p95():.3f} s")
    print(f"{len(costs)} requests, seed {asked.seed}; above the bounds: {len(wrong) + len(counted)}")
    print(*wrong, *counted, *faults, sep="\n")
    return 1 if wrong or counted or faults or long or visitor.p95() > WAITED else 0


if __name__ == "__main__":
    sys.exit(main())
