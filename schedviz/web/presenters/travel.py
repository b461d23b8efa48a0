"""The bar for past moments: the shown moment, the oldest and the newest, and the next ones."""

from typing import Final

import msgspec

from schedviz.store import Sandbox
from schedviz.store.history import History
from schedviz.store.past import Past
from simulator.api import SECOND

from . import format as fmt

PLAYED_AT_MOST: Final = 100
"""Moments that the page plays without a new request. The response to that has the next moments."""


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
    """JSON: the next moments, as pairs of a moment and the simulated milliseconds until then."""


def live_travel(sandbox: Sandbox) -> Travel:
    """The bar of the live page. Raises NoSandbox."""
    history = sandbox.history()
    return Travel(False, history.head.seq, "", first(history), history.head.seq)


def past_travel(past: Past) -> Travel:
    """The bar of a past moment."""
    now = past.moment.mark.now
    ahead = [(seq, (event.t - now) * 1000 // SECOND) for seq, event in past.ahead(PLAYED_AT_MOST)]
    return Travel(
        True,
        past.seq,
        fmt.clock(now),
        first(past.history),
        past.history.head.seq,
        msgspec.json.encode(ahead).decode(),
    )


def first(history: History) -> int:
    """The oldest moment: the first event, or the first one in the archive if that begins later."""
    reach = history.reach()
    oldest = reach.first.seq + 1 if reach else history.head.seq
    return max(1, min(oldest, history.head.seq))
