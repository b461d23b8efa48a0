"""Creates a sandbox in which a workload is played: the arrivals of a file on the nodes of another one."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from django.utils.translation import gettext
from msgspec.structs import replace

from schedviz.api.from_scenario import meta_of
from schedviz.api.new_sandbox import new_sandbox, numbered
from schedviz.loop.clock import MAX, MAX_SPEED
from schedviz.store import Clock, Sandbox, Store
from schedviz.store.commit_script import LIMITS
from schedviz.store.places import Share
from schedviz.web.imports.take import read_by
from simulator.api import SECOND, Change
from simulator.arrivals.workload import PACE, SEED, played_scenario
from simulator.commands.play import WorkloadHeader
from simulator.kernel.prepared_types import prepared
from simulator.objects.durations import format_duration
from simulator.scenario import Scenario

PLAYED: Final = played_scenario("workload", PACE, SEED)
"""The settings of a workload for which none are asked."""
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
    store: Store, arrivals: Path, nodes: Path | None, shares: Sequence[Share], made: Scenario = PLAYED
) -> Iterator[ReadWorkload]:
    """Context manager: read a workload, of which nothing is stored yet. made: its settings. Raises
    LimitExceeded, and ImportFailed for a file that cannot be read, and for a workload that is larger than a
    sandbox."""
    wall, gates = store.wall(), made.features.gates
    command = ["play", str(arrivals), f"--lines={int(wall) * SECOND}", f"--seed={made.seed}"]
    command += [f"--pace={format_duration(made.pace)}", f"--kubernetes-a={made.features.version.patch}"]
    command.append(f"--feature-gates-a={','.join(f'{gate}={on}' for gate, on in gates.items())}")
    command += [f"--pods-at-most={LIMITS['pods']}", f"--objects-at-most={LIMITS['objects']}"]
    if nodes is not None:
        command.append(f"--nodes={nodes}")
    names = {str(arrivals): gettext("Arrivals"), str(nodes): gettext("Nodes")}
    with read_by(command, names, shares) as (first, changes):
        yield ReadWorkload(msgspec.json.decode(first, type=prepared(WorkloadHeader)), wall, changes)


def create_from_workload(
    store: Store,
    read: ReadWorkload,
    name: str,
    speed: str,
    access: str = "",
    *,
    made: Scenario = PLAYED,
    stands_down: bool = False,
) -> Sandbox:
    """Create a sandbox in which the workload is played at a speed of SPEEDS, with the settings of ``made``. A
    configuration of it is used instead of that of the file. Raises StatusError, ValueError for a name that is
    not a DNS label; nothing is stored then."""
    config = read.header.config if made.config is None else made.config
    meta = meta_of(replace(made, config=config), read.wall, stands_down=stands_down)
    factor = 1.0 if speed == PAUSED else MAX_SPEED if speed == MAX else float(speed)
    clock = Clock(
        sim=int(read.wall) * SECOND,
        wall=read.wall,
        speed=factor,
        paused=speed == PAUSED,
        unpaced=True if speed == MAX else msgspec.UNSET,
    )
    names = [name] if name else numbered(store, made.name)
    with new_sandbox(store, names, meta, read.changes, clock, access=access) as sandbox:
        return sandbox
