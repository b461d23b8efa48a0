"""Which workers are alive, and for how long none was.

Simulated time passes only while some worker is there: after a night in which the machine was off, a sandbox
goes on at the second at which it stopped. So workers also note the wall time together, and who finds the note
old moves the clocks of all sandboxes over the gap before anybody runs a slice.
"""

import time
from typing import cast

from redis import Redis
from redis.exceptions import LockError

from schedviz.store import NoSandbox, Store
from schedviz.store.keys import PREFIX

WORKERS = f"{PREFIX}:workers"
ALIVE = f"{PREFIX}:alive"
REBASE_LOCK = f"{PREFIX}:rebase"

BEAT_SECONDS = 0.5
TTL_SECONDS = 2.0
"""A worker that has not beaten for this long is dead to the others: four beats, so that a long swap-in is no
death. It would do no harm: its writes are fenced."""

GAP_SECONDS = 10.0
"""A worker's restart is made up for, in simulated time; a longer absence of all workers is not."""

REBASE_SECONDS = 10
"""How long one worker may take to move the clocks of 500 sandboxes (a second is plenty) before another does
it."""


def heartbeat_key(worker: str) -> str:
    return f"{PREFIX}:worker:{worker}"


class Presence:
    """One worker's own presence, and what it knows of others'."""

    def __init__(self, store: Store, worker: str) -> None:
        self.worker = worker
        self._store = store
        self._redis: Redis = store.redis
        self._touched = 0.0

    def beat(self) -> None:
        """Say that this worker is alive; move the clocks first if for a while none was."""
        wall = time.time()
        noted = cast("bytes | None", self._redis.get(ALIVE))
        if noted is not None and wall - float(noted) > GAP_SECONDS:
            self._rebase(float(noted))
            wall = time.time()
        with self._redis.pipeline() as pipe:
            pipe.set(heartbeat_key(self.worker), wall, px=round(TTL_SECONDS * 1000))
            pipe.sadd(WORKERS, self.worker)
            pipe.set(ALIVE, wall)
            pipe.execute()
        self._touched = wall

    def is_current(self) -> bool:
        """Whether this worker has beaten lately; if not (a laptop that slept), clocks must be moved first."""
        return 0 <= time.time() - self._touched < GAP_SECONDS

    def leave(self) -> None:
        """This worker stops: what it leads may be taken over at once."""
        with self._redis.pipeline() as pipe:
            pipe.delete(heartbeat_key(self.worker))
            pipe.srem(WORKERS, self.worker)
            pipe.execute()

    def is_alive(self, worker: str) -> bool:
        return bool(self._redis.exists(heartbeat_key(worker)))

    def bury(self) -> list[str]:
        """Strike the dead off the list of workers; their names."""
        workers = [worker.decode() for worker in cast("set[bytes]", self._redis.smembers(WORKERS))]
        dead = [worker for worker in workers if not self.is_alive(worker)]
        if dead:
            self._redis.srem(WORKERS, *dead)
        return dead

    def _rebase(self, last: float) -> None:
        """Let every sandbox's clock stand still from ``last``, when a worker was last alive, until now."""
        try:
            with self._redis.lock(REBASE_LOCK, timeout=REBASE_SECONDS, blocking_timeout=2 * REBASE_SECONDS):
                if float(cast("bytes", self._redis.get(ALIVE))) != last:
                    return  # another worker did it while this one waited
                for meta in self._store.sandboxes():
                    self._stand_still(meta.name, last)
                self._redis.set(ALIVE, time.time())
        except LockError:
            return  # took too long: another worker has begun anew, and finds what is done as it is

    def _stand_still(self, name: str, last: float) -> None:
        try:
            sandbox = self._store.sandbox(name)
            while True:
                clock = sandbox.clock()
                # A sandbox made, or a clock set, when no worker was there: its time starts now.
                stopped = clock.rebased(max(last, clock.wall))
                if sandbox.set_clock(stopped.starting(time.time()), clock):
                    return
        except NoSandbox:
            return
