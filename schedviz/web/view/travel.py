"""The way through time: which moment is on show, how far the past reaches, and what comes after it."""

from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.store.archive import Chapter
from schedviz.store.past import Past, Readable
from simulator.api import SECOND

from . import format as fmt

PLAYED_AT_MOST: Final = 100
"""Trace events that are played before more are asked for: the next moment on show comes with its own."""


class Travel(msgspec.Struct, frozen=True):
    """Moments are numbers of trace events."""

    past: bool
    seq: int
    """On show."""
    time: str
    first: int
    """The oldest that can be seen; ``last`` the newest."""
    last: int
    ahead: str = "[]"
    """JSON: what comes next, as pairs of a moment and the simulated milliseconds until then."""


def live(source: Readable) -> Travel:
    """Raises NoSandbox. Of the archive it reads the chapters only, which a cache does not hold."""
    head, archive = source.trace_head(), source.sandbox.archive
    chapters = archive.chapters() or [Chapter(0, source.sandbox.origin(), snapshot=True)]
    return Travel(False, head, "", first(chapters, head), head)


def at(past: Past) -> Travel:
    now = past.moment.mark.now
    ahead = [(seq, (event.t - now) * 1000 // SECOND) for seq, event in past.ahead(PLAYED_AT_MOST)]
    return Travel(
        True,
        past.seq,
        fmt.clock(now),
        first(past.history.chapters, past.history.head.seq),
        past.history.head.seq,
        msgspec.json.encode(ahead).decode(),
    )


def first(chapters: Sequence[Chapter], head: int) -> int:
    """The oldest moment: the first event, also where it is yet to come, unless the archive begins later."""
    began = next((chapter.began for chapter in chapters if chapter.snapshot), None)
    oldest = began.seq + 1 if began else head
    return max(1, min(oldest, head))
