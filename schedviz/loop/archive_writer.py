"""Writes the archive of a sandbox, one chapter at a time, after the slices of its leader."""

import time
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from schedviz.store import Lease, Sandbox, codec
from schedviz.store.archive import (
    STREAMS,
    Chapter,
    Mark,
    Page,
    Piece,
    Stream,
    bind,
    entries_of,
    pack,
    piece,
    scanned,
)
from schedviz.store.bounds import (
    CHAPTER_BYTES,
    CHAPTER_DECISIONS,
    CHAPTER_ENTRIES,
    CHAPTER_NODES,
    CHAPTER_WRITES,
    LOG_LENGTH,
    SNAPSHOT_DISTANCE,
    SNAPSHOT_SHARE,
)
from schedviz.store.codec import Entries
from schedviz.store.whole_objects import SCANNED_FIRST, Stored
from simulator.api import WatchEvent
from simulator.decision import Decision
from simulator.kernel.parts import size_of

LEASES = "leases.coordination.k8s.io"

SNAPSHOT_SECONDS = 0.05
"""Seconds for which a snapshot is read after one slice. They are few, so that other sandboxes do not wait."""

SNAPSHOT_WRITES = LOG_LENGTH // 2
"""Maximum number of writes for which a full chapter stays open until the snapshot of the next chapter is
read."""


RENEWALS_PER_WRITE = 10
"""Updates of Lease objects that count as one write for the next snapshot. One has 16 bytes in a chapter, and
takes no time to restore; snapshots every half an hour would push everything else out of the archive."""


class SnapshotReader:
    """Reads all objects and queue places in several steps, while other processes write.

    An object that is read may have any version since the beginning. At the end :meth:`overlay` replaces what
    was written after the beginning."""

    def __init__(self, sandbox: Sandbox, began: Mark) -> None:
        self._sandbox = sandbox
        self._began = began
        self._left = [*sandbox.resources(), ""]
        """The resources that are not read yet; the last entry "" means the queue places."""
        self._cursor, self._count = "0", SCANNED_FIRST
        self._pieces: dict[bool, list[Piece]] = {True: [], False: []}
        """The pieces of objects (True) and of queue places (False)."""
        self._changed: dict[str, dict[str, str]] = {}
        """Later writes: resource ("" = queue places) -> key -> stored text ("" = deleted)."""

    @property
    def complete(self) -> bool:
        return not self._left

    def read_more(self, seconds: float) -> None:
        """Continue to read for about ``seconds``."""
        deadline = time.monotonic() + seconds
        while self._left:
            resource = self._left[0]
            found, self._cursor, self._count = self._sandbox.scan(resource, self._cursor, self._count)
            self._pieces[bool(resource)].append(scanned(resource, found))
            if self._cursor == "0":
                self._left.pop(0)
                self._count = SCANNED_FIRST
            if time.monotonic() >= deadline:
                return

    def overlay(self, log: Entries, journal: Entries) -> None:
        """Add the writes and the queue moves that came after the beginning; earlier entries are ignored."""
        for entry_id, fields in log:
            version = codec.number(entry_id)
            if version > self._began.version:
                stored = "" if fields[b"type"] == b"DELETED" else f"{version} {fields[b'object'].decode()}"
                self._changed.setdefault(fields[b"resource"].decode(), {})[fields[b"key"].decode()] = stored
        moved = self._changed.setdefault("", {})
        for entry in journal:
            if codec.number(entry[0]) > self._began.entry:
                for pod, lane in codec.decode_journal(entry).lanes.items():
                    moved[pod] = codec.encode(lane) if lane else ""

    def pages(self) -> dict[Page, bytes]:
        changed = [piece(resource, stored) for resource, stored in self._changed.items() if resource]
        return {
            "objects": bind([*self._pieces[True], *changed]),
            "lanes": bind([*self._pieces[False], piece("", self._changed.get("", {}))]),
        }


