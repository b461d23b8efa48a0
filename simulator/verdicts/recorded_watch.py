"""Watch events in files, as ``kubectl get --watch --output-watch-events -o json`` prints them.

What the files begin with is a list: objects, Lists of them, and events ADDED. The first other event ends it.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any, Final, Literal, cast

import msgspec

from simulator.api import SECOND, Manifest, Micros, WatchEvent
from simulator.apiserver.resources import find_by_kind
from simulator.dumps.documents import json_documents
from simulator.dumps.followed_objects import SCHEDULING_REASONS
from simulator.kernel.clock import END
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

    def begin(self) -> Micros:
        """Return the time of the list."""
        latest = max((latest_time(event.object) for event in self.listed), default=0)
        return min([latest, *self._created_next[:1]])

    def timed_changes(self) -> Iterator[tuple[WatchEvent, Micros]]:
        """Yield the changes, each with its time: the latest that was written so far, but not later than the
        next creation, by resourceVersion. So a clock that is ahead does not move the time of the others."""
        now = self.begin()
        for event, bound in zip(self.changes, self._created_next, strict=True):
            now = max(now, min(latest_time(event.object), bound))
            yield event, now

    @cached_property
    def _created_next(self) -> list[Micros]:
        """Return the end of the second of the earliest creation from each change on. The API server sets
        these times."""
        known = {(event.resource, event.key) for event in self.listed}
        created = []
        for event in self.changes:
            name = event.resource, event.key
            stamp = _micros(event.object["metadata"].get("creationTimestamp"))
            is_new = event.type == "ADDED" and name not in known
            created.append(stamp + SECOND - 1 if is_new and stamp else END)
            known.discard(name) if event.type == "DELETED" else known.add(name)
        return [*accumulate(reversed(created), min)][::-1]


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
    """Return the latest time that the API server or the scheduler wrote into an object; 0 = none. The clocks
    of the nodes, of which there are many, are not read."""
    times = [_micros(manifest["metadata"].get("creationTimestamp"))]
    times += [_micros(each.get("lastTransitionTime")) for each in _scheduled(manifest)]
    if manifest.get("kind") == "Event" and manifest.get("reason") in SCHEDULING_REASONS:
        times.append(event_last_seen(manifest))
    return max(times)


def _scheduled(manifest: Manifest) -> Iterator[Manifest]:
    return (each for each in conditions_of(manifest) if each.get("type") == "PodScheduled")


def _micros(stamp: Any) -> Micros:
    return micros(stamp) if isinstance(stamp, str) and is_timestamp(stamp) else 0
