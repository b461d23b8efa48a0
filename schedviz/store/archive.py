"""The past of a sandbox beyond what its streams hold: chapters, one after another.

A chapter has what the streams held between two marks, and perhaps a snapshot: all objects and queue places at
its beginning. The last chapter is open: all but its snapshot is still in the streams. Pages are packed by
zlib, whole.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast

import msgspec

from schedviz.store import codec
from schedviz.store.bounds import ARCHIVE_BYTES
from schedviz.store.codec import Entries
from schedviz.store.errors import NoSandbox, StaleLease
from schedviz.store.keys import Keys
from schedviz.store.model import Lease
from simulator.api import Micros

if TYPE_CHECKING:
    from redis import Redis

    from schedviz.store.scripts import Scripts

LEVEL = 6
"""Of zlib: 1.2 MB of manifests become 68 kB in 8 ms. 1 takes 4 ms and gives 84 kB, 9 takes 24 ms for 66
kB."""

Stream = Literal["log", "journal", "trace", "decisions"]
STREAMS: tuple[Stream, ...] = ("log", "journal", "trace", "decisions")
Page = Literal["objects", "lanes", "log", "journal", "trace", "decisions"]
PAGES: tuple[Page, ...] = ("objects", "lanes", *STREAMS)


class Mark(msgspec.Struct, frozen=True):
    """How far each stream had come, and simulated time."""

    version: int
    seq: int
    entry: int
    cycle: int
    now: Micros

    def of(self, stream: Stream) -> int:
        """The number of the last entry of a stream."""
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
    """None: it is open."""
    snapshot: bool = False
    """Whether it has one of its beginning."""
    bytes: int = 0
    """Of its pages."""
    decisions: int = 0
    """Of the page of decisions, which is one of them; 0 = there is none."""


Piece = tuple[str, bytes]
"""Of a snapshot: a resource, and a part of its objects as HSCAN gives them, packed. Without a resource: of
the queue's places."""


def pack(reply: bytes) -> bytes:
    """A page, of a stream as XRANGE gives it."""
    return zlib.compress(reply, LEVEL)


def unpack(page: bytes) -> Entries:
    return entries_of(zlib.decompress(page))


def entries_of(reply: bytes) -> Entries:
    """What XRANGE gives, of its MessagePack."""
    return [
        (entry_id.encode(), {name.encode(): data.encode() for name, data in pairs(fields)})
        for entry_id, fields in msgspec.msgpack.decode(reply, type=list[tuple[str, list[str]]])
    ]


def piece(resource: str, stored: Mapping[str, str]) -> Piece:
    """Of a snapshot; nothing = it is gone. What is in a later piece counts."""
    flat = [text for pair in stored.items() for text in pair]
    return resource, zlib.compress(msgspec.msgpack.encode(("0", flat)), LEVEL)


def bind(pieces: Sequence[Piece]) -> bytes:
    """The page of a snapshot's pieces."""
    return msgspec.msgpack.encode(pieces)


def stored_in(page: bytes) -> dict[tuple[str, str], bytes]:
    """What is stored by resource and key, of a snapshot's page."""
    found: dict[tuple[str, str], str] = {}
    for resource, packed in msgspec.msgpack.decode(page, type=list[Piece]):
        _, flat = msgspec.msgpack.decode(zlib.decompress(packed), type=tuple[str, list[str]])
        for key, data in pairs(flat):
            found[resource, key] = data
    return {place: data.encode() for place, data in found.items() if data}


def pairs(flat: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Redis's names and values that stand one after another, in pairs."""
    return zip(flat[::2], flat[1::2], strict=True)


def within(chapters: Sequence[Chapter], limit: int) -> list[Chapter]:
    """What stays of chapters (oldest first) where there are so many bytes.

    The decisions of the oldest go first where they take up more than half: they are by far the largest, and
    nothing else is made of them. Then the oldest chapters; but never the newest snapshot and what follows it,
    without which no moment could be seen."""
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
    def __init__(self, redis: "Redis", scripts: "Scripts", name: str) -> None:
        self._redis = redis
        self._scripts = scripts
        self._name = name
        self._keys = Keys.of(name)

    def chapters(self) -> list[Chapter]:
        """All that are kept, oldest first."""
        stored = cast("list[bytes]", self._redis.hvals(self._keys.chapters))
        chapters = [msgspec.json.decode(chapter, type=Chapter) for chapter in stored]
        return sorted(chapters, key=lambda chapter: chapter.number)

    def page(self, chapter: Chapter, page: Page) -> bytes | None:
        """None where it was dropped meanwhile."""
        return cast("bytes | None", self._redis.hget(self._keys.pages, f"{chapter.number}:{page}"))

    def write(
        self,
        kept: Sequence[Chapter],
        written: Sequence[Chapter],
        pages: Mapping[tuple[int, Page], bytes],
        token: Lease,
    ) -> list[Chapter]:
        """Store chapters with these pages of theirs, by their numbers, beside the others that are ``kept``,
        as far as there is room; all that there are then. Raises StaleLease, NoSandbox: then nothing is."""
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
        }
        outcome = self._scripts.archive(
            [self._keys.state, self._keys.chapters, self._keys.pages],
            [msgspec.msgpack.encode(request), *stored.values()],
            client=self._redis,
        )
        if outcome == b"NoSandbox":
            raise NoSandbox(self._name)
        if outcome == b"StaleLease":
            raise StaleLease(f"sandbox {self._name!r}: the lease of epoch {token.epoch} is over")
        return after
