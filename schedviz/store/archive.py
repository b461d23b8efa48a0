"""The archive of a sandbox: its past in chapters, which keep entries after the streams are trimmed.

A chapter has the entries of the streams between two marks, and optionally a snapshot: all objects and queue
places at its beginning. The last chapter is open: its entries are still in the streams. Each part of a
chapter is stored as one page, compressed: the entries of a stream by LZMA, whose window has a whole page, and
the parts of a snapshot by zlib.
"""

import lzma
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, cast

import msgspec
from redis import Redis

from schedviz.store import codec
from schedviz.store.bounds import ARCHIVE_BYTES
from schedviz.store.codec import Entries
from schedviz.store.errors import NoSandbox, StaleLease
from schedviz.store.keys import Keys
from schedviz.store.model import Lease
from schedviz.store.scripts import Scripts
from simulator.api import Micros
from simulator.kernel.prepared_types import prepared

LEVEL = 6
"""Compression level of zlib: 1.2 MB of manifests become 68 kB in 8 ms. Level 1: 84 kB in 4 ms; level 9: 66
kB in 24 ms."""
PRESET = 0
"""Of LZMA, the quickest. The four streams of a chapter of 100 cycles, 970 kB: 34 kB in 6 ms, with zlib 48 kB
in 4 ms; preset 2: 31 kB in 8 ms. The manifests of a snapshot do not get smaller by it."""

Stream = Literal["log", "journal", "trace", "decisions"]
STREAMS: tuple[Stream, ...] = ("log", "journal", "trace", "decisions")
Page = Literal["objects", "lanes", "log", "journal", "trace", "decisions"]
PAGES: tuple[Page, ...] = ("objects", "lanes", *STREAMS)


class Mark(msgspec.Struct, frozen=True):
    """The number of the last entry of each stream, and the simulated time, at one moment."""

    version: int
    seq: int
    entry: int
    cycle: int
    now: Micros

    def of(self, stream: Stream) -> int:
        """Return the number of the last entry of ``stream``."""
        match stream:
            case "log":
                return self.version
            case "journal":
                return self.entry
            case "trace":
                return self.seq
            case "decisions":
                return self.cycle


class Chapter(msgspec.Struct, frozen=True):
    number: int
    began: Mark
    ended: Mark | None = None
    """The mark at which the chapter ended; None = it is open."""
    snapshot: bool = False
    """Whether it has a snapshot of its beginning."""
    bytes: int = 0
    """The size of all its pages."""
    decisions: int = 0
    """The size of its page of decisions; 0 = it has none."""


XZ = b"\xfd7zXZ\x00"
"""The first bytes of a page that is compressed by LZMA."""

Piece = tuple[str, bytes]
"""A part of a snapshot: a resource ("" = queue places), and the compressed reply of one HSCAN of its
objects."""


def pack(reply: bytes) -> bytes:
    """Compress a reply of XRANGE, as MessagePack."""
    return lzma.compress(reply, check=lzma.CHECK_CRC32, preset=PRESET)


def unpack(page: bytes) -> Entries:
    """Return the stream entries of a page."""
    return entries_of(_reply(page))


def mentions(page: bytes, word: bytes) -> bool:
    """Whether the stream entries of a page contain the word. Much faster than :func:`unpack`."""
    return word in _reply(page)


def _reply(page: bytes) -> bytes:
    """Return the reply that :func:`pack` got. Older pages are compressed by zlib."""
    return lzma.decompress(page) if page.startswith(XZ) else zlib.decompress(page)


def entries_of(reply: bytes) -> Entries:
    """Decode a reply of XRANGE from MessagePack."""
    return [
        (entry_id.encode(), {name.encode(): data.encode() for name, data in pairs(fields)})
        for entry_id, fields in msgspec.msgpack.decode(reply, type=list[tuple[str, list[str]]])
    ]


def scanned(resource: str, reply: bytes) -> Piece:
    """Return a piece with the objects of a reply of HSCAN, as MessagePack."""
    return resource, zlib.compress(reply, LEVEL)


def piece(resource: str, stored: Mapping[str, str]) -> Piece:
    """Return a piece with these stored texts by key; "" = the object is deleted. Later pieces override
    earlier ones."""
    flat = [text for pair in stored.items() for text in pair]
    return scanned(resource, msgspec.msgpack.encode(("0", flat)))


def bind(pieces: Sequence[Piece]) -> bytes:
    """Return the page with the pieces of a snapshot."""
    return msgspec.msgpack.encode(pieces)


