"""Creates a sandbox in which a workload is played: the arrivals of a file on the nodes of another one."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from django.utils.translation import gettext

from schedviz.api.new_sandbox import new_sandbox, numbered
from schedviz.loop.clock import MAX, MAX_SPEED
from schedviz.store import Clock, Meta, Sandbox, Store
from schedviz.store.commit_script import LIMITS
from schedviz.store.places import Share
from schedviz.web.imports.take import read_by
from simulator.api import SECOND, Change
from simulator.arrivals.workload import PACE, SEED
from simulator.commands.play import WorkloadHeader
from simulator.kernel.prepared_types import prepared
from simulator.versions.features import DEFAULT_FEATURES

NAME: Final = "workload"
PAUSED: Final = "paused"
SPEEDS: Final = ("1", "10", "100", MAX, PAUSED)
"""The speeds at which it begins."""


class ReadWorkload(NamedTuple):
    """A workload that was read and checked. ``changes`` can be iterated once."""

    header: WorkloadHeader
    wall: float
    """The wall time at which the sandbox begins."""
    changes: Iterator[Change]


@contextmanager
def read_workload(
    store: Store, arrivals: Path, nodes: Path | None, shares: Sequence[Share]
) -> Iterator[ReadWorkload]:
    """Context manager: read a workload, of which nothing is stored yet. Raises LimitExceeded, and
    ImportFailed for a file that cannot be read, and for a workload that is larger than a sandbox."""
    wall = store.wall()
    command = ["play", str(arrivals), f"--lines={int(wall) * SECOND}", f"--seed={SEED}"]
    command += [f"--pods-at-most={LIMITS['pods']}", f"--objects-at-most={LIMITS['objects']}"]
    if nodes is not None:
        command.append(f"--nodes={nodes}")
    names = {str(arrivals): gettext("Arrivals"), str(nodes): gettext("Nodes")}
    with read_by(command, names, shares) as (first, changes):
        yield ReadWorkload(msgspec.json.decode(first, type=prepared(WorkloadHeader)), wall, changes)


def create_from_workload(
    store: Store, read: ReadWorkload, name: str, speed: str, access: str = ""
) -> Sandbox:
    """Create a sandbox in which the workload is played at a speed of SPEEDS. Raises StatusError, ValueError
    for a name that is not a DNS label; nothing is stored then."""
    meta = Meta(
        name=name,
        created=read.wall,
        seed=SEED,
        pace=PACE,
        config=read.header.config,
        kubernetes=DEFAULT_FEATURES.version.patch,
        feature_gates=DEFAULT_FEATURES.gates,
    )
    factor = 1.0 if speed == PAUSED else MAX_SPEED if speed == MAX else float(speed)
    clock = Clock(
        sim=int(read.wall) * SECOND,
        wall=read.wall,
        speed=factor,
        paused=speed == PAUSED,
        unpaced=True if speed == MAX else msgspec.UNSET,
    )
    names = [name] if name else numbered(store, NAME)
    with new_sandbox(store, names, meta, read.changes, clock, access=access) as sandbox:
        return sandbox
