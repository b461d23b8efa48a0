"""Reads the streams of a sandbox: the watch log, the journal, the trace, the decisions and the
moves of the queue."""

from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

from schedviz.store import codec
from schedviz.store.archive import Mark, Stream, entries_of
from schedviz.store.changes import TRACE_READ
from schedviz.store.codec import Entries
from schedviz.store.errors import Gone
from schedviz.store.handle import SandboxHandle
from schedviz.store.mentions import mentions
from schedviz.store.model import LogEntry
from simulator.api import WatchEvent
from simulator.decision import Decision
from simulator.trace import Event, QueuePlace

MAX_NUMBER = 2**63 - 1
"""The largest number that is looked up in a stream. Redis refuses numbers above 2**64, and the path of a page
may have any number."""


class StreamReader(SandboxHandle):
    # The watch log

    def events(self, after: int, count: int = 1000) -> list[WatchEvent]:
        """Return the watch events after a version, oldest first, at most ``count``. Raises Gone."""
        return [codec.watch_event(entry) for entry in self.log(after, count)]

    def log(self, after: int, count: int) -> list[LogEntry]:
        """Return the watch events after a version as :meth:`events` does, with the objects as JSON."""
        entries, head = self._entries_after(self._keys.log, "version", after, count)
        check_continuity(entries, after, head)
        return [codec.decode_log_entry(entry) for entry in entries]

    # The trace and the decisions

    def trace_head(self) -> int:
        """Return the number of the last trace event."""
        return int(self._state("seq")[0])

    def trace_tail(self, count: int) -> list[tuple[int, Event]]:
        """Return the last ``count`` trace events with their numbers, oldest first."""
        entries = cast("Entries", self._redis.xrevrange(self._keys.trace, count=count))
        return [codec.decode_trace(entry) for entry in reversed(entries)]

    def about_pod(self, key: str, count: int = TRACE_READ) -> list[tuple[int, Event]]:
        """Return the events among the last ``count`` trace events that name the pod, oldest first."""
        found = self._trace_with(key, count)
        return [(number, event) for number, event in found if key in mentions(event).pods]

    def about_node(self, name: str, count: int = TRACE_READ) -> list[tuple[int, Event]]:
        """Return the events among the last ``count`` trace events that name the node, oldest first."""
        found = self._trace_with(name, count)
        return [(number, event) for number, event in found if name in mentions(event).nodes]

    def last_decision(self) -> Decision | None:
        entries = cast("Entries", self._redis.xrevrange(self._keys.decisions, count=1))
        return codec.decode_decision(entries[0]) if entries else None

    # The moves of the scheduling queue, and the places after them

    def queue_places(self) -> dict[str, QueuePlace]:
        """Return a mapping of each pod in the scheduling queue to its queue place."""
        return self.queue()[0]

    def queue(self) -> tuple[dict[str, QueuePlace], int]:
        """Return the queue places as :meth:`queue_places` does, and the number of the last move."""
        move, [stored] = self._snapshot("move", lambda pipe: pipe.hgetall(self._keys.lanes))
        return {pod.decode(): codec.decode_queue_place(stored[pod]) for pod in sorted(stored)}, move

    def queue_place(self, pod: str) -> QueuePlace | None:
        """Return the queue place of one pod; None = it is not in the queue."""
        stored = cast("bytes | None", self._redis.hget(self._keys.lanes, pod))
        return codec.decode_queue_place(stored) if stored else None

    # All streams

    def mark(self) -> Mark:
        """Return the numbers of the last entries, and the simulated time that the loop has reached."""
        return Mark(*(int(value) for value in self._state("version", "seq", "entry", "cycle", "now")))

    def origin(self) -> Mark:
        """Return the mark at which the sandbox was created."""
        version, seq = self._state("origin", "origin_seq")
        return Mark(int(version), int(seq), 0, 0, 0)

    def packed(self, stream: Stream, after: int, last: int) -> bytes:
        """Return the entries of a stream after one number, up to another, without those that were trimmed:
        the reply of XRANGE as MessagePack, as the archive stores it: with objects as JSON."""
        first, end = (min(max(number, 0), MAX_NUMBER) for number in (after, max(last, after)))
        arguments = ["XRANGE", f"({first}-0", f"{end}-0"]
        reply = cast(
            "bytes", self._scripts.packed([getattr(self._keys, stream)], arguments, client=self._redis)
        )
        return codec.expand_log(reply) if stream == "log" else reply

    def live(self, stream: Stream, after: int, last: int) -> Entries:
        """Return the entries of :meth:`packed`, decoded from MessagePack."""
        return entries_of(self.packed(stream, after, last))

    def _trace_with(self, text: str, count: int) -> Iterator[tuple[int, Event]]:
        """Yield the events among the last ``count`` trace events whose JSON has ``text`` as a whole string.
        Only these are decoded."""
        quoted = msgspec.json.encode(text)
        entries = cast("Entries", self._redis.xrevrange(self._keys.trace, count=count))
        return (codec.decode_trace(entry) for entry in reversed(entries) if quoted in entry[1][b"event"])

    def _entries_after(self, stream: str, counter: str, after: int, count: int) -> tuple[Entries, int]:
        """Return the entries after a number, at most ``count``, and the number of the last one. Raises
        Gone."""
        if after < 0:
            raise Gone(after)
        entries = cast("Entries", self._redis.xrange(stream, min=f"({after}-0", count=count))
        # If there is no entry, ``after`` may be a number that was never reached.
        head = codec.number(entries[-1][0]) if entries else int(self._state(counter)[0])
        return entries, head


def check_continuity(entries: Sequence[codec.Entry], after: int, head: int) -> None:
    """Raise Gone if the entries do not follow the number ``after`` without a gap (a stream has none)."""
    if after > head:
        raise Gone(after)
    if entries and (first := codec.number(entries[0][0])) != after + 1:
        raise Gone(after, first - 1)
