"""A storage in memory, for tests and the command line."""

import builtins
from collections.abc import Sequence

from simulator.api import ApiError, Change, Manifest, WatchEvent, versioned
from simulator.apiserver.overlay import ObjectList


class MemoryStorage:
    """Objects by resource and key, and the watch events that were not taken yet. It is also a Reader for
    admission.

    The caller that runs the simulation must take the events regularly, because their number is not
    bounded."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Manifest]] = {}
        self.version = 0
        self._log: builtins.list[WatchEvent] = []

    def commit(self, changes: Sequence[Change]) -> builtins.list[int]:
        """See :class:`simulator.api.Storage`."""
        for change in changes:
            self._check(change)
        return [self._write(change) for change in changes]

    def take_events(self) -> builtins.list[WatchEvent]:
        """Return the watch events since the last call, and remove them."""
        events, self._log = self._log, []
        return events

    def get(self, resource: str, key: str) -> Manifest | None:
        return self.objects.get(resource, {}).get(key)

    def list(self, resource: str, namespace: str = "") -> ObjectList:
        return ObjectList.of(self.objects.get(resource, {}), self.version, namespace)

    def find(self, resource: str, key: str) -> ObjectList:
        return ObjectList.with_key(self.objects.get(resource, {}), self.version, key)

    def names(self, resource: str) -> builtins.list[str]:
        return [*self.objects.get(resource, {})]

    def _check(self, change: Change) -> None:
        current = self.get(change.resource, change.key)
        if change.expected == 0:
            if current is not None:
                raise ApiError("AlreadyExists", change.resource, change.key)
        elif current is None:
            raise ApiError("NotFound", change.resource, change.key)
        elif change.expected not in (None, int(current["metadata"]["resourceVersion"])):
            raise ApiError("Conflict", change.resource, change.key)

    def _write(self, change: Change) -> int:
        self.version += 1
        objects = self.objects.setdefault(change.resource, {})
        existed = change.key in objects
        body = objects[change.key] if change.object is None else change.object
        written = versioned(body, self.version)
        if change.object is None:
            del objects[change.key]
            event = WatchEvent("DELETED", change.resource, change.key, written, self.version)
        else:
            objects[change.key] = written
            kind = "MODIFIED" if existed else "ADDED"
            event = WatchEvent(kind, change.resource, change.key, written, self.version)  # type: ignore[arg-type]  # one of the literals
        self._log.append(event)
        return self.version
