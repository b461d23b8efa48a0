"""The Events of a pod, in the order of ``kubectl describe pod``."""

from typing import Final

from schedviz.store.past import Readable
from simulator.api import Manifest, Micros
from simulator.objects.events import EVENTS, event_last_seen

EVENTS_AT_MOST: Final = 20


def events_of_pod(sandbox: Readable, metadata: Manifest) -> list[Manifest]:
    """Return the Events of a pod, newest last; without a uid, those of all pods with this name. The name of
    an Event begins with the pod's name, so only these are read."""
    named = sandbox.starting_with(EVENTS, f"{metadata['namespace']}/{metadata['name']}.")
    uid = metadata.get("uid")
    events = [event for event in named if uid in (None, event["involvedObject"].get("uid"))]
    return sorted(events, key=seen_and_written)[-EVENTS_AT_MOST:]


def seen_and_written(event: Manifest) -> tuple[Micros, int]:
    """Return the order of Events: by their last occurrence, and at the same time as they were written."""
    return event_last_seen(event), int(event["metadata"]["resourceVersion"])
