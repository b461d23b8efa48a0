"""Reading a sandbox's picture from the store."""

from collections.abc import Iterable
from typing import Final

from schedviz.store import Gone
from schedviz.store.past import Past, Readable
from simulator import trace

from .picture import PRIORITY_CLASSES, TRACE_KEPT, WATCHED, Picture
from .priority import SYSTEM_PRIORITY, Ranks

AHEAD_READ: Final = 200
"""Trace events after a past moment, some 40 attempts: as many as the timeline shows ahead."""


def load(sandbox: Readable, resources: Iterable[str] = WATCHED) -> Picture:
    """Everything anew. Its ``version`` and ``seq`` are where to go on from: what was written while this
    read is told again then, which does no harm. Raises NoSandbox."""
    picture = Picture()
    seq = sandbox.trace_head()
    listings = {resource: sandbox.list(resource) for resource in resources}
    for resource, listing in listings.items():
        for manifest in listing.items:
            picture.object(resource, manifest)
    picture.version = min(listing.version for listing in listings.values())
    for number, event in sandbox.trace_tail(TRACE_KEPT):
        picture.trace_event(number, event)
    picture.seq = max(picture.seq, seq)
    if isinstance(sandbox, Past):
        picture.past, picture.ahead = True, sandbox.ahead(AHEAD_READ)
    refresh(sandbox, picture)
    nominated = next(
        (event for _, event in reversed(picture.trace) if isinstance(event, trace.Nominated)), None
    )
    if nominated is not None and picture.preemption is None:
        picture.preemption = sandbox.decision(nominated.cycle)
    return picture


def refresh(sandbox: Readable, picture: Picture) -> None:
    """The state that no stream carries: the queue's lanes, the last decision or what is known of the
    next one, the leader. Raises NoSandbox."""
    try:
        moved, picture.moves = sandbox.moves(picture.moves)
        for pod, entry in moved.items():
            picture.place(pod, entry)
    except Gone:
        picture.lanes, picture.moves = sandbox.queue()
    picture.under_way = sandbox.under_way()
    so_far = picture.under_way.decision if picture.under_way else None
    decision = so_far or sandbox.last_decision()
    if decision is not None:
        picture.decided(decision)
    lease = sandbox.lease()
    picture.leader = lease.holder if lease else ""
    picture.pipeline = sandbox.pipeline()


def ranks(sandbox: Readable) -> Ranks:
    """The ranks by the PriorityClasses alone: enough for a panel, without reading all pods."""
    values = (item.get("value", 0) for item in sandbox.list(PRIORITY_CLASSES).items)
    return Ranks(value for value in values if value < SYSTEM_PRIORITY)
