"""Writes a sandbox's archive, a chapter at a time, between the slices of its leader."""

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
)
from schedviz.store.bounds import (
    CHAPTER_DECISIONS,
    CHAPTER_ENTRIES,
    CHAPTER_NODES,
    CHAPTER_WRITES,
    LOG_LENGTH,
    SNAPSHOT_SHARE,
)
from schedviz.store.codec import Entries
from simulator.api import Manifest
from simulator.decision import Decision

Collections = dict[str, dict[str, Manifest]]
"""Resource -> key -> object, as :meth:`Sandbox.list_all` gives them."""

TURN_SECONDS = 0.05
"""Of gathering a snapshot after one slice: a tenth of a slice's share, so that nobody waits noticeably."""

PATIENCE = LOG_LENGTH // 2
"""Writes for which a chapter waits for the snapshot of the next to be gathered."""


class Gathering:
    """A snapshot in the making. What is read while others write may be of any version since it began; what
    was written since is put on top in the end."""

    def __init__(self, sandbox: Sandbox, began: Mark) -> None:
        self._sandbox = sandbox
        self._began = began
        self._left = [*sandbox.resources(), ""]
        """Resources, and at last the places in the queue."""
        self._cursor = "0"
        self._pieces: dict[bool, list[Piece]] = {True: [], False: []}
        """Of objects, and of places in the queue."""
        self._changed: dict[str, dict[str, str]] = {}
        """What is on top of them: resource (none for the queue's places) -> key -> what is stored."""

    @property
    def whole(self) -> bool:
        return not self._left

    def go_on(self, seconds: float) -> None:
        """Read on for about so long."""
        deadline = time.monotonic() + seconds
        while self._left:
            resource = self._left[0]
            found, self._cursor = self._sandbox.scan(resource, self._cursor)
            self._pieces[bool(resource)].append((resource, pack(found)))
            if self._cursor == "0":
                self._left.pop(0)
            if time.monotonic() >= deadline:
                return

    def overlay(self, log: Entries, journal: Entries) -> None:
        """Take in what was written, and moved in the queue, as far as it was after the beginning."""
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


class Archivist:
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._chapters = sandbox.archive.chapters()
        self._snapshot = max((c.began.version for c in self._chapters if c.snapshot), default=0)
        """The version of the last."""
        self._gathering: Gathering | None = None
        self._listed: tuple[int, Collections] | None = None
        self._decided, self._looked_at = 0, 0

    @property
    def _open(self) -> Chapter | None:
        return self._chapters[-1] if self._chapters else None

    @property
    def pressing(self) -> bool:
        """A slice is to end, for a chapter to be closed before anything of it is trimmed."""
        return self._decided >= CHAPTER_DECISIONS

    def decided(self, decisions: Sequence[Decision]) -> None:
        """These were stored."""
        self._decided += len(decisions)
        self._looked_at += sum(len(decision.nodes) for decision in decisions)

    def listed(self, version: int, collections: Collections) -> None:
        """All objects, as the leader has just read them: where the watch log does not reach back from there,
        a chapter begins with them."""
        began = self._open.began if self._open else self._sandbox.origin()
        if not self._is_whole(began.version, version):
            self._listed = version, collections

    def turn(self, lease: Lease) -> None:
        """After a slice, and after all of it was stored. Raises StaleLease, NoSandbox."""
        mark = self._sandbox.mark()
        if self._open is None and not self._listed:
            pages: dict[Page, bytes] = {"objects": bind([]), "lanes": bind([])}
            self._write(None, Chapter(1, self._sandbox.origin(), snapshot=True), {}, pages, lease)
        elif self._listed:
            self._begin_anew(*self._listed, mark, lease)
        else:
            assert self._open
            self._go_on(self._open, mark, lease)

    def _go_on(self, chapter: Chapter, mark: Mark, lease: Lease) -> None:
        began = chapter.began
        writes = mark.version - began.version
        over = (
            writes >= CHAPTER_WRITES
            or mark.cycle - began.cycle >= CHAPTER_DECISIONS
            or mark.seq - began.seq >= CHAPTER_ENTRIES
            or mark.entry - began.entry >= CHAPTER_ENTRIES
        )
        if over and self._gathering is None and self._wants_snapshot(mark):
            self._gathering = Gathering(self._sandbox, mark)
        if self._gathering:
            self._gathering.go_on(TURN_SECONDS)
        waits = self._gathering and not self._gathering.whole and writes < PATIENCE and not self.pressing
        if over and not waits:
            self._close(chapter, self._sandbox.mark(), lease)

    def _wants_snapshot(self, mark: Mark) -> bool:
        written = mark.version - self._snapshot
        return written >= max(CHAPTER_WRITES, self._sandbox.size() // SNAPSHOT_SHARE)

    def _is_whole(self, after: int, version: int) -> bool:
        """Whether the watch log holds all writes between the two."""
        first = self._sandbox.live("log", after, after + 1)
        return version == after or bool(first)

    def _close(self, chapter: Chapter, mark: Mark, lease: Lease) -> None:
        if not self._is_whole(chapter.began.version, mark.version):
            collections, version = self._sandbox.list_all()
            self._begin_anew(version, collections, mark, lease)
            return
        streams = self._streams(chapter, mark)
        opened, pages = Chapter(chapter.number + 1, mark), {}
        if self._gathering:
            self._gathering.overlay(entries_of(streams["log"]), entries_of(streams["journal"]))
            if self._gathering.whole:
                opened, pages = replace(opened, snapshot=True), self._gathering.pages()
        self._write(replace(chapter, ended=mark), opened, streams, pages, lease)

    def _begin_anew(self, version: int, collections: Collections, mark: Mark, lease: Lease) -> None:
        """With these objects, as the log does not lead to them. What the other streams hold is not lost."""
        chapter = self._open
        closed = chapter and replace(chapter, ended=replace(mark, version=chapter.began.version))
        opened = Chapter(chapter.number + 1 if chapter else 1, replace(mark, version=version), snapshot=True)
        objects = [
            piece(resource, {key: _stored(manifest) for key, manifest in found.items()})
            for resource, found in collections.items()
        ]
        queue = {pod: codec.encode(lane) for pod, lane in self._sandbox.lanes().items()}
        pages: dict[Page, bytes] = {"objects": bind(objects), "lanes": bind([piece("", queue)])}
        streams = self._streams(chapter, mark) if chapter else {}
        streams.pop("log", None)
        self._write(closed, opened, streams, pages, lease)
        self._listed = None

    def _streams(self, chapter: Chapter, mark: Mark) -> dict[Stream, bytes]:
        """What they hold since a chapter began."""
        packed = self._sandbox.packed
        streams = [stream for stream in STREAMS if stream != "decisions" or self._looked_at <= CHAPTER_NODES]
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
        self._decided, self._looked_at = 0, 0
        if opened.snapshot:
            self._snapshot = opened.began.version
            self._gathering = None


def _stored(manifest: Manifest) -> str:
    """An object as the store has it."""
    return f"{manifest['metadata']['resourceVersion']} {codec.encode_object(manifest)}"
