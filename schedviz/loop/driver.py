"""Runs slices. A slice is a bounded piece of work of one sandbox's loop."""

import gc
import logging
import time
from collections import OrderedDict
from contextlib import suppress

from redis.exceptions import RedisError

from schedviz.log_context import log_context
from schedviz.loop.busy import WINDOW_SECONDS
from schedviz.loop.doorbell import ring
from schedviz.loop.due import SliceTime
from schedviz.loop.leader import Leader, MakeSimulation
from schedviz.loop.mirror_silence import note_silent_mirror
from schedviz.loop.presence import Presence
from schedviz.loop.scheduler_meter import measure_pending
from schedviz.loop.sharing import BUSY_SHARE, STAY_SECONDS, Movable, choose
from schedviz.loop.wakes import Wakes
from schedviz.metrics.server import LEADERS, SLICE_DURATION, SLICE_FAILURES, SLICES_LATE
from schedviz.store import (
    Commit,
    Failure,
    Gone,
    Lease,
    NoSandbox,
    Overtaken,
    Renewal,
    Sandbox,
    StaleLease,
    Store,
    Unreadable,
)
from schedviz.store.trouble import Trouble, trouble_of
from simulator.recording import Entry
from simulator.trace import SchedulerError

log = logging.getLogger(__name__)

SLICE_SECONDS = 0.25
"""Seconds of work of one slice; then the worker runs another sandbox. 20 busy sandboxes on one worker get one
slice each in 5 s."""

LONG_SLICE_SECONDS = SLICE_SECONDS + 1.0
"""A slice that takes longer is logged: other sandboxes waited for it."""

MAX_LEADERS = 200
"""Maximum number of sandboxes that a worker leads at the same time: as many as a workshop has. A small one
takes a megabyte. Above this the worker releases the lease of the least recently used one, and its next leader
builds the Simulation from the store."""

IDLE_SECONDS = 600.0
"""Seconds without a slice after which a worker removes the Leader of an idle sandbox. A break of a workshop
is shorter, so that its log does not show an election after each break."""

CHECK_SECONDS = 2.0
"""The shortest time between two checks which Leaders can be forgotten. A check is one round trip."""

COLLECT_AFTER = 20
"""Number of Leaders that are forgotten before Python's garbage collector runs. The objects of a Simulation
refer to each other, so that nothing else frees them. By itself Python collects all garbage only when the
number of objects has grown by a quarter. A collection takes 50 ms with 100 small sandboxes."""

FAULT_SECONDS = 5.0
MAX_FAULT_SECONDS = 300.0
"""A sandbox whose Simulation raised is run again after 5 s; the delay doubles up to 5 minutes. A write to the
sandbox runs it at once."""

LOSSES = 3
"""Slices of a sandbox in a row that end because Redis did not carry out a command of theirs, although it
carries out others: then that is a failure of the sandbox, which has something too large, say. Fewer are those
of a Redis that was restarted."""

NOT_DONE = "Redis did not carry out what this sandbox reads or writes at once; it may be too large"

MIN_DELAY_SECONDS = 0.02
"""The shortest time between two slices of a sandbox without work: it prevents a busy loop when a Simulation
returns a wrong time."""


