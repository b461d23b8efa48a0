"""Wakes the sandboxes that were written and not woken, because their writer died in between, and finishes
deletions that were interrupted."""

from schedviz.loop.presence import SWEEP_LOCK
from schedviz.loop.wakes import Wakes
from schedviz.store import Store

SWEEP_SECONDS = 2.0


def sweep(store: Store, wakes: Wakes, worker: str) -> None:
    """Wake the sandboxes with unseen writes and finish deletions, unless a worker did so within the last
    SWEEP_SECONDS."""
    if store.redis.set(SWEEP_LOCK, worker, nx=True, px=round(SWEEP_SECONDS * 1000)):
        for name in store.unseen():
            wakes.wake(name)
        store.finish_deletions()
