"""Reads and controls leadership from outside the workers: the living workers, the end of a leader's lease,
and the break of its watch."""

from schedviz.loop.doorbell import ring
from schedviz.loop.wakes import wake
from schedviz.processes.heartbeats import Heartbeats
from schedviz.store import Lease, Sandbox, Store


def living_workers(store: Store) -> dict[str, float]:
    """Return a mapping: name of each living worker -> seconds since its last heartbeat."""
    return Heartbeats(store.redis, "worker").living()


def end_lease(store: Store, sandbox: Sandbox) -> Lease | None:
    """End the lease of the worker that leads the sandbox, and return it; None if no worker leads it.

    Later writes of that worker are refused, and it discards its Leader. The next living worker by name gets
    the lease; if there is no other, the same worker takes it again. The new leader has a new epoch and
    builds the queue from the store.
    """
    lease = sandbox.lease()
    if lease is None:
        return None
    others = [name for name in living_workers(store) if name != lease.holder]
    if others:
        successor = next((name for name in others if name > lease.holder), others[0])
        sandbox.take_lease(successor, over=lease)
    else:
        sandbox.release_lease(lease)
    wake(sandbox.name)
    ring(sandbox.name)
    return lease


def break_watch(sandbox: Sandbox) -> Lease | None:
    """Break the watch of the leader, so that its reflector lists all objects again. Returns its lease; None
    if no worker leads the sandbox."""
    lease = sandbox.lease()
    if lease is not None:
        sandbox.break_watch(lease)
        wake(sandbox.name)
        ring(sandbox.name)
    return lease
