"""Restores past moments of a sandbox from the chapters of its archive and, after the last one, the
streams."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from schedviz.store import codec
from schedviz.store.archive import Chapter, Mark, Page, Stream, mentions, stored_in, unpack
from schedviz.store.codec import Entries
from schedviz.store.errors import Gone
from schedviz.store.streams import StreamReader
from simulator import trace
from simulator.api import Manifest
from simulator.decision import Decision
from simulator.recording import Entry
from simulator.trace import AnyEvent, LaneEntry

TAIL = 200
"""Trace events of a moment by default: as many as the log of a page shows."""

ENDS = (trace.Scored, trace.Bound, trace.Nominated, trace.Unschedulable, trace.SchedulerError)
"""The trace events with the outcome of a scheduling cycle. Scored and Bound are of the same cycle; a binding
that waits comes after later cycles."""

STANDS_DOWN = b"stands_down"
"""The field of a trace event with which a scheduler stands down, or schedules again."""

Numbered = tuple[int, AnyEvent]


class Moment(NamedTuple):
    """The state of a sandbox at a past moment."""

    mark: Mark
    """The numbers of the last write, trace event, journal entry and decision (0 = none yet), and the
    simulated time."""
    objects: dict[str, dict[str, Manifest]]
    """Resource -> key -> manifest, without empty resources."""
    lanes: dict[str, LaneEntry]
    """Pod -> its place in the queue."""
    trace: list[Numbered]
    """The last events, oldest first."""
    decision: Decision | None
    """The last decision; None = there was none, or it is not stored any more."""


class Reach(NamedTuple):
    """The first and the last moment that can be restored. Moments in between are missing if the watch log was
    trimmed before it was archived."""

    first: Mark
    last: Mark


class History:
    """The chapters and streams as they are now. To be used for one request, as chapters are added and
    dropped."""

    def __init__(self, sandbox: StreamReader) -> None:
        self._sandbox = sandbox
        # The chapters are read before the mark, so that what is not in a chapter is still in the streams.
        self.chapters = sandbox.archive.chapters() or [Chapter(0, sandbox.origin(), snapshot=True)]
        self.head = sandbox.mark()
        self._pages: dict[tuple[int, Page], Entries] = {}

    def reach(self) -> Reach | None:
        """The first and the last moment that can be restored; None = there is none."""
        first = next((chapter.began for chapter in self.chapters if chapter.snapshot), None)
        return Reach(first, self.head) if first else None

    # Moments

    def at_seq(self, seq: int, tail: int = TAIL) -> Moment:
        """The moment of the trace event ``seq``. If it is the last event of its commit, the moment is after
        the commit's writes; otherwise before them. Raises Gone."""
        if not self.chapters[0].began.seq <= seq <= self.head.seq:
            raise Gone(seq)
        place = self._place("trace", max(seq - 1, self.chapters[0].began.seq))
        mark = self.chapters[place].began
        for entry in self.journal(place):
            if mark.seq >= seq:
                break
            if entry.seq > seq:
                mark = replace(mark, version=max(mark.version, entry.version - entry.changes), seq=seq)
            else:
                mark = _mark(entry, mark)
        moment = self._moment(place, mark, tail)
        return moment._replace(mark=replace(mark, now=moment.trace[-1][1].t)) if moment.trace else moment

    def at_entry(self, entry: int, version: int) -> Moment:
        """The moment after journal entry ``entry`` and the write ``version``, which is not before the
        entry's. Raises Gone."""
        place = self._place("journal", entry)
        mark = self.chapters[place].began
        for each in self.journal(place):
            if mark.entry == entry:
                break
            mark = _mark(each, mark)
        return self._moment(place, replace(mark, version=version), TAIL)

    def collection(self, resource: str, version: int) -> list[Manifest]:
        """The objects of one resource at the moment at which ``version`` was the last write, sorted by key.
        Raises Gone if it is too old, or was never reached."""
        if version > self.head.version:
            raise Gone(version)
        base = self._base(self._place("log", version), version)
        stored = self._stored(base, version, resource).get(resource, {})
        return [codec.with_version(body, written) for _, (written, body) in sorted(stored.items())]

    def _base(self, place: int, version: int) -> int:
        """The index of the last chapter, up to ``place``, that has a snapshot. Raises Gone."""
        for each in range(place, -1, -1):
            if self.chapters[each].snapshot:
                return each
        raise Gone(version)

    def _moment(self, place: int, mark: Mark, tail: int) -> Moment:
        base = self._base(place, mark.version)
        return Moment(
            mark,
            self._objects(base, mark.version),
            self._lanes(base, mark.entry),
            self.tail(mark.seq, tail),
            self.decision(mark.cycle),
        )

    def _objects(self, base: int, version: int) -> dict[str, dict[str, Manifest]]:
        return {
            resource: {
                key: codec.with_version(body, written) for key, (written, body) in sorted(objects.items())
            }
            for resource, objects in sorted(self._stored(base, version).items())
            if objects
        }

    def _stored(
        self, base: int, version: int, only: str | None = None
    ) -> dict[str, dict[str, tuple[int, bytes]]]:
        """Resource -> key -> (version of the last write, JSON), from the snapshot of chapter ``base`` and the
        log after it. only: a resource; None = all."""
        stored: dict[str, dict[str, tuple[int, bytes]]] = {}
        for (resource, key), data in self.snapshot(base, "objects").items():
            if only in (None, resource):
                written, _, body = data.partition(b" ")
                stored.setdefault(resource, {})[key] = int(written), body
        for number, fields in self.entries("log", base, version):
            resource, key = fields[b"resource"].decode(), fields[b"key"].decode()
            if only not in (None, resource):
                continue
            objects = stored.setdefault(resource, {})
            if fields[b"type"] == b"DELETED":
                objects.pop(key, None)
            else:
                objects[key] = number, fields[b"object"]
        return stored

    def _lanes(self, base: int, entry: int) -> dict[str, LaneEntry]:
        lanes = {pod: codec.decode_lane(data) for (_, pod), data in self.snapshot(base, "lanes").items()}
        for number, fields in self.entries("journal", base, entry):
            commit = codec.decode_journal((b"%d-0" % number, fields))
            if commit.began:
                lanes = {}
            for pod, lane in commit.lanes.items():
                if lane:
                    lanes[pod] = lane
                else:
                    lanes.pop(pod, None)
        return dict(sorted(lanes.items()))

    # Chapters and streams

    def snapshot(self, place: int, page: Page) -> dict[tuple[str, str], bytes]:
        """(resource, key) -> stored text: the snapshot of the chapter at index ``place``. Raises Gone if it
        was dropped meanwhile."""
        chapter = self.chapters[place]
        if chapter.number == 0:
            return {}
        data = self._sandbox.archive.page(chapter, page)
        if data is None:
            raise Gone(chapter.began.version)
        return stored_in(data)

    def entries(self, stream: Stream, place: int, last: int) -> Iterator[tuple[int, dict[bytes, bytes]]]:
        """The entries of a stream, with their numbers, from the beginning of a chapter up to ``last``. Raises
        Gone at a gap."""
        number = self.chapters[place].began.of(stream)
        for chapter in self.chapters[place:]:
            if number >= last:
                return
            for entry_id, fields in self._page(chapter, stream):
                following = codec.number(entry_id)
                if stream == "decisions":  # cycles without a decision make gaps in the numbers
                    if following > last:
                        return
                elif following != number + 1:
                    raise Gone(number)
                yield following, fields
                number = following
                if number == last:
                    return
        if number < last and stream != "decisions":
            raise Gone(number)

    def trace(self, after: int, count: int) -> list[Numbered]:
        """The trace events after a number, at most ``count``. Raises Gone."""
        found = []
        for number, fields in self.entries("trace", self._place("trace", after), self.head.seq):
            if number > after:
                found.append(codec.decode_trace((b"%d-0" % number, fields)))
            if len(found) == count:
                break
        return found

    def stood_down(self, seq: int, *, now: bool) -> bool:
        """Whether the sandbox's scheduler stood down at the trace event ``seq``: it did if the first change
        after it is to schedule again. now: whether it does at present. Raises Gone."""
        for chapter in self.chapters[self._place("trace", seq) :]:
            if chapter.ended:
                page = self._sandbox.archive.page(chapter, "trace")
                if page is None or not mentions(page, STANDS_DOWN):
                    continue
            for entry in self._page(chapter, "trace"):
                if STANDS_DOWN not in entry[1][b"event"]:
                    continue
                number, event = codec.decode_trace(entry)
                if number > seq and isinstance(event, trace.SchedulerConfigured):
                    return not event.stands_down
        return now

    def decision(self, cycle: int) -> Decision | None:
        """The decision of a cycle; None = there was none, or it is not stored any more."""
        if not 0 < cycle <= self.head.cycle:
            return None
        try:
            place = self._place("decisions", cycle - 1)
        except Gone:
            return None
        for number, fields in self.entries("decisions", place, cycle):
            if number == cycle:
                return codec.decode_decision((b"", fields))
        return None

    def end_of_cycle(self, cycle: int) -> int | None:
        """The trace event with which a scheduling cycle ended: its last outcome before the next cycle began.
        None = it is not stored any more, or has not been yet."""
        if not 0 < cycle <= self.head.cycle:
            return None
        found = None
        try:
            # The outcome is not older than the decision before it.
            place = self._place("decisions", cycle - 1)
            for number, fields in self.entries("trace", place, self.head.seq):
                _, event = codec.decode_trace((b"%d-0" % number, fields))
                if isinstance(event, trace.CycleStarted) and event.cycle > cycle:
                    break
                if isinstance(event, ENDS) and event.cycle == cycle:
                    found = number
        except Gone:
            return None
        return found

    def tail(self, seq: int, count: int) -> list[Numbered]:
        """The last stored trace events up to a number, at most ``count``, oldest first."""
        first = max(seq - count, self.chapters[0].began.seq)
        return self.trace(first, seq - first) if seq > first else []

    def journal(self, place: int) -> Iterator[Entry]:
        """The journal entries from the beginning of a chapter on. Raises Gone at a gap."""
        for number, fields in self.entries("journal", place, self.head.entry):
            yield codec.decode_journal((b"%d-0" % number, fields))

    def elections(self, place: int, last: int) -> list[Entry]:
        """The journal entries of a chapter, up to ``last``, with which leaders began. Raises Gone at a
        gap."""
        chapter = self.chapters[place]
        until = min(last, chapter.ended.entry if chapter.ended else self.head.entry)
        return [
            codec.decode_journal((b"%d-0" % number, fields))
            for number, fields in self.entries("journal", place, until)
            if b'"began":' in fields[b"entry"]  # so that the other entries need not be decoded
        ]

    def _place(self, stream: Stream, number: int) -> int:
        """The index of the last chapter that began at that number or before it. Raises Gone."""
        began = [place for place, chapter in enumerate(self.chapters) if chapter.began.of(stream) <= number]
        if not began:
            raise Gone(number)
        return began[-1]

    def _page(self, chapter: Chapter, stream: Stream) -> Entries:
        place = chapter.number, stream
        if place not in self._pages:
            if chapter.ended:
                data = self._sandbox.archive.page(chapter, stream)
                self._pages[place] = unpack(data) if data else []
            else:
                self._pages[place] = self._sandbox.live(
                    stream, chapter.began.of(stream), self.head.of(stream)
                )
        return self._pages[place]


def _mark(entry: Entry, before: Mark) -> Mark:
    return Mark(entry.version, entry.seq, before.entry + 1, entry.cycle, entry.now)