def stored_in(page: bytes) -> dict[tuple[str, str], bytes]:
    """Return a mapping: (resource, key) -> stored text, from the page of a snapshot."""
    found: dict[tuple[str, str], str] = {}
    for resource, packed in msgspec.msgpack.decode(page, type=prepared(list[Piece])):
        _, flat = msgspec.msgpack.decode(zlib.decompress(packed), type=tuple[str, list[str]])
        for key, data in pairs(flat):
            found[resource, key] = data
    return {place: data.encode() for place, data in found.items() if data}


def pairs(flat: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the (field, value) pairs of a flat reply of Redis."""
    return zip(flat[::2], flat[1::2], strict=True)


def within(chapters: Sequence[Chapter], limit: int) -> list[Chapter]:
    """Return the chapters (oldest first) to keep, so that their pages have at most ``limit`` bytes.

    If the pages of decisions take more than half of it, the oldest of them are dropped first: they are by far
    the largest, and moments are restored without them. Then the oldest chapters are dropped, but never the
    newest snapshot and the chapters after it: without these no moment could be restored."""
    left = limit // 2
    kept: list[Chapter] = []
    for chapter in reversed(chapters):
        left -= chapter.decisions
        lighter = msgspec.structs.replace(chapter, bytes=chapter.bytes - chapter.decisions, decisions=0)
        kept.insert(0, chapter if left >= 0 else lighter)
    total = sum(chapter.bytes for chapter in kept)
    while total > limit and any(chapter.snapshot for chapter in kept[1:]):
        total -= kept.pop(0).bytes
    return kept


class Archive:
    """Reads and writes the chapters of one sandbox."""

    def __init__(self, redis: Redis, scripts: Scripts, name: str) -> None:
        self._redis = redis
        self._scripts = scripts
        self._name = name
        self._keys = Keys.of(name)

    def chapters(self) -> list[Chapter]:
        """Return all stored chapters, oldest first."""
        stored = cast("list[bytes]", self._redis.hvals(self._keys.chapters))
        chapters = [msgspec.json.decode(chapter, type=prepared(Chapter)) for chapter in stored]
        return sorted(chapters, key=lambda chapter: chapter.number)

    def page(self, chapter: Chapter, page: Page) -> bytes | None:
        """Return a page of a chapter; None if it was dropped meanwhile."""
        return cast("bytes | None", self._redis.hget(self._keys.pages, f"{chapter.number}:{page}"))

    def write(
        self,
        kept: Sequence[Chapter],
        written: Sequence[Chapter],
        pages: Mapping[tuple[int, Page], bytes],
        token: Lease,
    ) -> list[Chapter]:
        """Store chapters, drop the oldest ones to stay below ARCHIVE_BYTES, and return all stored chapters.

        kept: the chapters that are stored now. written: new and changed chapters. pages: their new pages, by
        (number of the chapter, page). token: the lease.
        The journal is trimmed up to the beginning of the last chapter that ended, as only chapters are read
        of it. The entries of this chapter stay: who has read the chapters before it ended still finds them.
        Raises StaleLease, NoSandbox; nothing is stored then."""
        sized = [
            msgspec.structs.replace(
                chapter,
                bytes=chapter.bytes + sum(len(data) for (n, _), data in pages.items() if n == chapter.number),
                decisions=len(pages.get((chapter.number, "decisions"), b"")),
            )
            for chapter in written
        ]
        before = {chapter.number: chapter for chapter in kept}
        after = within([*(before | {chapter.number: chapter for chapter in sized}).values()], ARCHIVE_BYTES)
        decided = {chapter.number for chapter in after if chapter.decisions}
        gone = before.keys() - {chapter.number for chapter in after}
        lost = {(number, page) for number in gone for page in PAGES}
        lost |= {(number, "decisions") for number in before.keys() - decided}
        stored = {place: data for place, data in pages.items() if place not in lost}
        request = {
            "token": token.epoch,
            "chapters": [(c.number, codec.encode(c)) for c in after if before.get(c.number) != c],
            "pages": [f"{number}:{page}" for number, page in stored],
            "gone": sorted(gone),
            "lost": [f"{number}:{page}" for number, page in lost],
            "bytes": sum(chapter.bytes for chapter in after),
            "journal": max((chapter.began.entry for chapter in after if chapter.ended), default=0),
        }
        outcome = self._scripts.archive(
            [self._keys.state, self._keys.chapters, self._keys.pages, self._keys.journal],
            [msgspec.msgpack.encode(request), *stored.values()],
            client=self._redis,
        )
        if outcome == b"NoSandbox":
            raise NoSandbox(self._name)
        if outcome == b"StaleLease":
            raise StaleLease(f"sandbox {self._name!r}: the lease of epoch {token.epoch} is over")
        return after
