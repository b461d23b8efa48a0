"""A recording told again: a Simulation is given the same, and its commits are answered as they were."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from simulator.api import ApiError, Change, WatchEvent, bare
from simulator.config import ConfigError
from simulator.decision import Decision
from simulator.recording import (
    Began,
    Entry,
    Input,
    Listed,
    Observed,
    Record,
    Refused,
    Snapshot,
    Stepped,
    Term,
    Write,
)
from simulator.simulation import Simulation
from simulator.trace import Event


class RecordingError(ValueError):
    """It is no whole recording, or not one of this simulator's. One line for people."""


class Diverged(RecordingError):
    """The Simulation did something else than was recorded."""


class Stored(NamedTuple):
    """A commit, told again."""

    entry: Entry
    trace: list[tuple[int, Event]]
    """With their numbers."""
    decisions: list[Decision]


class _CutOff(Exception):
    """The term ended before this commit was stored."""


class Replay:
    """Takes the records one by one as it comes to them: memory is needed for the cluster, not for its
    history. It is the :class:`simulator.api.ApiServer` of its Simulation."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._items = self._read(iter(records))
        self._ahead: Began | Input | Entry | None = None
        self._term: Term | None = None
        self._objects: dict[tuple[str, str], WatchEvent] = {}
        """As they were at ``_seen``, each as its addition."""
        self._seen = 0
        self._log: dict[int, Write] = {}
        """What was written since."""
        self._seq: int | None = None
        self._done: list[Stored] = []

    def run(self) -> Iterator[Stored]:
        """Commit by commit. Raises RecordingError."""
        while (item := self._next()) is not None:
            try:
                self._do(item)
            except RecordingError:
                raise
            except _CutOff:
                self._term = None
            except Exception as fault:
                # A fault of the Simulation's was one the first time, too: it ended the term.
                self._term = None
                if not self._term_is_over():
                    raise Diverged(f"the simulation failed: {type(fault).__name__}: {fault}") from fault
            done, self._done = self._done, []
            yield from done

    def commit(self, changes: Sequence[Change]) -> list[int]:
        """See :class:`simulator.api.ApiServer`."""
        assert self._term, "only a Simulation commits"
        self._term.collect()
        if self._term_is_over():
            raise _CutOff
        item = self._next()
        if isinstance(item, Refused):
            error = ApiError(item.reason, item.resource, item.key)
            self._term.refused(error)
            raise error
        if not isinstance(item, Entry) or item.changes != len(changes):
            raise Diverged(f"a commit of {len(changes)} objects was not recorded")
        versions = range(item.version - len(changes) + 1, item.version + 1)
        for change, version in zip(changes, versions, strict=True):
            self._check_write(change, version)
        self._stored(self._term, item)
        return [*versions]

    # The records

    def _read(self, records: Iterator[Record]) -> Iterator[Began | Input | Entry]:
        for record in records:
            match record:
                case Write():
                    self._log[record.version] = record
                case Snapshot():
                    events = [_written(records) for _ in range(record.objects)]
                    self._objects = {(event.resource, event.key): event for event in events}
                    self._seen = record.version
                case Entry():
                    if record.began:
                        yield record.began
                    yield from record.inputs
                    yield record

    def _next(self) -> Began | Input | Entry | None:
        item = self._peek()
        self._ahead = None
        return item

    def _peek(self) -> Began | Input | Entry | None:
        if self._ahead is None:
            self._ahead = next(self._items, None)
        return self._ahead

    def _term_is_over(self) -> bool:
        item = self._peek()
        return item is None or isinstance(item, Began) or (isinstance(item, Entry) and bool(item.ended))

    # What they say

    def _do(self, item: Began | Input | Entry) -> None:
        if isinstance(item, Began):
            try:
                self._term = Term(Simulation(self, item.options), item)
            except ConfigError as error:
                # Extenders' answers are not recorded: without a transport they are an error, too.
                raise RecordingError(f"its configuration is of no use here: {error}") from None
            return
        if isinstance(item, Entry) and item.ended:
            self._term = None
            self._told(item, [item.ended], [])
            return
        if self._term is None:
            raise RecordingError("it does not begin with a leader's election")
        match item:
            case Listed(version, now):
                self._term.relist(self._list(version), version, now)
            case Observed(version, now):
                self._term.observe(self._read_on(version), now)
            case Stepped(now, by_point, count):
                for _ in range(count):
                    if not self._term.step(now, by_point=by_point):
                        raise Diverged(f"nothing was due at {now}")
            case Entry():
                if item.changes:
                    raise Diverged(f"there was no commit of {item.changes} objects")
                self._term.collect()
                self._stored(self._term, item)
            case Refused():
                raise Diverged("there was no commit to be refused")

    def _stored(self, term: Term, entry: Entry) -> None:
        if term.entry(entry.changes, entry.now) != replace(entry, version=0, seq=0, cycle=0):
            raise Diverged(f"the commit with trace event {entry.seq} was another one")
        self._told(entry, term.trace, term.decisions)
        term.stored()

    def _told(self, entry: Entry, trace: Sequence[Event], decisions: list[Decision]) -> None:
        first = entry.seq - len(trace) + 1
        if self._seq is not None and first != self._seq + 1:
            raise Diverged(f"{len(trace)} trace events up to {entry.seq}, after {self._seq}")
        self._seq = entry.seq
        self._done.append(Stored(entry, [*enumerate(trace, start=first)], decisions))

    # What was written

    def _read_on(self, version: int) -> list[WatchEvent]:
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

    def _list(self, version: int) -> list[WatchEvent]:
        """Everything at a version, oldest first."""
        self._read_on(version)
        return sorted(self._objects.values(), key=lambda event: event.version)

    def _check_write(self, change: Change, version: int) -> None:
        write = self._log.get(version)
        if write is None or (write.resource, write.key) != (change.resource, change.key):
            raise Diverged(f"write {version} was not of {change.resource} {change.key!r}")
        if (write.type == "DELETED") != (change.object is None):
            raise Diverged(f"write {version} was a deletion, or was none")
        if change.object is not None and bare(change.object) != write.object:
            raise Diverged(f"write {version} made another {change.resource} {change.key!r}")


def _written(records: Iterator[Record]) -> WatchEvent:
    record = next(records, None)
    if not isinstance(record, Write):
        raise RecordingError("a snapshot is cut off")
    return record.event()
