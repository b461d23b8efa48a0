"""A sandbox as it was: the archive's chapters and, where the last of them ends, the streams."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from schedviz.store import codec
from schedviz.store.archive import Chapter, Mark, Page, Stream, stored_in, unpack
from schedviz.store.codec import Entries
from schedviz.store.errors import Gone
from simulator.api import Manifest
from simulator.decision import Decision
from simulator.recording import Entry
from simulator.trace import AnyEvent, LaneEntry

if TYPE_CHECKING:
    from schedviz.store.sandbox import Sandbox

TAIL = 200
"""Trace events of a moment, if not asked otherwise: what a page's log shows."""

Numbered = tuple[int, AnyEvent]


class Moment(NamedTuple):
    """A sandbox as it was."""

    mark: Mark
    """The numbers of the last write, trace event, journal entry and decision until then (0 = none yet), and
    the simulated time."""
    objects: dict[str, dict[str, Manifest]]
    """Resource -> key -> manifest, of the resources that had any."""
    lanes: dict[str, LaneEntry]
    trace: list[Numbered]
    """The last events, oldest first."""
    decision: Decision | None
    """The last; None where there was none, or it is not kept."""


class Reach(NamedTuple):
    """The moments between these can be seen; but for those of which nothing is known, because the watch log
    was trimmed before anybody could read it."""

    first: Mark
    last: Mark


class History:
    """What is kept now; good for one question, as chapters come and go."""

    def __init__(self, sandbox: "Sandbox") -> None:
        self._sandbox = sandbox
        # The chapters first: what one of them lost to the next is still in the streams by the second read.
        self.chapters = sandbox.archive.chapters() or [Chapter(0, sandbox.origin(), snapshot=True)]
        self.head = sandbox.mark()
        self._pages: dict[tuple[int, Page], Entries] = {}

    def reach(self) -> Reach | None:
        """None where no moment can be seen."""
        first = next((chapter.began for chapter in self.chapters if chapter.snapshot), None)
        return Reach(first, self.head) if first else None

    # Moments

    def at_version(self, version: int, tail: int = TAIL) -> Moment:
        """While that was the last write. Raises Gone where it is too old, or was never reached."""
        if version > self.head.version:
            raise Gone(version)
        place = self._place("log", version)
        mark = self.chapters[place].began
        for entry in self.journal(place):
            if entry.version > version:
                break
            mark = _mark(entry, mark)
        return self._moment(place, replace(mark, version=version), tail)

    def at_seq(self, seq: int, tail: int = TAIL) -> Moment:
        """When that trace event was told: just before the write that it came with, or after it if it was the
        last to come with it. Raises Gone."""
        if seq > self.head.seq:
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

    def _moment(self, place: int, mark: Mark, tail: int) -> Moment:
        base = next((each for each in range(place, -1, -1) if self.chapters[each].snapshot), None)
        if base is None:
            raise Gone(mark.version)
        return Moment(
            mark,
            self._objects(base, mark.version),
            self._lanes(base, mark.entry),
            self.tail(mark.seq, tail),
            self.decision(mark.cycle),
        )

    def _objects(self, base: int, version: int) -> dict[str, dict[str, Manifest]]:
        stored: dict[str, dict[str, tuple[int, bytes]]] = {}
        for (resource, key), data in self.snapshot(base, "objects").items():
            written, _, body = data.partition(b" ")
            stored.setdefault(resource, {})[key] = int(written), body
        for number, fields in self.entries("log", base, version):
            resource, key = fields[b"resource"].decode(), fields[b"key"].decode()
            objects = stored.setdefault(resource, {})
            if fields[b"type"] == b"DELETED":
                objects.pop(key, None)
            else:
                objects[key] = number, fields[b"object"]
        return {
            resource: {
                key: codec.with_version(body, written) for key, (written, body) in sorted(objects.items())
            }
            for resource, objects in sorted(stored.items())
            if objects
        }

    def _lanes(self, base: int, entry: int) -> dict[str, LaneEntry]:
        lanes = {pod: codec.decode_lane(data) for (_, pod), data in self.snapshot(base, "lanes").items()}
        for number, fields in self.entries("journal", base, entry):
            said = codec.decode_journal((b"%d-0" % number, fields))
            if said.began:
                lanes = {}
            for pod, lane in said.lanes.items():
                if lane:
                    lanes[pod] = lane
                else:
                    lanes.pop(pod, None)
        return dict(sorted(lanes.items()))

    # What is behind them

    def snapshot(self, place: int, page: Page) -> dict[tuple[str, str], bytes]:
        """The objects, or the places in the queue, at the beginning of a chapter that has them. Raises Gone
        where it was dropped just now."""
        chapter = self.chapters[place]
        if chapter.number == 0:
            return {}
        data = self._sandbox.archive.page(chapter, page)
        if data is None:
            raise Gone(chapter.began.version)
        return stored_in(data)

    def entries(self, stream: Stream, place: int, last: int) -> Iterator[tuple[int, dict[bytes, bytes]]]:
        """A stream from the beginning of a chapter up to a number. Raises Gone where there is a gap."""
        number = self.chapters[place].began.of(stream)
        for chapter in self.chapters[place:]:
            if number >= last:
                return
            for entry_id, fields in self._page(chapter, stream):
                following = codec.number(entry_id)
                if stream == "decisions":  # not every cycle ends with one
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
        """The trace after a number, at most ``count``. Raises Gone."""
        found = []
        for number, fields in self.entries("trace", self._place("trace", after), self.head.seq):
            if number > after:
                found.append(codec.decode_trace((b"%d-0" % number, fields)))
            if len(found) == count:
                break
        return found

    def decision(self, cycle: int) -> Decision | None:
        """None where there was none, or it is not kept."""
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

    def tail(self, seq: int, count: int) -> list[Numbered]:
        """The last trace events up to a number that are kept, at most so many, oldest first."""
        first = max(seq - count, self.chapters[0].began.seq)
        return self.trace(first, seq - first) if seq > first else []

    def journal(self, place: int) -> Iterator[Entry]:
        """The loop's commits, from the beginning of a chapter. Raises Gone where there is a gap."""
        for number, fields in self.entries("journal", place, self.head.entry):
            yield codec.decode_journal((b"%d-0" % number, fields))

    def elections(self, place: int, last: int) -> list[Entry]:
        """The entries of a chapter up to a number with which leaders began. Raises Gone where there is a
        gap."""
        chapter = self.chapters[place]
        until = min(last, chapter.ended.entry if chapter.ended else self.head.entry)
        return [
            codec.decode_journal((b"%d-0" % number, fields))
            for number, fields in self.entries("journal", place, until)
            if b'"began":' in fields[b"entry"]  # so that thousands of others need not be decoded
        ]

    def _place(self, stream: Stream, number: int) -> int:
        """Where the last chapter is that began at that number or before it. Raises Gone."""
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