class Driver:
    """Runs the slices of this worker, and keeps a Leader for each sandbox that it leads. Not thread-safe."""

    def __init__(self, store: Store, wakes: Wakes, presence: Presence, make: MakeSimulation) -> None:
        self._store = store
        self._wakes = wakes
        self._presence = presence
        self._busy = presence.busy
        self._make = make
        self._leaders: OrderedDict[str, Leader] = OrderedDict()
        self._began: dict[str, int] = {}
        self._faults: dict[str, int] = {}
        self._checked = time.monotonic()
        self._uncollected = 0
        """Number of Leaders that were removed since the last collection."""
        self._elected_at: dict[str, float] = {}
        self._shared_at = self._busy.clock()

    def slice(self, name: str, order: int | None) -> None:
        """Run one slice of a sandbox.

        ``order``: the order that :meth:`Due.mark` returned; None for a message that also covers later wakes
        (:mod:`schedviz.loop.wakes`).

        1. Return if another slice began after the request: it has read everything the request is about.
        2. Renew or take the lease. Return if another living worker holds it.
        3. Read the watch log, run the Simulation, commit.
        4. Set the time of the next slice.

        Errors of Redis and of the Simulation are logged, not raised.
        """
        with log_context(sandbox=name):
            self._slice_if_new(name, order)

    def _slice_if_new(self, name: str, order: int | None) -> None:
        began: SliceTime | None = None
        try:
            if order is None or order > self._began.get(name, -1):
                began = self._wakes.due.begin(name)
                self._began[name] = began.order
                began_at, cpu = time.monotonic(), time.thread_time()
                with self._busy.slice(name):
                    self._slice(name, began)
                seconds = time.monotonic() - began_at
                SLICE_DURATION.observe(seconds)
                if seconds > LONG_SLICE_SECONDS:
                    cpu = time.thread_time() - cpu
                    log.warning("a slice of %s took %.2f s, %.2f s of them on the CPU", name, seconds, cpu)
                if time.monotonic() - self._checked >= CHECK_SECONDS:
                    self._checked = time.monotonic()
                    self._forget_unused()
                if self._busy.clock() - self._shared_at >= WINDOW_SECONDS:
                    self._shared_at = self._busy.clock()
                    self._share()
        except RedisError as error:
            # It is unknown whether the last commit was stored, so the Simulation may differ from the store.
            log.warning("slice of %s: %s", name, error)
            losses = self._faults.get(name, 0) + 1
            self._forget(name)
            if began and trouble_of(error) in (Trouble.AWAY, None):
                self._faults[name] = losses
                self._postpone(name, began, error)

    def _postpone(self, name: str, began: SliceTime, error: RedisError) -> None:
        """Note the failure of a sandbox whose slices Redis ends again and again, so that they do not repeat
        without end; its page shows it. With fewer than LOSSES, the slice is run again at once."""
        losses = self._faults[name]
        if losses < LOSSES:
            return
        with suppress(RedisError, NoSandbox):
            delay = self._note(self._store.handle(name), f"{NOT_DONE}: {error}", losses - LOSSES + 1)
            self._wakes.due.settle(name, began, delay)

    def _slice(self, name: str, began: SliceTime) -> None:
        try:
            leader = self._leaders.get(name)
            sandbox = leader.sandbox if leader else self._store.sandbox(name)
            if leader is None and sandbox.meta().mirror:
                self._wakes.due.settle(name, began, note_silent_mirror(sandbox))
                return
            renewal = self._renew(sandbox, leader)
            if renewal and not self._presence.is_current(renewal.wall.now()):
                return  # the clocks must be moved first; Due sends the message again
            delay = self._run_leader(sandbox, renewal) if renewal else 0.0
            if delay == 0.0:
                self._wakes.wake(name, renewal.lease.holder if renewal else None)
            else:
                self._wakes.due.settle(name, began, delay)
        except NoSandbox:
            self._forget(name)
            self._wakes.due.forget(name)
        except Unreadable as error:
            log.error("%s", error)
            self._forget(name)
            self._wakes.due.settle(name, began, MAX_FAULT_SECONDS)
        except StaleLease as error:
            # Another worker leads the sandbox now, and its commits make this worker's memory out of date.
            log.info("%s", error)
            self._forget(name)

    def _renew(self, sandbox: Sandbox, leader: Leader | None) -> Renewal | None:
        """Renew or take the lease of the sandbox; None if another living worker holds it."""
        if leader:
            renewal = sandbox.renew_lease(leader.lease)
            if renewal:
                return renewal
            self._forget(sandbox.name)
        held = sandbox.lease()
        if held and held.holder != self._presence.worker and self._presence.is_alive(held.holder):
            return None
        lease = sandbox.take_lease(self._presence.worker, held)
        return sandbox.renew_lease(lease) if lease else None

    def _run_leader(self, sandbox: Sandbox, renewal: Renewal) -> float | None:
        """Run the Simulation, and return in how many seconds the next slice is due: 0 = at once, None = at
        the next wake."""
        try:
            leader = self._leaders.get(sandbox.name)
            elected = leader is None
            if leader is None:
                leader = self._elected(sandbox, renewal)
            elif leader.server_start != self._store.starts(sandbox.name) or renewal.version < leader.seen:
                # Redis restarted, and may have lost its last second of writes. Later ones have their numbers.
                raise Gone(leader.seen)
            self._leaders.move_to_end(sandbox.name)
            more = leader.run(renewal, SLICE_SECONDS)
            due = leader.next_due()
            if leader.clock.late:
                SLICES_LATE.inc()
        except (Gone, Overtaken):
            self._forget(sandbox.name)
            return 0.0
        except (NoSandbox, StaleLease, Unreadable, RedisError):
            raise
        except Exception as error:
            return self._failed(sandbox, renewal.lease, error)
        if self._faults.pop(sandbox.name, None) is not None or elected:
            sandbox.set_failure(None, renewal.lease)
        ring(sandbox.name)
        if more:
            return 0.0
        at = None if due is None else leader.clock.wall_at(due)
        return None if at is None else max(at - renewal.wall.now(), MIN_DELAY_SECONDS)

    def _elected(self, sandbox: Sandbox, renewal: Renewal) -> Leader:
        leader = self._leaders[sandbox.name] = Leader(sandbox, renewal, self._make)
        leader.server_start = self._store.starts(sandbox.name)
        self._elected_at[sandbox.name] = self._busy.clock()
        while len(self._leaders) > MAX_LEADERS:
            _, least = self._leaders.popitem(last=False)
            least.sandbox.release_lease(least.lease)
            ring(least.sandbox.name)
        return leader

    def _failed(self, sandbox: Sandbox, lease: Lease, error: Exception) -> float:
        """Record an exception of the Simulation in the trace and on the page, and return in how many seconds
        a new leader begins.

        The commit marks all writes as seen, so that the sweep does not wake the sandbox before that time.
        """
        log.error("the simulation of %s failed", sandbox.name, exc_info=error)
        SLICE_FAILURES.inc()
        self._leaders.pop(sandbox.name, None)
        _, now, cycle = sandbox.progress()
        message = f"{type(error).__name__}: {error}"
        fault = SchedulerError(t=now, cycle=cycle, pod="", message=message)
        entry = Entry(now=now, ended=fault)
        sandbox.commit(Commit(lease=lease, trace=[fault], journal=entry, seen=sandbox.version()))
        faults = self._faults[sandbox.name] = self._faults.get(sandbox.name, 0) + 1
        return self._note(sandbox, message, faults, lease)

    def _note(self, sandbox: Sandbox, message: str, times: int, lease: Lease | None = None) -> float:
        """Note the last of so many failures in a row, and return in how many seconds the sandbox is run
        again."""
        delay = min(FAULT_SECONDS * 2.0 ** min(times - 1, 30), MAX_FAULT_SECONDS)
        wall = sandbox.wall()
        sandbox.set_failure(Failure(message, times, wall, wall + delay), lease)
        ring(sandbox.name)
        return delay

    def _share(self) -> None:
        """Hand over sandboxes to a worker that has clearly less to do, if there is one. They are chosen among
        those without a running cycle, so that nothing is cut off."""
        shares = self._busy.shares()
        own = sum(shares.values())
        if own < BUSY_SHARE:
            return
        settled = self._busy.clock() - STAY_SECONDS
        movable = [
            Movable(name, share, pending=not leader.nothing_pending)
            for name, share in shares.items()
            if (leader := self._leaders.get(name)) and leader.rests and self._elected_at[name] <= settled
        ]
        receiver, names = choose(own, self._presence.shares(), movable)
        for name in names:
            leader = self._leaders[name]
            self._forget(name)
            leader.sandbox.take_lease(receiver, over=leader.lease)
            self._wakes.wake(name)
        if names:
            log.info("handed %d sandboxes over to %s", len(names), receiver)

    def measure(self) -> None:
        """Set the gauges of the sandboxes that this worker leads. May be called from any thread."""
        leaders = [*self._leaders.values()]
        LEADERS.set(len(leaders))
        measure_pending(leader.meter for leader in leaders)

    def _forget_unused(self) -> None:
        """Remove the Leaders of sandboxes that were deleted, of those that this worker leads no more, and of
        idle ones.

        A deletion wakes no worker. The lease of an idle sandbox is kept: its next slice takes it again with a
        new epoch, and builds the Simulation from the store."""
        known = {*self._leaders, *self._began, *self._faults}
        holders = self._store.holders([*known])
        for name in known:
            if holders.get(name) != self._presence.worker:
                self._forget(name)
        now = time.monotonic()
        for name, leader in [*self._leaders.items()]:
            if now - leader.last_run < IDLE_SECONDS:
                break  # they are in the order of their last slices
            if leader.is_idle:
                self._forget(name)
        if self._uncollected >= COLLECT_AFTER:
            self._uncollected = 0
            gc.collect()

    def _forget(self, name: str) -> None:
        self._uncollected += name in self._leaders
        for memory in (self._leaders, self._elected_at, self._began, self._faults):
            memory.pop(name, None)
