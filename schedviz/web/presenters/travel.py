"""The way through time: which moment is on show, how far the past reaches, and what comes after it."""

from typing import Final

import msgspec

from schedviz.store import Sandbox
from schedviz.store.history import History
from schedviz.store.past import Past
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


def live_travel(sandbox: Sandbox) -> Travel:
    """Raises NoSandbox."""
    history = sandbox.history()
    return Travel(False, history.head.seq, "", first(history), history.head.seq)


def past_travel(past: Past) -> Travel:
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
    """The oldest moment: the first event, also where it is yet to come, unless the archive begins later."""
    reach = history.reach()
    oldest = reach.first.seq + 1 if reach else history.head.seq
    return max(1, min(oldest, history.head.seq))
