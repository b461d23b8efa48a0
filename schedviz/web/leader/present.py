"""The leader election of a sandbox: the leader, the other workers, and the last elections."""

from datetime import UTC, datetime
from typing import Final

import msgspec

from schedviz.loop.leadership import living_workers
from schedviz.processes.heartbeats import BEAT_SECONDS, TTL_SECONDS
from schedviz.store import Store
from schedviz.store.past import Readable
from schedviz.web.text import format as fmt
from simulator import trace

TRACE_READ: Final = 2000
ELECTIONS_AT_MOST: Final = 10


class WorkerView(msgspec.Struct, frozen=True):
    name: str
    leads: bool
    beat_age: float
    """Seconds since its last heartbeat."""
    left: int
    """The percentage of the time that is left until the heartbeat expires."""


class Election(msgspec.Struct, frozen=True):
    time: str
    holder: str
    epoch: int


class LeaderView(msgspec.Struct, frozen=True):
    """The leader election. Ages are in seconds of wall time."""

    holder: str
    epoch: int
    since: str
    held: int
    renewed_age: float
    alive: bool
    workers: list[WorkerView]
    elections: list[Election]
    """The elections, newest first."""
    beat_seconds: float = BEAT_SECONDS
    ttl_seconds: float = TTL_SECONDS


def present_leader(store: Store, sandbox: Readable) -> LeaderView:
    """Return the leader election of a sandbox. Raises NoSandbox."""
    # From the store: a renewal of the lease is no change of the sandbox, so that no cache has it.
    lease, living, now = sandbox.sandbox.lease(), living_workers(store), store.wall()
    holder = lease.holder if lease else ""
    elections = [
        Election(fmt.clock(event.t), event.holder, event.epoch)
        for _, event in reversed(sandbox.trace_tail(TRACE_READ))
        if isinstance(event, trace.LeaderElected)
    ]
    return LeaderView(
        holder=holder,
        epoch=lease.epoch if lease else 0,
        since=f"{datetime.fromtimestamp(lease.acquired, UTC):%H:%M:%S}" if lease else "",
        held=round(max(0.0, now - lease.acquired)) if lease else 0,
        renewed_age=round(max(0.0, now - lease.renewed), 1) if lease else 0.0,
        alive=holder in living,
        workers=[worker(name, name == holder, age) for name, age in living.items()],
        elections=elections[:ELECTIONS_AT_MOST],
    )


def worker(name: str, leads: bool, age: float) -> WorkerView:
    left = round(100 * (1 - age / TTL_SECONDS))
    return WorkerView(name, leads, round(age, 1), max(0, min(100, left)))
