"""One sandbox as its leader holds it: a Simulation in memory, fed by the watch log, writing under the
lease."""

import time
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import UNSET

from schedviz.loop.archivist import Archivist
from schedviz.loop.doorbell import ring
from schedviz.loop.player import Player
from schedviz.store import Clock, Gone, Lease, LimitReached, Renewal, Sandbox
from simulator.api import ApiError, ApiServer, Change, Micros, WatchEvent, versioned
from simulator.decision import UnderWay
from simulator.recording import Began, Recorded, Term
from simulator.scheduler.stepping import Seen
from simulator.simulation import Options
from simulator.trace import AnyEvent, CycleCutOff, LeaderElected
from simulator.world.informer import Pipeline

EVENTS_AT_ONCE = 1000
"""Watch events read in one go."""

RING_SECONDS = 0.05
"""Between two rings of the doorbell within a slice: screens are drawn 20 times a second at most."""


class Simulation(Recorded, Seen, Protocol):
    """What the loop needs of :class:`simulator.simulation.Simulation`."""

    def pipeline(self) -> Pipeline: ...
    @property
    def under_way(self) -> UnderWay | None: ...


MakeSimulation = Callable[[ApiServer, Options], Simulation]


class Leader:
    """The state of one led sandbox; it is the :class:`ApiServer` of the Simulation.

    All of it can be thrown away at any time: the next leader builds the same from the store. It must be,
    after any exception: what the Simulation believes and what is stored may differ then.
    """

    def __init__(self, sandbox: Sandbox, lease: Lease, make: MakeSimulation) -> None:
        """List everything, say in the trace who leads, and start from there.

        Raises StaleLease if the sandbox has another leader by now.
        """
        self.sandbox = sandbox
        self.lease = lease
        self.clock: Clock = sandbox.clock()
        """As it was when the last slice ended."""
        self._stored_seen: int | None = None
        self._echoes: list[WatchEvent] = []
        self._log_first = False
        self._breaks, self._broken = 0, False
        self._rang = 0.0

        meta = sandbox.meta()
        _, last, cycle = sandbox.progress()
        now = max(last, self.clock.now(time.time()))
        options = Options(
            seed=meta.seed, pace=meta.pace, config=meta.config, first_cycle=cycle + 1, queue=meta.queue
        )
        told: list[AnyEvent] = [LeaderElected(t=now, holder=lease.holder, epoch=lease.epoch)]
        self._under_way = lost = sandbox.under_way()
        if lost:
            told.append(CycleCutOff(t=now, cycle=lost.cycle, pod=lost.pod, point=lost.point))
        self._simulation = make(self, options)
        self._term = Term(self._simulation, Began(options, told))
        self._archivist = Archivist(sandbox)
        self._player = Player(self._simulation, self._term.step, self.clock, now)
        self._list()
        self._take_in_own()
        self._flush()

    def commit(self, changes: Sequence[Change]) -> list[int]:
        """What the Simulation writes, with the trace that led to it. Raises :class:`simulator.api.ApiError`,
        for the component that wrote to handle."""
        self._collect()
        try:
            versions = self._store(changes, under_way=None)
        except ApiError as refusal:
            self._term.refused(refusal)
            raise
        except LimitReached as limit:
            last = next((change for change in reversed(changes) if change.expected == 0), changes[-1])
            full = ApiError("TooManyRequests", last.resource, last.key)
            self._term.refused(full)
            raise full from limit
        self._echo(changes, versions)
        return versions

    def run(self, renewal: Renewal, wall: float, seconds: float) -> bool:
        """Let the Simulation come up to the clock, in about so many seconds of work; whether more is due.

        What is due comes first, then what others wrote: that happens when it is seen. While time stands still
        it is the other way round: what others wrote, then the steps that were asked for. Raises Gone when the
        watch log was trimmed beyond what was seen.
        """
        self.lease = renewal.lease
        self._player.begin(renewal.clock, wall)
        self._broken = self._broken or renewal.breaks > self._breaks
        self._breaks = renewal.breaks
        unread = renewal.version > self._seen or self._broken
        deadline = time.monotonic() + seconds
        more = True
        while more and time.monotonic() < deadline and not self._archivist.pressing:
            if self._player.run():
                self._take_in_own()
            elif unread and not self._simulation.in_cycle:
                unread = self._read_on()
                self._take_in_own()
            elif self._player.step():
                self._take_in_own()
            else:
                more = False
        self._flush()
        self._archivist.turn(self.lease)
        self.clock = self._set_clock(renewal.clock)
        return more

    @property
    def seen(self) -> int:
        """How far in the watch log."""
        return self._seen

    def next_due(self) -> Micros | None:
        return self._simulation.next_due()

    def _set_clock(self, current: Clock) -> Clock:
        """Note the steps that were taken, or that the run is over; the clock as it is then."""
        while True:
            clock = self._player.clock(current, time.time())
            if clock is current or self.sandbox.set_clock(clock, current):
                return clock
            current = self.sandbox.clock()

    def _echo(self, changes: Sequence[Change], versions: Sequence[int]) -> None:
        """Note the watch events of a write of our own, to save reading them: unless others wrote in between,
        or it deletes something, whose last state is in the log only."""
        if (
            not self._log_first
            and versions[0] == self._known() + 1
            and all(change.object for change in changes)
        ):
            self._echoes += [
                _event(change, version) for change, version in zip(changes, versions, strict=True)
            ]
        else:
            self._log_first = True

    def _known(self) -> int:
        """The version up to which the Simulation has everything, or will have before its next step."""
        return self._echoes[-1].version if self._echoes else self._seen

    def _take_in_own(self) -> None:
        """What the Simulation wrote comes back to it before its next step: nobody acts on what is out of
        date."""
        while self._echoes or self._log_first:
            echoes, self._echoes = self._echoes, []
            if echoes:
                self._observe(echoes)
            else:
                self._log_first = False
                self._read_on()

    def _read_on(self) -> bool:
        """Take in what is new in the watch log; whether there was anything.

        Where the watch was broken, or the log trimmed beyond what was seen, everything is listed anew. Raises
        Gone where Redis came back without its last second, and what was seen is no more."""
        if self._broken:
            self._broken = False
            self._list()
            return True
        try:
            events = self.sandbox.events(self._seen, EVENTS_AT_ONCE)
        except Gone:
            if self.sandbox.version() < self._seen:
                raise
            self._list()
            return True
        if events:
            self._observe(events)
        return bool(events)

    def _list(self) -> None:
        collections, self._seen = self.sandbox.list_all()
        self._archivist.listed(self._seen, collections)
        listed = [
            WatchEvent("ADDED", resource, key, manifest, int(manifest["metadata"]["resourceVersion"]))
            for resource, objects in collections.items()
            for key, manifest in objects.items()
        ]
        listed.sort(key=lambda event: event.version)
        self._term.relist(listed, self._seen, self._player.now)

    def _observe(self, events: Sequence[WatchEvent]) -> None:
        self._seen = events[-1].version
        self._term.observe(events, self._player.now)

    def _flush(self) -> None:
        self._collect()
        self._store([], self._simulation.under_way)

    def _collect(self) -> None:
        self._player.saw(self._term.collect())

    def _store(self, changes: Sequence[Change], under_way: UnderWay | None) -> list[int]:
        """Commit, with everything collected and the journal of what led to it; without anything to say,
        nothing is written."""
        seen = self._known()
        moved = under_way != self._under_way
        if not (changes or self._term.worth_storing or moved) and seen == self._stored_seen:
            return []
        term = self._term
        versions = self.sandbox.commit(
            changes,
            token=self.lease,
            trace=term.trace,
            decisions=term.decisions,
            lanes=term.lanes,
            journal=term.entry(len(changes), self._player.now),
            # What the last leader left of the queue does not count: the first commit says what there is.
            reset_lanes=self._stored_seen is None,
            now=self._player.now,
            under_way=under_way if moved else UNSET,
            pipeline=self._simulation.pipeline(),
            seen=seen,
        )
        self._archivist.decided(term.decisions)
        term.stored()
        self._under_way = under_way
        own = bool(versions) and versions[0] == seen + 1
        self._stored_seen = versions[-1] if own else seen
        if time.monotonic() - self._rang >= RING_SECONDS:
            self._rang = time.monotonic()
            ring(self.sandbox.name)
        return versions


def _event(change: Change, version: int) -> WatchEvent:
    """The watch event of a change that was stored."""
    assert change.object
    kind: Literal["ADDED", "MODIFIED"] = "ADDED" if change.expected == 0 else "MODIFIED"
    return WatchEvent(kind, change.resource, change.key, versioned(change.object, version), version)
