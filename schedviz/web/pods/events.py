"""A pod's Events, with their meanings and permalinks."""

from collections.abc import Sequence

import msgspec

from schedviz.store.past import Readable
from schedviz.web.log import permalinks
from schedviz.web.manifests.events import events_of_pod
from schedviz.web.reasons import meanings
from schedviz.web.reasons import messages as reasons
from schedviz.web.text import format as fmt
from simulator import trace
from simulator.api import Manifest
from simulator.objects.events import event_count, event_first_seen, event_last_seen


class PodEvent(msgspec.Struct, frozen=True):
    type: str
    reason: str
    time: str
    """The time of the last occurrence."""
    count: int
    since: str
    source: str
    message: str
    meaning: str
    cycle: int
    """The cycle with the permalink; 0 if there is none."""


def pod_events(sandbox: Readable, metadata: Manifest, about: Sequence[trace.Event]) -> list[PodEvent]:
    """Return the newest Events of a pod. about: the trace events that are about it."""
    events = events_of_pod(sandbox, metadata)
    return [pod_event(event, permalinks.permalink_of_event(event, about)) for event in events]


def pod_event(event: Manifest, cycle: int) -> PodEvent:
    reason, message = event.get("reason", ""), event.get("message", "")
    return PodEvent(
        type=event.get("type", ""),
        reason=reason,
        time=fmt.clock(event_last_seen(event)),
        count=event_count(event),
        since=fmt.clock(event_first_seen(event)),
        source=event.get("reportingComponent") or (event.get("source") or {}).get("component", ""),
        message=message,
        meaning=reasons.unplaced(message) or meanings.event_meaning(reason),
        cycle=cycle,
    )
