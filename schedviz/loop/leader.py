"""The leader of one sandbox: a Simulation in memory that reads the watch log and writes under the lease."""

import time
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import UNSET

from schedviz.loop.archive_writer import ArchiveWriter
from schedviz.loop.listed_objects import Decode, ListedObjects, decode_stored
from schedviz.loop.player import Player
from schedviz.loop.scheduler_meter import SchedulerMeter
from schedviz.loop.write_batch import WriteBatch
from schedviz.store import Clock, Commit, Gone, LimitReached, Renewal, Sandbox
from schedviz.store.wall import MICROSECONDS
from simulator.api import ApiError, Change, Micros, Storage, WatchEvent, versioned
from simulator.apiserver.component_writes import MakeServer
from simulator.apiserver.server import ApiServer
from simulator.client.informer import Pipeline
from simulator.decision import UnderWay
from simulator.recording import LeaderTerm, RecordableSimulation, TermStart
from simulator.scheduler.stepping import Seen
from simulator.simulation import Options
from simulator.trace import AnyEvent, CycleCutOff, LeaderElected

ELECTION_SECONDS = 0.25
"""Seconds for which a new leader lets the Simulation process the listed objects, beside its first slice."""
EVENTS_AT_ONCE = 1000
"""Maximum number of watch events that one command reads."""


class Simulation(RecordableSimulation, Seen, Protocol):
    """The part of the interface of :class:`simulator.simulation.Simulation` that the loop uses."""

    def pipeline(self) -> Pipeline: ...
    @property
    def is_idle(self) -> bool: ...
    @property
    def under_way(self) -> UnderWay | None: ...


MakeSimulation = Callable[[Storage, MakeServer, Options], Simulation]


