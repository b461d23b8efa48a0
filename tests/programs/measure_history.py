"""The costs of past moments: opening one, its page, a branch of it, and the archive.
``python -m tests.programs.measure_history``.

With ``--large`` of 5,000 nodes and 50,000 pods, else of 100 nodes. The numbers are in docs/BENCHMARKS.md.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from tests.conftest import PASSWORD, PORT  # first: it says where Redis is, before the settings are read

# isort: split
import django
from django.test import Client

from schedviz.api import write
from schedviz.api.branch import branch_of_moment
from schedviz.loop.archive_writer import ArchiveWriter
from schedviz.loop.driver import Driver
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.store import Clock, Commit, Meta, Sandbox, Store
from schedviz.store.past import Past
from schedviz.up.embedded_redis import EmbeddedRedis, lock
from simulator.api import SECOND, Change, Micros
from simulator.simulation import Simulation
from tests.loop.conftest import node, pod

START: Micros = 1_735_689_600 * SECOND
STILL = 1e-9
"""A clock that the program moves."""
EVENTS = 10_000
"""The number of trace events in the small cluster."""
LARGE_ROUNDS = 60
MOMENTS = 25
HTMX = {"HX-Request": "true"}
AT_ONCE = 5_000
PODS_A_ROUND = 100


class Measured:
    """A sandbox led here, with the times that its slices and its archive took."""

    def __init__(self, store: Store, nodes: int, pods: int) -> None:
        clock = Clock(START, time.time(), STILL)
        self.sandbox = write.create_sandbox(store, Meta("measured", created=START / SECOND), clock=clock)
        self.rounds = 0
        made = [_create("nodes", f"n{number}", node(f"n{number}", cpu="32")) for number in range(nodes)]
        made += [_create("pods", f"default/old-{n}", _bound(n, nodes)) for n in range(pods)]
        for first in range(0, len(made), AT_ONCE):
            self.sandbox.commit(Commit(made[first : first + AT_ONCE]))
        self._due = Wakes(store).due
        self._presence = Presence(store, "here")
        self._presence.beat()
        self._driver = Driver(store, Wakes(store), self._presence, Simulation)
        self.seconds = 0.0

    def round(self) -> None:
        """Pods are created, run for two seconds, end and are deleted."""
        numbers = range(self.rounds * PODS_A_ROUND, (self.rounds + 1) * PODS_A_ROUND)
        self.rounds += 1
        new = [pod(f"new-{number}") for number in numbers]
        for each in new:
            each["metadata"]["annotations"] = {"schedviz/run-seconds": "2"}
        write.create(self.sandbox, new)
        self._settle()
        self.sandbox.commit(Commit([Change("pods", f"default/new-{number}", None) for number in numbers]))
        self._settle()

    def _settle(self) -> None:
        sim = self.sandbox.clock().sim + 3 * SECOND
        self.sandbox.set_clock(Clock(sim, time.time(), STILL))
        before = None
        while before != (before := self.sandbox.mark()):
            self._presence.beat()
            began = time.process_time()
            self._driver.slice("measured", self._due.mark("measured").order)
            self.seconds += time.process_time() - began


@contextmanager
def timed_turns(times: list[float], cpu: list[float]) -> Iterator[None]:
    slice_ended = ArchiveWriter.slice_ended

    def timed(writer: ArchiveWriter, *arguments: Any) -> None:
        began, worked = time.perf_counter(), time.process_time()
        slice_ended(writer, *arguments)
        times.append(time.perf_counter() - began)
        cpu.append(time.process_time() - worked)

    ArchiveWriter.slice_ended = timed  # type: ignore[method-assign]  # to be measured
    yield
    ArchiveWriter.slice_ended = slice_ended  # type: ignore[method-assign]


def timed(work: Callable[[Sandbox, int], object], sandbox: Sandbox, count: int) -> str:
    """The times for some random moments."""
    chance = random.Random(1)
    reach = sandbox.history().reach()
    assert reach
    times = []
    for _ in range(count):
        seq = chance.randint(reach.first.seq + 1, reach.last.seq)
        began = time.perf_counter()
        work(sandbox, seq)
        times.append((time.perf_counter() - began) * 1e3)
    low, *_, high = quantiles(times, n=10)
    spread = f"a tenth below {low:.0f}, a tenth above {high:.0f}, longest {max(times):.0f}"
    return f"median {median(times):.0f} ms, {spread}"


def draw(sandbox: Sandbox, seq: int) -> None:
    """The page, as the server answers with it."""
    answer = Client(headers={"host": "localhost"}).get(f"/s/{sandbox.name}/at/{seq}/", headers=HTMX)
    assert answer.status_code == 200


def megabytes(store: Store, sandbox: Sandbox) -> str:
    """The memory of each stream and of the archive."""
    fields = ("log", "journal", "trace", "decisions", "pages")
    used = {field: store.redis.memory_usage(getattr(sandbox._keys, field), samples=0) for field in fields}
    return ", ".join(f"{field} {size / 1e6:.2f}" for field, size in used.items())


def main(large: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, lock(Path(folder)) as held:
        redis = EmbeddedRedis.start(Path(folder), held, PORT, PASSWORD)
        store = Store(redis.url)
        measured = Measured(store, 5_000, 50_000) if large else Measured(store, 100, 1_000)
        times: list[float] = []
        cpu: list[float] = []
        with timed_turns(times, cpu):
            while measured.rounds < LARGE_ROUNDS if large else measured.sandbox.trace_head() < EVENTS:
                measured.round()
        chapters = measured.sandbox.history().chapters
        print(f"trace events {measured.sandbox.trace_head()}, writes {measured.sandbox.version()}")
        print(
            f"archive: {len(chapters)} chapters, {sum(chapter.snapshot for chapter in chapters)} with a "
            f"snapshot, {sum(chapter.bytes for chapter in chapters) / 1e6:.2f} MB"
        )
        print("megabytes in Redis:", megabytes(store, measured.sandbox))
        print(f"its first turn: {times.pop(0) * 1e3:.0f} ms (of work: {cpu.pop(0) * 1e3:.0f} ms)")
        turns = f"median {median(times) * 1e3:.1f} ms, longest {max(times) * 1e3:.0f} ms"
        turns += f" (of work: {max(cpu) * 1e3:.0f} ms)"
        share = sum(cpu) / measured.seconds
        print(f"its {len(times)} turns: {turns}; {share:.1%} of the loop's {measured.seconds:.1f} s of work")
        print(
            "opening a random moment:",
            timed(lambda sandbox, seq: sandbox.history().at_seq(seq), measured.sandbox, MOMENTS),
        )
        django.setup()
        print("its page:", timed(draw, measured.sandbox, MOMENTS))

        def split(sandbox: Sandbox, seq: int) -> None:
            branch_of_moment(store, Past(sandbox, seq), f"branch-{seq}")

        if large:
            print("no branch: it would be of more objects than one commit takes")
        else:
            print("a branch of it:", timed(split, measured.sandbox, MOMENTS))
        store.close()
        redis.stop()


def _bound(number: int, nodes: int) -> dict[str, Any]:
    """Not by admission, which would take minutes for so many."""
    made = pod(f"old-{number}", nodeName=f"n{number % nodes}", schedulerName="default-scheduler", priority=0)
    made["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return made


def _create(resource: str, key: str, manifest: dict[str, Any]) -> Change:
    manifest["metadata"]["uid"] = str(uuid5(NAMESPACE_URL, key))
    manifest["metadata"]["creationTimestamp"] = "2025-01-01T00:00:00Z"
    return Change(resource, key, manifest, expected=0)


if __name__ == "__main__":
    main("--large" in sys.argv)
