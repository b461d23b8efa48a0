"""Fields of Event objects, in the forms of core/v1 and of events.k8s.io/v1."""

import datetime
import re
from typing import Final

from simulator.api import Manifest, Micros

EVENTS: Final = "events"

EventIdentity = tuple[object, ...]
"""Equal for events of one series."""

PREEMPTED_BY: Final = re.compile(r"Preempted by pod (?P<uid>\S+) on node (?P<node>\S+)")
"""The note of an Event of the scheduler about a victim (prepareCandidate in
pkg/scheduler/framework/preemption/executor.go)."""


def event_identity(event: Manifest) -> EventIdentity:
    """Return the key of an event's series (getKey in client-go/tools/events/event_broadcaster.go).

    The key contains the pod's resourceVersion, but not the message. A new message of the scheduler also
    changes the pod's status, and with it the resourceVersion."""
    fields = ("type", "action", "reason", "reportingComponent", "reportingInstance")
    objects = (event.get("involvedObject") or {}, event.get("related") or {})
    versions = [(of.get("uid"), of.get("resourceVersion")) for of in objects]
    return (*(event.get(field) for field in fields), *versions)


def event_count(event: Manifest) -> int:
    """Return how often the event occurred."""
    seen: int = (event.get("series") or {}).get("count") or event.get("count") or 1
    return seen


def event_last_seen(event: Manifest) -> Micros:
    """Return when the event occurred last."""
    series = event.get("series") or {}
    stamps = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return parse_event_time(next((s for s in stamps if s), event["metadata"].get("creationTimestamp") or ""))


def event_first_seen(event: Manifest) -> Micros:
    """Return when the event occurred first."""
    stamps = (event.get("eventTime"), event.get("firstTimestamp"))
    return parse_event_time(next((s for s in stamps if s), event["metadata"].get("creationTimestamp") or ""))


def parse_event_time(stamp: str) -> Micros:
    """Parse a time with microseconds; 0 for a string that is not a time."""
    try:
        since = datetime.datetime.fromisoformat(stamp) - _EPOCH
    except (TypeError, ValueError):
        return 0
    return since // _MICROSECOND


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)
