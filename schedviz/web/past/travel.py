"""The bar for past moments: the shown moment, the oldest and the newest, and the next ones."""

from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.store.archive import Chapter
from schedviz.store.past import Past, Readable
from schedviz.web.text import format as fmt
from simulator.api import SECOND

PLAYED_AT_MOST: Final = 100
"""Maximum number of moments that the page plays without a new request. The response to that has the next
moments."""


class Travel(msgspec.Struct, frozen=True):
    """The bar. A moment is the number of a trace event."""

    past: bool
    seq: int
    """The shown moment."""
    time: str
    first: int
    """``first``, ``last``: the oldest and the newest moment that can be shown."""
    last: int
    ahead: str = "[]"
    """The next moments in JSON, as pairs of a moment and the simulated milliseconds until then."""


def live_travel(source: Readable) -> Travel:
    """Return the bar of the live page; of the archive it reads only the chapters, which no cache holds.
    Raises NoSandbox."""
    head, archive = source.trace_head(), source.sandbox.archive
    chapters = archive.chapters() or [Chapter(0, source.sandbox.origin(), snapshot=True)]
    return Travel(False, head, "", first(chapters, head), head)


def past_travel(past: Past) -> Travel:
    """Return the bar of a past moment."""
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
    """Return the oldest moment: the first event, also where it is yet to come, unless the archive begins
    later."""
    began = next((chapter.began for chapter in chapters if chapter.snapshot), None)
    oldest = began.seq + 1 if began else head
    return max(1, min(oldest, head))
