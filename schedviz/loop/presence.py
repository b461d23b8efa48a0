"""The record of the workers that are alive, and of the time in which there was none.

Simulated time passes only while at least one worker is alive: after a time in which the machine was off, a
sandbox continues at the second at which it stopped. Each heartbeat of a worker stores the time. A worker that
finds an old stored time first moves the clocks of all sandboxes over the gap; no slice runs before that. A
stored time in the future means that Redis's clock was set back; the clocks are moved back by the difference.

All times are Redis's.
"""

import time
from collections.abc import Callable
from typing import cast

from redis import Redis
from redis.exceptions import LockError

from schedviz.loop.busy import Busy
from schedviz.loop.due import Due
from schedviz.loop.move_clock import move_clock
from schedviz.loop.sharing import Shares
from schedviz.processes.heartbeats import Heartbeats
from schedviz.store import Store
from schedviz.store.keys import PREFIX

ALIVE = f"{PREFIX}:alive"
"""The key of the time of the last heartbeat of any worker, in seconds since the Unix epoch."""

REBASE_LOCK = f"{PREFIX}:rebase"

SWEEP_LOCK = f"{PREFIX}:sweep"
"""The key, which expires, of the worker that made the last sweep (see :mod:`schedviz.loop.sweep`)."""

GAP_SECONDS = 10.0
"""Seconds without any worker after which the clocks are moved over the gap. A shorter gap, such as a worker's
restart, counts as simulated time."""

REBASE_SECONDS = 10
"""The time after which another worker may move the clocks, if the first one has not finished. The clocks of
500 sandboxes take less than a second."""

# Stores the time and replies with an empty string; if the stored time is too far from now, replies with it
# and changes nothing.
_STORE_TIME = """
local t = redis.call('TIME')
local noted = redis.call('GET', KEYS[1])
if noted and math.abs(t[1] + t[2] / 1000000 - tonumber(noted)) > tonumber(ARGV[1]) then return noted end
redis.call('SET', KEYS[1], string.format('%d.%06d', t[1], t[2]))
return ''
"""


class Presence:
    """The heartbeat of one worker, and the state of the others."""

    def __init__(self, store: Store, worker: str, clock: Callable[[], float] = time.monotonic) -> None:
        """clock: by which it is measured how busy the worker is."""
        self.worker = worker
        self.workers = Heartbeats(store.redis, "worker")
        self.busy = Busy(clock)
        self._shares = Shares(store.redis)
        self._store = store
        self._redis: Redis = store.redis
        self._due = Due(store.redis)
        self._store_time = store.redis.register_script(_STORE_TIME)
        self._last_beat = 0.0

    def beat(self) -> None:
        """Store a heartbeat of this worker and how busy it is; move the clocks first if there was none for
        GAP_SECONDS."""
        last = cast("bytes", self._store_time([ALIVE], [GAP_SECONDS]))
        if not last or self._rebase(last):
            self._last_beat = self.workers.beat(self.worker)
            self._shares.store(self.worker, self.busy.share())

    def is_current(self, wall: float) -> bool:
        """Whether this worker's last heartbeat is recent. If not (the machine was suspended), the clocks must
        be moved before a slice runs."""
        return abs(wall - self._last_beat) < GAP_SECONDS

    def is_alive(self, worker: str) -> bool:
        return self.workers.is_alive(worker)

    def shares(self) -> dict[str, float]:
        """Return each other living worker -> the share of its time in which it runs slices."""
        return self._shares.read([name for name in self.workers.living() if name != self.worker])

    def _rebase(self, last: bytes) -> bool:
        """Move every sandbox's clock as if it had been paused from the last heartbeat, at ``last``, until
        now. False if it took too long: another worker does it then. Moving a clock twice has no effect."""
        try:
            with self._redis.lock(REBASE_LOCK, timeout=REBASE_SECONDS, blocking_timeout=2 * REBASE_SECONDS):
                if self._redis.get(ALIVE) == last:  # no other worker did it while this one waited
                    for meta in self._store.sandboxes():
                        move_clock(self._store, meta.name, float(last))
                    # Due times and the sweep's expiry were set by the old clocks.
                    self._due.bring_forward()
                    self._redis.delete(SWEEP_LOCK)
                    self._redis.set(ALIVE, self._store.wall())
        except LockError:
            return False
        return True
