"""``python -m tests.costs``: sends generated objects of half the permitted size to the functions of the API.

Each is alone in a process. It prints the ten dearest by CPU seconds and by memory, and those whose calls grow
too fast.
"""

import argparse
import json
import os
import random
import resource
import signal
import sys
import time
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")

import django

django.setup()

from simulator.apiserver.bounds import MAX_NODES, MAX_OBJECT_BYTES, count_values  # noqa: E402 (settings first)
from simulator.kernel.work import limit_work  # noqa: E402
from tests.costs.counting import MOST, growth_of  # noqa: E402
from tests.costs.requests import Case, cases  # noqa: E402

SMALL: Final = 120
"""Entries of the smaller request of which calls are counted."""
SECONDS: Final = 2
MEGABYTES: Final = 200
"""What one request may cost at most."""
_ENDLESS: Final = 60
"""CPU seconds after which a request is ended."""
_RESET_PEAK: Final = "5"
_KILOBYTES: Final = 1024


class Cost(NamedTuple):
    case: Case
    entries: int
    seconds: float
    megabytes: float
    growth: float

    def __str__(self) -> str:
        figures = f"{self.seconds:6.2f} s {self.megabytes:6.0f} MB  x{self.growth:.2f}"
        return f"{figures}  {self.entries:6} entries: {self.case}"


def cost_of(case: Case) -> Cost | None:
    """Measure a request of half the permitted size in a process of its own. None: there is no such
    request."""
    entries = _entries_of_half(case)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        os.write(writer, json.dumps(_measure(case, entries)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    if not text:
        return Cost(case, entries, _ENDLESS, 0, 0)
    measured = json.loads(text)
    return Cost(case, entries, *measured) if measured else None


def _entries_of_half(case: Case) -> int:
    some, more = (case.grown(count) for count in (10, 20))
    size = max((len(json.dumps(more)) - len(json.dumps(some))) / 10, 1)
    values = max((count_values(more) - count_values(some)) / 10, 1)
    return int(min(MAX_OBJECT_BYTES / 2 / size, MAX_NODES / 2 / values))


def _measure(case: Case, entries: int) -> tuple[float, float, float] | None:
    work = case.prepare(entries)
    if work is None:
        return None
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, _ENDLESS)
    before = _memory("VmRSS")
    start = time.process_time()
    with limit_work():
        work()
    seconds, megabytes = time.process_time() - start, _memory("VmHWM") - before
    return seconds, megabytes, growth_of(case, SMALL) or 0


def _memory(field: str) -> float:
    """Return MB of this process: now (VmRSS), which begins a new peak, or at the peak since then (VmHWM).
    Where the system does not say them, the peak of all times."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KILOBYTES
    if field == "VmRSS":
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK, encoding="ascii")
    line = next(each for each in status.read_text(encoding="ascii").splitlines() if each.startswith(field))
    return int(line.split()[1]) / _KILOBYTES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.costs", description="Measures what requests cost.")
    parser.add_argument("--objects", type=int, default=2_000, help="how many; 0 = all")
    parser.add_argument("--seed", type=int, default=1, help="other seeds choose others")
    parser.add_argument("--only", default="", help="those whose text contains this")
    asked = parser.parse_args()
    chosen = [case for case in cases() if asked.only in str(case)]
    if 0 < asked.objects < len(chosen):
        chosen = random.Random(asked.seed).sample(chosen, asked.objects)
    costs = [cost for cost in map(cost_of, chosen) if cost]
    for name in ("seconds", "megabytes"):
        print(f"The dearest by {name}:")
        print(*sorted(costs, key=attrgetter(name), reverse=True)[:10], sep="\n")
    wrong = [
        cost for cost in costs if cost.growth >= MOST or cost.seconds > SECONDS or cost.megabytes > MEGABYTES
    ]
    print(f"{len(costs)} requests, seed {asked.seed}; above the bounds: {len(wrong)}")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
