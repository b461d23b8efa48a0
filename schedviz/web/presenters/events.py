"""A pod's events, as ``kubectl describe pod`` lists them."""

from collections.abc import Sequence

import msgspec

from schedviz.store.past import Readable
from simulator import trace
from simulator.api import Manifest, Micros
from simulator.objects.events import EVENTS, event_count, event_first_seen, event_last_seen

from . import format as fmt
from . import meanings, permalinks, reasons

EVENTS_AT_MOST = 20


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
    """The newest Events of a pod. about: the trace events that are about it."""
    return [
        pod_event(event, permalinks.permalink_of_event(event, about))
        for event in manifests_of(sandbox, metadata)
    ]


def manifests_of(sandbox: Readable, metadata: Manifest) -> list[Manifest]:
    """The Events of a pod, newest last; without a uid, those of all pods with this name. The name of an Event
    begins with the pod's name, so only these are read."""
    named = sandbox.starting_with(EVENTS, f"{metadata['namespace']}/{metadata['name']}.")
    uid = metadata.get("uid")
    events = [event for event in named if uid in (None, event["involvedObject"].get("uid"))]
    return sorted(events, key=seen_and_written)[-EVENTS_AT_MOST:]


def seen_and_written(event: Manifest) -> tuple[Micros, int]:
    """The order of Events: by their last occurrence, and at the same time as they were written."""
    return event_last_seen(event), int(event["metadata"]["resourceVersion"])


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