class Leader:
    """Runs the Simulation of one sandbox, and implements :class:`Storage` for it.

    A Leader can be discarded at any time: the next one is built from the store. It must be discarded after
    any exception, because the Simulation and the store may differ then.
    """

    def __init__(
        self, sandbox: Sandbox, renewal: Renewal, make: MakeSimulation, decode: Decode = decode_stored
    ) -> None:
        """List all objects, write the trace event of the election, and create the Simulation. ``decode``: of
        the listed objects.

        Raises StaleLease if the sandbox has another leader by now.
        """
        self.sandbox = sandbox
        self.lease = lease = renewal.lease
        self.server_start = 0
        """The start of Redis (:meth:`Store.starts`) from whose objects this Leader was built."""
        self.clock: Clock = renewal.clock
        """The clock at the end of the last slice."""
        self._wall = renewal.wall
        self._stored_seen: int | None = None
        """The ``seen`` of the last commit; None before the first."""
        self._own_events: list[WatchEvent] = []
        """Watch events of the Simulation's own writes, which it has not observed yet."""
        self._own_in_log = False
        """Whether it has own writes that must be read from the log, see :meth:`_note_own_writes`."""
        self._listed: ListedObjects | None = None
        """The listed objects while they are decoded, before the Simulation receives them."""
        self._taking_in = False
        """Whether the Simulation has yet to process what others wrote. It does so before its next step and
        before the next commit of its outputs, in several slices if need be."""
        self._breaks, self._broken = 0, False
        self.last_run = time.monotonic()
        """The end of the last slice."""

        meta = sandbox.meta()
        mark = sandbox.mark()
        now = max(mark.now, self.clock.now(renewal.wall.now()))
        options = Options(
            seed=meta.seed,
            pace=meta.pace,
            config=meta.config,
            first_cycle=mark.cycle + 1,
            queue=meta.queue,
            kubernetes=meta.kubernetes,
            feature_gates=meta.feature_gates,
            stands_down=True if meta.stands_down else UNSET,
            controllers=meta.mirror is None,
        )
        events: list[AnyEvent] = [LeaderElected(t=now, holder=lease.holder, epoch=lease.epoch)]
        self._under_way = lost = sandbox.under_way()
        if lost:
            events.append(CycleCutOff(t=now, cycle=lost.cycle, pod=lost.pod, point=lost.point))
        self._simulation = make(self, ApiServer, options)
        # A sandbox that was created with a state has its queue, which its first leader continues.
        queue = [*sandbox.queue_places().values()] if mark.entry == 0 else []
        self._term = LeaderTerm(self._simulation, TermStart(options, events, queue or UNSET))
        self._batch = WriteBatch(sandbox)
        self._archive_writer = ArchiveWriter(sandbox)
        self.meter = SchedulerMeter()
        self._player = Player(self._simulation, self._term.step, self._term.try_each, self.clock, now)
        self._handed: list[WatchEvent] = []
        self._list(decode=decode)
        if self._take_in(time.monotonic() + ELECTION_SECONDS):
            self._flush()

    def commit(self, changes: Sequence[Change]) -> list[int]:
        """Store a write of the Simulation with the trace events before it, and return the new
        resourceVersions. Raises :class:`simulator.api.ApiError`, which the writing component handles."""
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
        self._note_own_writes(changes, versions)
        return versions

    def run(self, renewal: Renewal, seconds: float) -> bool:
        """Run the Simulation up to the clock's time, for about ``seconds``; whether more is due.

        While time runs, the work that is due comes before the writes of others, which happen at the time at
        which they are read. While time is paused, the writes of others come before the requested steps. At
        the speed without pace they come before time moves on to the end of a cycle.
        Raises Gone if Redis lost writes that were read before.
        """
        self.lease, self._wall = renewal.lease, renewal.wall
        self._player.begin(renewal.clock, renewal.wall.now())
        self._broken = self._broken or renewal.breaks > self._breaks
        self._breaks = renewal.breaks
        self._batch.begin(together=renewal.clock.hurries)
        deadline = time.monotonic() + seconds
        handed, self._handed = self._handed, []
        if self._follows_on(handed):
            self._observe(handed, at_once=False)
        if not self._take_in(deadline):
            return True
        unread = renewal.version > self._seen or self._broken
        more = True
        while more and time.monotonic() < deadline and not self._archive_writer.must_close:
            self._batch.send_if_due()
            if self._player.run(unread=unread):
                self._observe_own_writes()
            elif unread and not self._simulation.in_cycle:
                unread = self._read_log()
                if not self._take_in(deadline):
                    self._batch.send()
                    return True
            elif self._player.step():
                self._observe_own_writes()
            else:
                more = self._player.skip_pace()
        self._flush()
        self._archive_writer.slice_ended(self.lease)
        self.clock = self._set_clock(renewal.clock, renewal.wall.now())
        self.last_run = time.monotonic()
        return more

    def hand(self, events: Sequence[WatchEvent]) -> None:
        """Hand over watch events that the caller has just stored under the lease, so that the next slice need
        not read them from the log. They are read from there if others wrote in between."""
        self._handed += events

    def _follows_on(self, events: Sequence[WatchEvent]) -> bool:
        """Whether the Simulation has observed all before these events, and they are all up to the last."""
        if not events or self._listed or self._taking_in or self._own_events or self._own_in_log:
            return False
        first, last = events[0].version, events[-1].version
        return first == self._seen + 1 and last - first == len(events) - 1

    def note(self, events: Sequence[AnyEvent]) -> None:
        """Store trace events that are not the Simulation's with the next commit."""
        self._term.trace += events

    @property
    def seen(self) -> int:
        """The version up to which the Simulation has observed the watch log."""
        return self._seen

    @property
    def is_idle(self) -> bool:
        """Whether a new leader would go on as this one does."""
        return self._simulation.is_idle

    @property
    def rests(self) -> bool:
        """Whether no cycle is under way and no step of a user is pending."""
        simulation = self._simulation
        return simulation.rests and not simulation.waits_for_pace and not self.clock.steps

    @property
    def nothing_pending(self) -> bool:
        return self._simulation.nothing_pending

    def next_due(self) -> Micros | None:
        return self._simulation.next_due()

    def _set_clock(self, current: Clock, wall: float) -> Clock:
        """Store the steps that were taken, or that the condition came true; the new clock."""
        while True:
            clock = self._player.clock(current, wall)
            if clock is current or self.sandbox.set_clock(clock, current, self.lease):
                return clock
            current, wall = self.sandbox.read_clock()

    def _note_own_writes(self, changes: Sequence[Change], versions: Sequence[int]) -> None:
        """Keep the watch events of a write of the Simulation, so that they need not be read from the log.
        They must be read if others wrote in between, or if the write deletes an object: only the log has its
        last state."""
        if (
            not self._own_in_log
            and versions[0] == self._known() + 1
            and all(change.object for change in changes)
        ):
            self._own_events += [
                _event(change, version) for change, version in zip(changes, versions, strict=True)
            ]
        else:
            self._own_in_log = True

    def _known(self) -> int:
        """Return the version up to which the Simulation has observed all writes, or will before its next
        step."""
        return self._own_events[-1].version if self._own_events else self._seen

    def _observe_own_writes(self) -> None:
        """Let the Simulation observe its own writes. Called before its next step, so that no component acts
        on old objects."""
        while self._own_events or self._own_in_log:
            events, self._own_events = self._own_events, []
            if events:
                self._observe(events)
            else:
                self._own_in_log = False
                self._read_log(at_once=True)

    def _take_in(self, deadline: float) -> bool:
        """Let the Simulation process what it has received until the deadline; whether it has processed
        all."""
        while self._listed or self._taking_in:
            if time.monotonic() >= deadline:
                self.last_run = time.monotonic()
                return False
            if self._listed:
                self._decode_some(self._listed)
            else:
                self._taking_in = self._term.take_in()
        self._observe_own_writes()
        return True

    def _read_log(self, *, at_once: bool = False) -> bool:
        """Let the Simulation observe new entries of the watch log; whether there were any. at_once: it also
        processes them.

        Lists all objects again if the watch was broken, or if the log was trimmed beyond what was read.
        Raises Gone if Redis lost writes that were read before."""
        self._batch.send(go_on=True)
        if self._broken:
            self._broken = False
            self._list(at_once=at_once)
            return True
        try:
            events = self.sandbox.events(self._seen, EVENTS_AT_ONCE)
        except Gone:
            if self.sandbox.version() < self._seen:
                raise
            self._list(at_once=at_once)
            return True
        if events:
            self._observe(events, at_once=at_once)
        return bool(events)

    def _list(self, *, at_once: bool = False, decode: Decode = decode_stored) -> None:
        self._listed = ListedObjects(*self.sandbox.stored_objects(), decode)
        self._seen = self._listed.version
        self._archive_writer.begin_list(self._seen)
        while at_once and self._listed:
            self._decode_some(self._listed, at_once=True)

    def _decode_some(self, listed: ListedObjects, *, at_once: bool = False) -> None:
        """Decode some of the listed objects; let the Simulation observe all after the last one."""
        self._archive_writer.objects_listed(listed.decode_some())
        if listed.is_decoded:
            self._listed = None
            self._term.relist(listed.events, listed.version, self._player.now, at_once=at_once)
            self._taking_in = not at_once

    def _observe(self, events: Sequence[WatchEvent], *, at_once: bool = True) -> None:
        self._seen = events[-1].version
        self._archive_writer.count_writes(events)
        wall = round(self._wall.now() * MICROSECONDS)
        self._term.observe(events, self._player.now, wall, at_once=at_once)
        self._taking_in = not at_once

    def _flush(self) -> None:
        self._collect()
        self._store([], self._simulation.under_way)
        self._batch.send()

    def _collect(self) -> None:
        known = len(self._term.trace)
        decisions = self._term.collect()
        self._player.decided(decisions, self._term.trace[known:])

    def _store(self, changes: Sequence[Change], under_way: UnderWay | None) -> list[int]:
        """Commit the changes with the collected trace, decisions and queue places, and their journal entry.
        Nothing is written if there is nothing new."""
        seen = self._known()
        moved = under_way != self._under_way
        if not (changes or self._term.worth_storing or moved) and seen == self._stored_seen:
            return []
        term = self._term
        commit = Commit(
            changes,
            lease=self.lease,
            trace=term.trace,
            decisions=term.decisions,
            queue_places=term.lanes,
            journal=term.entry(len(changes), self._player.now),
            # The first commit replaces the queue places of the last leader.
            reset_queue_places=self._stored_seen is None,
            now=self._player.now,
            under_way=under_way if moved else UNSET,
            pipeline=self._simulation.pipeline(),
            seen=seen,
        )
        versions = self._batch.store(commit)
        self._archive_writer.count_decisions(term.decisions)
        self.meter.count(term.trace, term.decisions, term.lanes)
        term.stored()
        self._under_way = under_way
        own = bool(versions) and versions[0] == seen + 1
        self._stored_seen = versions[-1] if own else seen
        return versions


def _event(change: Change, version: int) -> WatchEvent:
    """Return the watch event of a change that was stored."""
    assert change.object
    kind: Literal["ADDED", "MODIFIED"] = "ADDED" if change.expected == 0 else "MODIFIED"
    return WatchEvent(kind, change.resource, change.key, versioned(change.object, version), version)
