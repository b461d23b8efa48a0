"""A slice: one bounded turn of one sandbox's loop."""

import logging
import time
from collections import OrderedDict

from redis.exceptions import RedisError

from schedviz.loop.doorbell import ring
from schedviz.loop.leader import Leader, MakeSimulation
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.store import Gone, Lease, NoSandbox, Renewal, Sandbox, StaleLease, Store
from simulator.recording import Entry
from simulator.trace import SchedulerError

log = logging.getLogger(__name__)

SLICE_SECONDS = 0.25
"""Of work, then it is another sandbox's turn: 20 busy sandboxes on one worker get one each 5 s."""

MAX_LED = 200
"""Sandboxes a worker leads at once: a workshop's. A small one costs a megabyte; the least lately used one is
let go, and costs its next leader a rebuild."""

FAULT_SECONDS = 5.0
MAX_FAULT_SECONDS = 300.0
"""A sandbox whose Simulation failed is tried again after 5 s, doubling up to 5 minutes, and when somebody
writes."""

MIN_DELAY_SECONDS = 0.02
"""No sandbox comes round more often than this unless there is work: no hot loop, whatever a Simulation
says."""


class Driver:
    """All the sandboxes that this worker leads. Used by one thread."""

    def __init__(self, store: Store, wakes: Wakes, presence: Presence, make: MakeSimulation) -> None:
        self._store = store
        self._wakes = wakes
        self._presence = presence
        self._make = make
        self._led: OrderedDict[str, Leader] = OrderedDict()
        self._began: dict[str, int] = {}
        self._faults: dict[str, int] = {}
        self.idle_since: float | None = None
        """Monotonic seconds of the end of the last slice; None in one, and before the first."""

    def slice(self, name: str, asked: int) -> None:
        """Run a slice that was asked for at ``asked`` (µs, as :meth:`Due.mark` gives it).

        1. Leave it if one began since: that one saw all that this one was asked for.
        2. Take the lease, or leave it to who holds it.
        3. Catch up with the watch log, run the Simulation, commit.
        4. Set the time of the next slice.
        """
        self.idle_since = None
        try:
            if asked > self._began.get(name, -1):
                began = self._began[name] = self._wakes.due.begin(name)
                # Where the clocks are not right yet, it will be asked for again.
                if self._presence.is_current():
                    self._slice(name, began)
        except RedisError as error:
            # Whether the last commit was stored is unknown: the next leader reads what is there.
            log.warning("slice of %s: %s", name, error)
            self._forget(name)
        finally:
            self.idle_since = time.monotonic()

    def _slice(self, name: str, began: int) -> None:
        try:
            leader = self._led.get(name)
            sandbox = leader.sandbox if leader else self._store.sandbox(name)
            renewal = self._renew(sandbox, leader)
            delay = self._turn(sandbox, renewal) if renewal else 0.0
            if delay == 0.0:
                self._wakes.wake(name)
            else:
                self._wakes.due.settle(name, began, delay)
        except NoSandbox:
            self._forget(name)
            self._wakes.due.forget(name)
        except StaleLease as error:
            # Somebody took over: what is in memory here is of no use, and the sandbox is in good hands.
            log.info("%s", error)
            self._forget(name)

    def _renew(self, sandbox: Sandbox, leader: Leader | None) -> Renewal | None:
        """The lease of the sandbox, renewed or taken; None where another worker holds it."""
        wall = time.time()
        if leader:
            renewal = sandbox.renew_lease(leader.lease, wall)
            if renewal:
                return renewal
            self._forget(sandbox.name)
        held = sandbox.lease()
        if held and held.holder != self._presence.worker and self._presence.is_alive(held.holder):
            return None
        lease = sandbox.take_lease(self._presence.worker, wall, held)
        return sandbox.renew_lease(lease, wall) if lease else None

    def _turn(self, sandbox: Sandbox, renewal: Renewal) -> float | None:
        """Run the Simulation; in how many seconds the next slice is due: 0 at once, None when woken."""
        try:
            leader = self._led.get(sandbox.name)
            if leader is None:
                leader = self._elected(sandbox, renewal.lease)
            elif renewal.version < leader.seen:
                raise Gone(leader.seen)  # Redis came back without its last second
            self._led.move_to_end(sandbox.name)
            more = leader.run(renewal, time.time(), SLICE_SECONDS)
            due = leader.next_due()
        except Gone:
            self._forget(sandbox.name)
            return 0.0
        except (NoSandbox, StaleLease, RedisError):
            raise
        except Exception as error:
            return self._failed(sandbox, renewal.lease, error)
        self._faults.pop(sandbox.name, None)
        ring(sandbox.name)
        if more:
            return 0.0
        at = None if due is None else leader.clock.wall_at(due)
        return None if at is None else max(at - time.time(), MIN_DELAY_SECONDS)

    def _elected(self, sandbox: Sandbox, lease: Lease) -> Leader:
        leader = self._led[sandbox.name] = Leader(sandbox, lease, self._make)
        while len(self._led) > MAX_LED:
            _, least = self._led.popitem(last=False)
            least.sandbox.release_lease(least.lease)
        return leader

    def _failed(self, sandbox: Sandbox, lease: Lease, error: Exception) -> float:
        """A fault of the Simulation: say so in the trace, start afresh after a while; in how many seconds.

        What there is counts as seen: without a change, trying again at once would be of no use.
        """
        log.error("the simulation of %s failed", sandbox.name, exc_info=error)
        self._led.pop(sandbox.name, None)
        _, now, cycle = sandbox.progress()
        message = f"{type(error).__name__}: {error}"
        fault = SchedulerError(t=now, cycle=cycle, pod="", message=message)
        entry = Entry(now=now, ended=fault)
        sandbox.commit([], token=lease, trace=[fault], journal=entry, seen=sandbox.version())
        ring(sandbox.name)
        faults = self._faults[sandbox.name] = self._faults.get(sandbox.name, 0) + 1
        return min(FAULT_SECONDS * 2.0 ** min(faults - 1, 30), MAX_FAULT_SECONDS)

    def _forget(self, name: str) -> None:
        for memory in (self._led, self._began, self._faults):
            memory.pop(name, None)
