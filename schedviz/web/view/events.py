"""A pod's events, as ``kubectl describe pod`` lists them."""

import msgspec

from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.scheduler.event_recorder import EVENTS, count, first_seen, last_seen

from . import format as fmt
from . import meanings, reasons

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


def of_pod(sandbox: Sandbox, pod: Manifest) -> list[PodEvent]:
    return [pod_event(event) for event in manifests_of(sandbox, pod["metadata"])]


def manifests_of(sandbox: Sandbox, metadata: Manifest) -> list[Manifest]:
    """The newest last. By their names, which begin with the pod's, they are found without reading all."""
    named = sandbox.starting_with(EVENTS, f"{metadata['namespace']}/{metadata['name']}.")
    events = [event for event in named if event["involvedObject"].get("uid") == metadata["uid"]]
    return sorted(events, key=last_seen)[-EVENTS_AT_MOST:]


def pod_event(event: Manifest) -> PodEvent:
    reason, message = event.get("reason", ""), event.get("message", "")
    return PodEvent(
        type=event.get("type", ""),
        reason=reason,
        time=fmt.clock(last_seen(event)),
        count=count(event),
        since=fmt.clock(first_seen(event)),
        source=event.get("reportingComponent") or (event.get("source") or {}).get("component", ""),
        message=message,
        meaning=reasons.unplaced(message) or meanings.event(reason),
    )
