"""A pod's events, as ``kubectl describe pod`` lists them."""

from collections.abc import Sequence

import msgspec

from schedviz.store.past import Readable
from simulator import trace
from simulator.api import Manifest
from simulator.objects.events import EVENTS, event_count, event_first_seen, event_last_seen

from . import format as fmt
from . import meanings, reasons, receipts

EVENTS_AT_MOST = 20


class PodEvent(msgspec.Struct, frozen=True):
    type: str
    reason: str
    time: str
    """When it was seen last."""
    count: int
    since: str
    source: str
    message: str
    meaning: str
    cycle: int
    """Of the receipt; 0 for none."""


def pod_events(sandbox: Readable, metadata: Manifest, told: Sequence[trace.Event]) -> list[PodEvent]:
    """``told``: what the trace says of the pod."""
    return [
        pod_event(event, receipts.receipt_of_event(event, told)) for event in manifests_of(sandbox, metadata)
    ]


def manifests_of(sandbox: Readable, metadata: Manifest) -> list[Manifest]:
    """The newest last; without a uid those of all pods of that name. By their own names, which begin with the
    pod's, they are found without reading all."""
    named = sandbox.starting_with(EVENTS, f"{metadata['namespace']}/{metadata['name']}.")
    uid = metadata.get("uid")
    events = [event for event in named if uid in (None, event["involvedObject"].get("uid"))]
    return sorted(events, key=event_last_seen)[-EVENTS_AT_MOST:]


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
