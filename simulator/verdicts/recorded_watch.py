"""Watch events in files, as ``kubectl get --watch --output-watch-events -o json`` prints them.

What the files begin with is a list: objects, Lists of them, and events ADDED. The first other event ends it.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal, cast

import msgspec

from simulator.api import Manifest, Micros, WatchEvent
from simulator.apiserver.resources import find_by_kind
from simulator.dumps.documents import json_documents
from simulator.kernel.prepared_types import prepared
from simulator.objects.conditions import conditions_of
from simulator.objects.events import event_last_seen
from simulator.objects.metadata import key_of, version_of
from simulator.objects.timestamps import is_timestamp, micros

CHANGES: Final = ("ADDED", "MODIFIED", "DELETED")
Change = Literal["ADDED", "MODIFIED", "DELETED"]


class WatchFault(ValueError):
    """A file has no watch events. The message is one line."""


class _Entry(msgspec.Struct):
    """A watch event, an object, or a list."""

    type: Any = None
    object: Manifest | msgspec.UnsetType = msgspec.UNSET
    items: list[Manifest] | msgspec.UnsetType | None = msgspec.UNSET
    kind: Any = None


class RecordedWatch:
    """``listed``: the events of the objects that were there at first; ``changes``: what came after, in the
    order of their resourceVersions."""

    def __init__(self) -> None:
        self.listed: list[WatchEvent] = []
        self.changes: list[WatchEvent] = []
        self.left_out = 0
        """The number of objects of kinds that are not built in, and of entries that are no changes."""

    def take(self, data: bytes) -> None:
        """Take the contents of a file. Raises WatchFault."""
        listing, found = True, 0
        for document in json_documents(data):
            if not bytes(document).strip():
                continue
            for kind, manifest in _entries(document):
                found += 1
                listing = listing and kind in ("", "ADDED")
                event = _watch_event(kind, manifest)
                if event is None:
                    self.left_out += 1
                elif listing:
                    self.listed.append(event)
                else:
                    self.changes.append(event)
        if not found:
            raise WatchFault("it has no watch events")
        self.changes.sort(key=lambda event: event.version)


def _entries(document: memoryview) -> Iterator[tuple[str, Manifest]]:
    """Yield the type of an event, "" for an object of a list, with the object."""
    try:
        entry = msgspec.json.decode(document, type=prepared(_Entry))
        if entry.object is not msgspec.UNSET and entry.kind is None:
            yield str(entry.type), entry.object
        elif entry.items is not msgspec.UNSET:
            yield from (("", manifest) for manifest in entry.items or ())
        else:
            yield "", msgspec.json.decode(document, type=Manifest)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as failure:
        raise WatchFault(f"not JSON that kubectl prints: {failure}") from None


def _watch_event(kind: str, manifest: Manifest) -> WatchEvent | None:
    """Return the event; None = it is no change of an object of a built-in kind."""
    resource = find_by_kind(str(manifest.get("apiVersion")), str(manifest.get("kind")))
    metadata = manifest.get("metadata")
    if resource is None or not isinstance(metadata, dict) or (kind and kind not in CHANGES):
        return None
    if not isinstance(metadata.get("name"), str) or not str(metadata.get("resourceVersion")).isdecimal():
        return None
    change = cast(Change, kind or "ADDED")
    return WatchEvent(change, resource.id, key_of(manifest), manifest, version_of(manifest))


def latest_time(manifest: Manifest) -> Micros:
    """Return the latest time that an object says something happened at; 0 = it says none."""
    stamps = [manifest["metadata"].get("creationTimestamp")]
    stamps += [each.get("lastTransitionTime") for each in conditions_of(manifest)]
    known = [micros(stamp) for stamp in stamps if isinstance(stamp, str) and is_timestamp(stamp)]
    seen = event_last_seen(manifest) if manifest.get("kind") == "Event" else 0
    return max([seen, *known])
