"""The rows of Events (printEvent)."""

from typing import Any

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.printers.column import Column, Printer, human_duration
from simulator.objects.events import event_count, event_first_seen, event_last_seen


def _event(item: Manifest, now: Micros) -> list[Any]:
    """Return the cells of an Event. Its columns do not begin with Name and have no Age (printEvent)."""
    about, source = item.get("involvedObject") or {}, item.get("source") or {}
    reporter = (
        source.get("component") or item.get("reportingComponent", ""),
        source.get("host") or item.get("reportingInstance", ""),
    )
    return [
        _since(event_last_seen(item), now),
        item.get("type", ""),
        item.get("reason", ""),
        _target(about),
        about.get("fieldPath", ""),
        f"{reporter[0]}, {reporter[1]}" if reporter[1] else reporter[0],
        item.get("message", "").strip(),
        _since(event_first_seen(item), now),
        event_count(item),
        item["metadata"]["name"],
    ]


def _target(about: Manifest) -> str:
    kind: str = about.get("kind", "").lower()
    return f"{kind}/{about['name']}" if about.get("name") else kind


def _since(seen: Micros, now: Micros) -> str:
    return human_duration((now - seen) // SECOND) if seen else "<unknown>"


EVENT_PRINTER = Printer(
    (
        Column("Last Seen", "Event.lastTimestamp"),
        Column("Type", "Event.type"),
        Column("Reason", "Event.reason"),
        Column("Object", "Event.involvedObject"),
        Column("Subobject", "ObjectReference.fieldPath", wide=1),
        Column("Source", "Event.source", wide=1),
        Column("Message", "Event.message"),
        Column("First Seen", "Event.firstTimestamp", wide=1),
        Column("Count", "Event.count", wide=1),
        Column("Name", "ObjectMeta.name", wide=1, format="name"),
    ),
    _event,
)
