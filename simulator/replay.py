"""Replay of a recording: a Simulation receives the recorded inputs, and its commits get the recorded
results."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from simulator.api import ApiError, Change, WatchEvent, bare
from simulator.apiserver.server import ApiServer
from simulator.config import ConfigError
from simulator.decision import Decision
from simulator.recording import (
    Entry,
    LeaderTerm,
    ListInput,
    Record,
    RefusedInput,
    Snapshot,
    StepInput,
    TermInput,
    TermStart,
    TimedWatchInput,
    TryInput,
    WatchInput,
    Write,
    unknown_kinds,
)
from simulator.simulation import Options, Simulation
from simulator.trace import Event
from simulator.versions.feature_gates import FeatureGateError
from simulator.versions.kubernetes_version import UnknownVersion


class RecordingError(ValueError):
    """The recording is incomplete, or not from this version of the simulator. The message is one line for
    users."""


class ReplayDiverged(RecordingError):
    """The Simulation's output differs from the recorded one."""


class ReplayedCommit(NamedTuple):
    entry: Entry
    trace: list[tuple[int, Event]]
    """The trace events with their numbers."""
    decisions: list[Decision]


class _TermEnded(Exception):
    """The term ended before this commit was stored."""


class Replay:
    """Replays records. They are read one by one, so that only the cluster and not its history is kept in
    memory.

    It is the :class:`simulator.api.Storage` of its Simulation."""

    def __init__(
        self, records: Iterable[Record], began: Callable[[Simulation, Options], None] | None = None
    ) -> None:
        """``began`` is called with the Simulation of each term, before it is given any input."""
        self._began = began
        self._items = self._items_of(iter(records))
        self._peeked: TermStart | TermInput | Entry | None = None
        self._term: LeaderTerm | None = None
        self._objects: dict[tuple[str, str], WatchEvent] = {}
        """All objects at the version ``_seen``, as ADDED events."""
        self._seen = 0
        self._log: dict[int, Write] = {}
        """The writes after ``_seen`` by version."""
        self._seq: int | None = None
        self._replayed: list[ReplayedCommit] = []

    def run(self) -> Iterator[ReplayedCommit]:
        """Replay commit by commit. Raises RecordingError."""
        while (item := self._next_item()) is not None:
            try:
                self._process(item)
            except RecordingError:
                raise
            except _TermEnded:
                self._term = None
            except Exception as fault:
                # An error of the Simulation also occurred in the recorded run, and ended the term there.
                self._term = None
                if not self._term_is_over():
                    raise ReplayDiverged(f"the simulation failed: {type(fault).__name__}: {fault}") from fault
            done, self._replayed = self._replayed, []
            yield from done

    def commit(self, changes: Sequence[Change]) -> list[int]:
        """See :class:`simulator.api.Storage`."""
        assert self._term, "only a Simulation commits"
        self._term.collect()
        if self._term_is_over():
            raise _TermEnded
        item = self._next_item()
        if isinstance(item, RefusedInput):
            error = ApiError(item.reason, item.resource, item.key)
            self._term.refused(error)
            raise error
        if not isinstance(item, Entry) or item.changes != len(changes):
            raise ReplayDiverged(f"the simulation committed {len(changes)} objects, which is not recorded")
        versions = range(item.version - len(changes) + 1, item.version + 1)
        for change, version in zip(changes, versions, strict=True):
            self._check_write(change, version)
        self._check_and_append(self._term, item)
        return [*versions]

    # Reading records

    def _items_of(self, records: Iterator[Record]) -> Iterator[TermStart | TermInput | Entry]:
        for record in records:
            match record:
                case Write():
                    self._log[record.version] = record
                case Snapshot():
                    events = [_next_write(records) for _ in range(record.objects)]
                    self._objects = {(event.resource, event.key): event for event in events}
                    self._seen = record.version
                case Entry():
                    if record.began:
                        yield record.began
                    if unknown := unknown_kinds(record):
                        raise RecordingError(f"a newer version recorded this: it has {', '.join(unknown)}")
                    yield from record.inputs
                    yield record

    def _next_item(self) -> TermStart | TermInput | Entry | None:
        item = self._peek_item()
        self._peeked = None
        return item

    def _peek_item(self) -> TermStart | TermInput | Entry | None:
        if self._peeked is None:
            self._peeked = next(self._items, None)
        return self._peeked

    def _term_is_over(self) -> bool:
        item = self._peek_item()
        return item is None or isinstance(item, TermStart) or (isinstance(item, Entry) and bool(item.ended))

    # Processing items

    def _process(self, item: TermStart | TermInput | Entry) -> None:
        if isinstance(item, TermStart):
            try:
                item.options.features()
            except (UnknownVersion, FeatureGateError) as unknown:
                raise RecordingError(f"a newer version recorded this: {unknown}") from None
            try:
                simulation = Simulation(self, ApiServer, item.options)
            except ConfigError as error:
                # Responses of extenders are not recorded, so a configuration with extenders is refused here
                # too.
                raise RecordingError(f"the configuration cannot be used: {error}") from None
            if self._began is not None:
                self._began(simulation, item.options)
            self._term = LeaderTerm(simulation, item)
            return
        if isinstance(item, Entry) and item.ended:
            self._term = None
            self._append_commit(item, [item.ended], [])
            return
        if self._term is None:
            raise RecordingError("the recording does not begin with the start of a term")
        match item:
            case ListInput(version, now):
                self._term.relist(self._objects_at(version), version, now)
            case TimedWatchInput(version, now, wall):
                self._term.observe(self._advance_to(version), now, wall)
            case WatchInput(version, now):
                self._term.observe(self._advance_to(version), now)
            case StepInput(now, by_point, count):
                for _ in range(count):
                    if not self._term.step(now, by_point=by_point):
                        raise ReplayDiverged(f"a recorded step did not occur at {now}")
            case TryInput(now):
                self._term.try_each(now)
            case Entry():
                if item.changes:
                    raise ReplayDiverged(f"the recorded commit of {item.changes} objects did not occur")
                self._term.collect()
                self._check_and_append(self._term, item)
            case RefusedInput():
                raise ReplayDiverged("the recorded refusal of a commit did not occur")

    def _check_and_append(self, term: LeaderTerm, entry: Entry) -> None:
        if term.entry(entry.changes, entry.now) != replace(entry, version=0, seq=0, cycle=0):
            raise ReplayDiverged(f"the commit with trace event {entry.seq} differs")
        self._append_commit(entry, term.trace, term.decisions)
        term.stored()

    def _append_commit(self, entry: Entry, trace: Sequence[Event], decisions: list[Decision]) -> None:
        first = entry.seq - len(trace) + 1
        if self._seq is not None and first != self._seq + 1:
            raise ReplayDiverged(f"{len(trace)} trace events end at {entry.seq}, after {self._seq}")
        self._seq = entry.seq
        self._replayed.append(ReplayedCommit(entry, [*enumerate(trace, start=first)], decisions))

    # Writes

    def _advance_to(self, version: int) -> list[WatchEvent]:
        events = []
        for number in range(self._seen + 1, version + 1):
            write = self._log.pop(number, None)
            if write is None:
                raise RecordingError(f"write {number} is missing")
            event = write.event()
            if event.type == "DELETED":
                self._objects.pop((event.resource, event.key), None)
            else:
                self._objects[event.resource, event.key] = replace(event, type="ADDED")
            events.append(event)
        self._seen = max(self._seen, version)
        return events

    def _objects_at(self, version: int) -> list[WatchEvent]:
        """Return all objects at a version as ADDED events, in the order of their versions."""
        self._advance_to(version)
        return sorted(self._objects.values(), key=lambda event: event.version)

    def _check_write(self, change: Change, version: int) -> None:
        write = self._log.get(version)
        if write is None or (write.resource, write.key) != (change.resource, change.key):
            raise ReplayDiverged(f"write {version} differs: not of {change.resource} {change.key!r}")
        if (write.type == "DELETED") != (change.object is None):
            raise ReplayDiverged(f"write {version} differs: deletion or not")
        if change.object is not None and bare(change.object) != write.object:
            raise ReplayDiverged(f"write {version} differs in the object {change.resource} {change.key!r}")


def _next_write(records: Iterator[Record]) -> WatchEvent:
    record = next(records, None)
    if not isinstance(record, Write):
        raise RecordingError("the snapshot is incomplete")
    return record.event()
