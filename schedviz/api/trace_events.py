"""Reads the trace of a sandbox."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from schedviz.store import Sandbox
from schedviz.store.bounds import TRACE_LENGTH
from simulator.trace import Event

TRACE_BATCH: Final = 1_000
"""Events that one command reads from Redis: about 200 kB."""


def trace_events(sandbox: Sandbox, after: int, limit: int | None = None) -> Iterator[tuple[int, Event]]:
    """Yield the trace events after a number; after 0, from the first that the stream still has. The store's
    bounds limit their number. Raises Gone."""
    return islice(_events(sandbox, after), limit)


def _events(sandbox: Sandbox, after: int) -> Iterator[tuple[int, Event]]:
    if after == 0:
        yield from sandbox.trace_tail(TRACE_LENGTH)
        return
    head = sandbox.trace_head()
    while events := sandbox.trace(after, TRACE_BATCH):
        yield from events
        after = events[-1][0]
        if after >= head:
            return