class ArchiveWriter:
    """Decides when a chapter ends, and writes it with its successor. One per leader."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._chapters = sandbox.archive.chapters()
        self._snapshot = max((c.began.version for c in self._chapters if c.snapshot), default=0)
        """The version of the newest snapshot; 0 = there is none."""
        self._reader: SnapshotReader | None = None
        self._listed: tuple[int, list[Piece]] | None = None
        """The version and the objects with which the next chapter begins, when the log has a gap."""
        self._renewals = 0
        """Updates of Lease objects since then, as far as this leader observed them."""
        self._bytes = 0
        """The size of the writes of the open chapter that this leader observed."""
        self._decisions, self._decision_nodes = 0, 0
        """Decisions of the open chapter, and the nodes in all of them."""

    @property
    def _open(self) -> Chapter | None:
        return self._chapters[-1] if self._chapters else None

    @property
    def must_close(self) -> bool:
        """Whether the slice must end now, so that the chapter is closed before its decisions or writes are
        trimmed."""
        return self._decisions >= CHAPTER_DECISIONS or self._bytes >= CHAPTER_BYTES

    def count_writes(self, events: Sequence[WatchEvent]) -> None:
        """Count observed writes, and among them updates of Lease objects, which an outside scheduler writes
        every two seconds."""
        self._bytes += sum(size_of(event.object) for event in events)
        self._renewals += sum(event.resource == LEASES and event.type == "MODIFIED" for event in events)

    def count_decisions(self, decisions: Sequence[Decision]) -> None:
        self._decisions += len(decisions)
        self._decision_nodes += sum(len(decision.nodes) for decision in decisions)

    def begin_list(self, version: int) -> None:
        """Note that the leader lists all objects. If the watch log no longer has all writes of the open
        chapter up to ``version``, a new chapter begins with these objects."""
        began = self._open.began if self._open else self._sandbox.origin()
        self._listed = None if self._has_writes(began.version, version) else (version, [])

    def objects_listed(self, stored: Stored) -> None:
        """Note some of the objects that the leader lists."""
        if self._listed:
            self._listed[1].extend(_pieces(stored))

    def slice_ended(self, lease: Lease) -> None:
        """Read on in the snapshot, and close the open chapter if it is full. To be called after a slice, when
        everything of it is stored. Raises StaleLease, NoSandbox."""
        mark = self._sandbox.mark()
        if self._open is None and not self._listed:
            pages: dict[Page, bytes] = {"objects": bind([]), "lanes": bind([])}
            self._write(None, Chapter(1, self._sandbox.origin(), snapshot=True), {}, pages, lease)
        elif self._listed:
            self._begin_with_objects(*self._listed, mark, lease)
        else:
            assert self._open
            self._continue(self._open, mark, lease)

    def _continue(self, chapter: Chapter, mark: Mark, lease: Lease) -> None:
        began = chapter.began
        writes = mark.version - began.version
        full = (
            writes >= CHAPTER_WRITES
            or self._bytes >= CHAPTER_BYTES
            or mark.cycle - began.cycle >= CHAPTER_DECISIONS
            or mark.seq - began.seq >= CHAPTER_ENTRIES
            or mark.entry - began.entry >= CHAPTER_ENTRIES
        )
        if full and self._reader is None and self._needs_snapshot(mark):
            self._reader = SnapshotReader(self._sandbox, mark)
        if self._reader:
            self._reader.read_more(SNAPSHOT_SECONDS)
        incomplete = self._reader and not self._reader.complete
        if full and not (incomplete and writes < SNAPSHOT_WRITES and not self.must_close):
            self._close(chapter, self._sandbox.mark(), lease)

    def _needs_snapshot(self, mark: Mark) -> bool:
        renewals = min(self._renewals, mark.version - self._snapshot)
        written = mark.version - self._snapshot - renewals + renewals // RENEWALS_PER_WRITE
        return written >= max(SNAPSHOT_DISTANCE, self._sandbox.size() // SNAPSHOT_SHARE)

    def _has_writes(self, after: int, version: int) -> bool:
        """Whether the watch log holds all writes between the two versions."""
        first = self._sandbox.live("log", after, after + 1)
        return version == after or bool(first)

    def _close(self, chapter: Chapter, mark: Mark, lease: Lease) -> None:
        if not self._has_writes(chapter.began.version, mark.version):
            stored, version = self._sandbox.stored_objects()
            self._begin_with_objects(version, _pieces(stored), mark, lease)
            return
        streams = self._streams(chapter, mark)
        opened, pages = Chapter(chapter.number + 1, mark), {}
        if self._reader:
            self._reader.overlay(entries_of(streams["log"]), entries_of(streams["journal"]))
            if self._reader.complete:
                opened, pages = replace(opened, snapshot=True), self._reader.pages()
        self._write(replace(chapter, ended=mark), opened, streams, pages, lease)

    def _begin_with_objects(self, version: int, objects: list[Piece], mark: Mark, lease: Lease) -> None:
        """Close the open chapter without its log, which has a gap, and open the next one with these objects
        as its snapshot. The other streams of the closed chapter are kept."""
        chapter = self._open
        closed = chapter and replace(chapter, ended=replace(mark, version=chapter.began.version))
        opened = Chapter(chapter.number + 1 if chapter else 1, replace(mark, version=version), snapshot=True)
        queue = {pod: codec.encode(lane) for pod, lane in self._sandbox.queue_places().items()}
        pages: dict[Page, bytes] = {"objects": bind(objects), "lanes": bind([piece("", queue)])}
        streams = self._streams(chapter, mark) if chapter else {}
        streams.pop("log", None)
        self._write(closed, opened, streams, pages, lease)
        self._listed = None

    def _streams(self, chapter: Chapter, mark: Mark) -> dict[Stream, bytes]:
        """Return the entries of each stream from the beginning of a chapter to a mark, as MessagePack."""
        packed = self._sandbox.packed
        small = self._decision_nodes <= CHAPTER_NODES
        streams = [stream for stream in STREAMS if stream != "decisions" or small]
        return {stream: packed(stream, chapter.began.of(stream), mark.of(stream)) for stream in streams}

    def _write(
        self,
        closed: Chapter | None,
        opened: Chapter,
        streams: Mapping[Stream, bytes],
        snapshot: Mapping[Page, bytes],
        lease: Lease,
    ) -> None:
        pages: dict[tuple[int, Page], bytes] = {
            (opened.number, page): data for page, data in snapshot.items()
        }
        chapters = [opened]
        if closed:
            chapters.insert(0, closed)
            pages |= {(closed.number, stream): pack(reply) for stream, reply in streams.items()}
        self._chapters = self._sandbox.archive.write(self._chapters, chapters, pages, lease)
        self._bytes, self._decisions, self._decision_nodes = 0, 0, 0
        if opened.snapshot:
            self._snapshot = opened.began.version
            self._renewals = 0
            self._reader = None


def _pieces(stored: Stored) -> list[Piece]:
    return [
        piece(resource, {key.decode(): codec.expanded(data).decode() for key, data in objects.items()})
        for resource, objects in stored.items()
    ]
