"""A cluster that somebody brings becomes a sandbox.

The text is read by a process of its own, ``python -m simulator clean``: it may take a minute and a gigabyte,
the web process must go on answering, and what is secret never enters it.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore, Timer
from typing import IO, Final, NamedTuple

import msgspec
from django.conf import settings
from django.utils.translation import gettext

from schedviz.api.write import take_over
from schedviz.store import Clock, Meta, Sandbox, Store
from schedviz.web.scenarios import free_name
from simulator.api import SECOND, Change
from simulator.apiserver.imported import Report
from simulator.commands.clean import Cleaned, Line
from simulator.scenario import DEFAULT_PACE
from simulator.simulation import Options

MEMORY_MIB: Final = 3072
"""Of the process that reads: a dump of 512 MiB, its objects packed, and Python itself, twice over."""
SECONDS: Final = 300
"""A dump of 50,000 pods takes one minute, on a busy machine."""
AT_ONCE: Final = 2
"""Dumps that one web process has read at the same time: each takes a core."""
NAME: Final = "my-cluster"

_turns = BoundedSemaphore(AT_ONCE)


class ImportFailed(Exception):
    """Nothing was stored. The message is for people."""


class Cluster(NamedTuple):
    """A dump as it is read; the report is whole from the beginning, the changes can be gone through once."""

    cleaned: Cleaned
    changes: Iterator[Change]

    @property
    def report(self) -> Report:
        return self.cleaned.report


@contextmanager
def reading(dump: Path) -> Iterator[Cluster]:
    """The cluster in a file. Raises ImportFailed, also for what is wrong with a later line."""
    if not _turns.acquire(blocking=False):
        raise ImportFailed(gettext("Others bring their clusters just now. Try again in a minute."))
    try:
        command = [sys.executable, "-m", "simulator", "clean", "--lines", f"--memory-mib={MEMORY_MIB}"]
        with subprocess.Popen(  # noqa: S603 (our own program, no shell)
            [*command, str(dump)], cwd=settings.BASE_DIR, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            timer = Timer(SECONDS, process.kill)
            timer.start()
            try:
                yield _read(process)
            finally:
                timer.cancel()
                process.kill()
    finally:
        _turns.release()


def _read(process: "subprocess.Popen[bytes]") -> Cluster:
    assert process.stdout, "it is piped"
    assert process.stderr, "it is piped"
    first = process.stdout.readline()
    if not first:
        # It says nothing there but why it failed.
        said = process.stderr.read().decode(errors="replace").strip().splitlines()
        failed = process.wait()
        if failed == 1 and said and said[-1].startswith("clean: "):
            raise ImportFailed(said[-1].removeprefix("clean: "))
        raise ImportFailed(gettext("It took too long, or too much memory, to read."))
    return Cluster(msgspec.json.decode(first, type=Cleaned), _changes(process.stdout))


def _changes(lines: IO[bytes]) -> Iterator[Change]:
    decoder = msgspec.json.Decoder(Line)
    for text in lines:
        line = decoder.decode(text)
        yield Change(line.resource, line.key, msgspec.json.decode(line.object), expected=0)


def create(store: Store, cluster: Cluster, name: str) -> Sandbox:
    """A paused sandbox of a cluster: nothing moves until somebody says so. Of a recording it goes on as the
    sandbox did, from where it was. Raises StatusError, ValueError for a name that is none."""
    began, ended = cluster.cleaned.began, cluster.cleaned.ended
    options = began.began.options if began and began.began else Options(pace=DEFAULT_PACE)
    wall = time.time()
    now = ended.now if ended else int(wall) * SECOND
    meta = Meta(
        name=name or free_name(store, NAME),
        created=wall,
        seed=options.seed,
        pace=options.pace,
        config=options.config,
        queue=options.queue,
        imported=cluster.report,
    )
    return take_over(store, meta, cluster.changes, Clock(sim=now, wall=wall, paused=True))
