"""Reads the streams of a sandbox as far back as they are stored: from the chapters of its archive and, after
the last one, from Redis's streams."""

from collections.abc import Iterator

from schedviz.store import codec
from schedviz.store.archive import Chapter, Page, Stream, mentions, stored_in, unpack
from schedviz.store.codec import Entries
from schedviz.store.errors import Gone
from schedviz.store.streams import StreamReader
from simulator import trace
from simulator.decision import Decision
from simulator.recording import Entry
from simulator.trace import AnyEvent

ENDS = (trace.Scored, trace.Bound, trace.Nominated, trace.Unschedulable, trace.SchedulerError)
"""The trace events with the outcome of a scheduling cycle. Scored and Bound are of the same cycle; a binding
that waits comes after later cycles."""
END_OF_CYCLE = (*ENDS, trace.PodGroupCycleEnded)
"""The same of one pod or of a pod group. The cycles of its members have the numbers after its own."""

STANDS_DOWN = b"stands_down"
"""The field of a trace event with which a scheduler stands down, or schedules again."""

Numbered = tuple[int, AnyEvent]


class Chapters:
    """The chapters and streams as they are now. To be used for one request, as chapters are added and
    dropped."""

    def __init__(self, sandbox: StreamReader) -> None:
        self._sandbox = sandbox
        # The chapters are read before the mark, so that what is not in a chapter is still in the streams.
        self.chapters = sandbox.archive.chapters() or [Chapter(0, sandbox.origin(), snapshot=True)]
        self.head = sandbox.mark()
        self._pages: dict[tuple[int, Page], Entries] = {}

    def snapshot(self, place: int, page: Page) -> dict[tuple[str, str], bytes]:
        """Return the snapshot of the chapter at index ``place``: (resource, key) -> stored text. Raises Gone
        if it was dropped meanwhile."""
        chapter = self.chapters[place]
        if chapter.number == 0:
            return {}
        data = self._sandbox.archive.page(chapter, page)
        if data is None:
            raise Gone(chapter.began.version)
        return stored_in(data)

    def entries(self, stream: Stream, place: int, last: int) -> Iterator[tuple[int, dict[bytes, bytes]]]:
        """Yield the entries of a stream, with their numbers, from the beginning of a chapter up to ``last``.
        Raises Gone at a gap."""
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
        """Return the trace events after a number, at most ``count``. Raises Gone."""
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
        """Return the decision of a cycle; None = there was none, or it is not stored any more."""
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
        """Return the trace event with which a scheduling cycle ended: its last outcome before the next cycle
        began, or of a member of a pod group, whose turn ends before its outcome, the first one after that.
        None = it is not stored any more, or has not been yet."""
        if not 0 < cycle <= self.head.cycle:
            return None
        found = None
        try:
            # The outcome is not older than the decision before it.
            place = self._place("decisions", cycle - 1)
            for number, fields in self.entries("trace", place, self.head.seq):
                _, event = codec.decode_trace((b"%d-0" % number, fields))
                if found and isinstance(event, trace.CycleStarted) and event.cycle > cycle:
                    break
                if isinstance(event, END_OF_CYCLE) and event.cycle == cycle:
                    found = number
        except Gone:
            return None
        return found

    def tail(self, seq: int, count: int) -> list[Numbered]:
        """Return the last stored trace events up to a number, at most ``count``, oldest first."""
        first = max(seq - count, self.chapters[0].began.seq)
        return self.trace(first, seq - first) if seq > first else []

    def journal(self, place: int) -> Iterator[Entry]:
        """Yield the journal entries from the beginning of a chapter on. Raises Gone at a gap."""
        for number, fields in self.entries("journal", place, self.head.entry):
            yield codec.decode_journal((b"%d-0" % number, fields))

    def elections(self, place: int, last: int) -> list[Entry]:
        """Return the journal entries of a chapter, up to ``last``, with which leaders began. Raises Gone at a
        gap."""
        chapter = self.chapters[place]
        until = min(last, chapter.ended.entry if chapter.ended else self.head.entry)
        return [
            codec.decode_journal((b"%d-0" % number, fields))
            for number, fields in self.entries("journal", place, until)
            if b'"began":' in fields[b"entry"]  # so that the other entries need not be decoded
        ]

    def _place(self, stream: Stream, number: int) -> int:
        """Return the index of the last chapter that began at that number or before it. Raises Gone."""
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
