"""Fills a picture from a sandbox, or from a past moment of it."""

from collections.abc import Iterable
from typing import Final

from schedviz.store.past import Past, Readable
from schedviz.web.picture.picture import PRIORITY_CLASSES, TRACE_KEPT, WATCHED, Picture
from schedviz.web.picture.priority import SYSTEM_PRIORITY, Ranks
from simulator import trace

AHEAD_READ: Final = 200
"""Number of trace events after a past moment: about 40 attempts, which the timeline shows."""


def load(source: Readable, resources: Iterable[str] = WATCHED) -> Picture:
    """Make a picture of all that the source has. Raises NoSandbox."""
    picture = Picture()
    seq = source.trace_head()
    listings = {resource: source.list(resource) for resource in resources}
    for resource, listing in listings.items():
        for manifest in listing.items:
            picture.object(resource, manifest)
    picture.version = min(listing.version for listing in listings.values())
    for number, event in source.trace_tail(TRACE_KEPT):
        picture.trace_event(number, event)
    picture.seq = max(picture.seq, seq)
    if isinstance(source, Past):
        picture.past, picture.ahead = True, source.ahead(AHEAD_READ)
    refresh(source, picture)
    nominated = next(
        (event for _, event in reversed(picture.trace) if isinstance(event, trace.Nominated)), None
    )
    if nominated is not None and picture.preemption is None:
        picture.preemption = source.decision(nominated.cycle)
    return picture


def refresh(source: Readable, picture: Picture) -> None:
    """Update what does not come from events: the places in the queue, the newest or unfinished decision, the
    leader, the informer and the failure. Raises NoSandbox."""
    picture.queue_places, picture.moves = source.queue()
    picture.under_way = source.under_way()
    so_far = picture.under_way.decision if picture.under_way else None
    decision = so_far or source.last_decision()
    if decision is not None:
        picture.decided(decision)
    lease = source.lease()
    picture.leader = lease.holder if lease else ""
    picture.pipeline = source.pipeline()
    picture.failure = source.failure()
    picture.stands_down = source.stands_down()
    meta = source.meta()
    picture.mirrors = meta.mirror is not None
    picture.devices.use(meta.features())


def ranks(source: Readable) -> Ranks:
    """Return the ranks of the PriorityClasses. Panels use them, because the priorities of pods need all
    pods."""
    values = (item.get("value", 0) for item in source.list(PRIORITY_CLASSES).items)
    return Ranks(value for value in values if value < SYSTEM_PRIORITY)
