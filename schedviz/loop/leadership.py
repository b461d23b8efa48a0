"""Who could lead and who does, seen from outside the workers; and how to end a leader's hold, or
its watch."""

import time
from typing import cast

from schedviz.loop.doorbell import ring
from schedviz.loop.presence import WORKERS, heartbeat_key
from schedviz.loop.wakes import wake
from schedviz.store import Lease, Sandbox, Store


def living_workers(store: Store) -> dict[str, float]:
    """The workers that are alive, by name, with the wall time of the last heartbeat of each."""
    names = sorted(name.decode() for name in cast("set[bytes]", store.redis.smembers(WORKERS)))
    beats = store.redis.mget([heartbeat_key(name) for name in names]) if names else []
    found = zip(names, cast("list[bytes | None]", beats), strict=True)
    return {name: float(beat) for name, beat in found if beat is not None}


def end_hold(store: Store, sandbox: Sandbox) -> Lease | None:
    """End the hold of the worker that leads the sandbox; the lease that is over, None where nobody led.

    What that worker still writes is refused, and it forgets all it knew of the sandbox when it notices. The
    lease goes to the living worker next by name; where there is no other, the same one begins anew. Whoever
    follows has a new epoch and builds the queue from the store.
    """
    lease = sandbox.lease()
    if lease is None:
        return None
    others = [name for name in living_workers(store) if name != lease.holder]
    if others:
        heir = next((name for name in others if name > lease.holder), others[0])
        sandbox.take_lease(heir, time.time(), over=lease)
    else:
        sandbox.release_lease(lease)
    wake(sandbox.name)
    ring(sandbox.name)
    return lease


def break_watch(sandbox: Sandbox) -> Lease | None:
    """Break the leader's watch: its reflector lists everything anew. The lease of whom it struck, None where
    nobody led."""
    lease = sandbox.lease()
    if lease is not None:
        sandbox.break_watch(lease)
        wake(sandbox.name)
        ring(sandbox.name)
    return lease
