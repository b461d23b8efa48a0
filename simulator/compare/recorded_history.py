"""The part of a recording in which an outside scheduler was there: the objects at its beginning, and all
writes with their simulated times and their authors. It is the workload of a comparison with it."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from simulator.api import Manifest, Micros, WatchEvent, versioned
from simulator.apiserver.resources import PODS
from simulator.compare.answer import Since
from simulator.compare.workload import ComparedWorkload, workload_of_objects
from simulator.objects.events import EVENTS
from simulator.recording import (
    Entry,
    ListInput,
    Record,
    Snapshot,
    TermStart,
    TimedWatchInput,
    WatchInput,
    Write,
)
from simulator.replay import RecordingError

WRITES_AT_MOST: Final = 50_000
"""Maximum number of writes of one comparison: more than an archive has (ARCHIVE_BYTES)."""
LEFT_OUT: Final = (EVENTS, "leases.coordination.k8s.io")
"""The resources that are no part of the workload."""


class RecordedWrite(NamedTuple):
    time: Micros
    """The time at which the sandbox's leader observed the write, or wrote it itself."""
    own: bool
    """Whether a component of the sandbox wrote it: a controller, a kubelet or its scheduler."""
    event: WatchEvent


class RecordedHistory(NamedTuple):
    workload: ComparedWorkload
    """The objects at the beginning."""
    writes: list[RecordedWrite]
    """The writes, without those of LEFT_OUT."""
    end: Micros
    since: Since = "archive"
    """The reason for the beginning of the history."""


def read_history(records: Iterable[Record]) -> RecordedHistory:
    """Read a recording from the first term on in which the sandbox's scheduler stood down or an outside
    scheduler bound a pod; without one, its last term. Later terms belong to it, with any scheduler.

    Raises RecordingError for a recording without a term, and for one that is too long."""
    reader = _Reader()
    for record in records:
        reader.read(record)
    return reader.history()


class _Reader:
    def __init__(self) -> None:
        self._objects: dict[tuple[str, str], WatchEvent] = {}
        """All objects at the version up to which writes have a time."""
        self._writes: dict[int, WatchEvent] = {}
        """The later writes, by version."""
        self._own: set[int] = set()
        self._began: TermStart | None = None
        """The term with which the history begins."""
        self._since: Since = "archive"
        self._bound_outside = False
        """Whether an outside scheduler bound a pod since then."""
        self._start_objects: dict[tuple[str, str], WatchEvent] = {}
        self._start = self._end = 0
        self._done: list[RecordedWrite] = []
        self._snapshot_left = 0

    def read(self, record: Record) -> None:
        match record:
            case Snapshot(_, objects):
                self._snapshot_left = objects
            case Write() if self._snapshot_left:
                self._snapshot_left -= 1
                self._objects[record.resource, record.key] = record.event()
            case Write():
                self._writes[record.version] = record.event()
            case Entry():
                self._read_entry(record)
            case _:
                pass

    def history(self) -> RecordedHistory:
        if self._began is None:
            raise RecordingError("the recording does not begin with the start of a term")
        collections: dict[str, dict[str, Manifest]] = {}
        for (resource, key), event in self._start_objects.items():
            collections.setdefault(resource, {})[key] = versioned(event.object, event.version)
        options = self._began.options
        workload = workload_of_objects(collections, self._start, options.pace, options.first_cycle)
        return RecordedHistory(workload, self._done, self._end, self._since)

    def _read_entry(self, entry: Entry) -> None:
        self._own.update(range(entry.version - entry.changes + 1, entry.version + 1))
        for given in entry.inputs:
            match given:
                case ListInput(version, now):
                    self._observed(version, now)
                    if entry.began:
                        self._begin(entry.began, now)
                case TimedWatchInput(version, now) | WatchInput(version, now):
                    self._observed(version, now)
                case _:
                    pass
        self._end = max(self._end, entry.now)

    def _begin(self, began: TermStart, now: Micros) -> None:
        """Take in a new term. The history begins with it, unless an outside scheduler was there before."""
        if self._began is not None:
            if self._began.options.stands_down or self._bound_outside:
                return
            self._since = "stood-down" if began.options.stands_down else "bound"
        self._began, self._start, self._done = began, now, []
        self._start_objects = dict(self._objects)

    def _observed(self, version: int, now: Micros) -> None:
        """Give the writes up to a version their time."""
        for number in sorted(each for each in self._writes if each <= version):
            event, own = self._writes.pop(number), number in self._own
            place = event.resource, event.key
            if not own and _is_binding(self._objects.get(place), event):
                self._bound_outside = True
            if event.type == "DELETED":
                self._objects.pop(place, None)
            else:
                self._objects[place] = event
            if event.resource not in LEFT_OUT:
                self._done.append(RecordedWrite(now, own, event))
            self._own.discard(number)
        if len(self._done) > WRITES_AT_MOST:
            raise RecordingError(
                f"the recording has more than {WRITES_AT_MOST:,} writes since an outside scheduler was there"
            )
        self._end = max(self._end, now)


def _is_binding(old: WatchEvent | None, event: WatchEvent) -> bool:
    """Whether the write gives a pod its node."""
    return (
        event.resource == PODS.id
        and event.type == "MODIFIED"
        and bool(event.object["spec"].get("nodeName"))
        and old is not None
        and not old.object["spec"].get("nodeName")
    )
