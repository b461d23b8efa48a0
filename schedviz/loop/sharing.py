"""The choice of the sandboxes that a worker hands over to another one that has clearly less to do.

The sandboxes take at most half of the difference between the two. So the receiver is not the busier one
afterwards, and returns none of them.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from redis import Redis

from schedviz.store.keys import PREFIX

BUSY_SHARE: Final = 0.6
"""Share below which a worker keeps its sandboxes: none of them waits for long."""

LESS: Final = 0.5
"""A worker that is less than half as busy has clearly less to do."""

AT_ONCE: Final = 10
"""Maximum number of sandboxes that are handed over at once. The receiver builds their Simulations again:
those of a workshop take 10 ms each, and it also has its own to run."""

STAY_SECONDS: Final = 10.0
"""Seconds for which a sandbox stays with a leader at least: its election takes time, too, and the shares of
two windows show its effect."""

EXPIRY_SECONDS: Final = 10
"""The share of a worker that stores none for so long is forgotten."""


def busy_key(worker: str) -> str:
    """Return the key that expires: the share of the last WINDOW_SECONDS in which the worker ran slices."""
    return f"{PREFIX}:busy:{worker}"


class Movable(NamedTuple):
    """A sandbox that can be handed over now."""

    name: str
    share: float
    """The share of its leader's time that it takes."""
    pending: bool
    """Whether the queue of the sandbox has pods, whose back-offs and attempts the next leader does not
    have."""


class Shares:
    """The shares of all workers, as they are stored."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def store(self, worker: str, share: float) -> None:
        self._redis.set(busy_key(worker), f"{share:.3f}", ex=EXPIRY_SECONDS)

    def read(self, workers: Sequence[str]) -> dict[str, float]:
        """Return a mapping of each worker to its share; 0 if none is stored."""
        stored = self._redis.mget([busy_key(worker) for worker in workers]) if workers else []
        return {worker: float(share or 0) for worker, share in zip(workers, stored, strict=True)}


def choose(own: float, others: Mapping[str, float], movable: Sequence[Movable]) -> tuple[str, list[str]]:
    """Return the worker that is to get sandboxes, and their names; no name = this worker keeps all.

    own, others: the shares of this worker and of the other living ones. Sandboxes without pending pods come
    first, then the busier ones, so that few are moved."""
    if own < BUSY_SHARE or not others:
        return "", []
    receiver = min(others, key=lambda worker: (others[worker], worker))
    if others[receiver] >= own * LESS:
        return receiver, []
    # With more workers than two, several may choose the same one.
    left = (own - others[receiver]) / (len(others) + 1)
    chosen: list[str] = []
    for sandbox in sorted(movable, key=lambda each: (each.pending, -each.share, each.name)):
        if sandbox.share <= left and len(chosen) < AT_ONCE:
            left -= sandbox.share
            chosen.append(sandbox.name)
    return receiver, chosen
