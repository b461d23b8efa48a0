"""The way in of all that the components know: reflector, delta FIFO, indexer, handlers.

staging/src/k8s.io/client-go/tools/cache: reflector.go, delta_fifo.go, shared_informer.go, v1.34. There is one
pipeline for all kinds, where real components have one for each; and no resync, as in the scheduler.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from typing import Final, Literal

import msgspec

from simulator.api import Manifest, WatchEvent
from simulator.apiserver.overlay import Objects

LATEST: Final = 5
"""Objects shown of each stage: as many as one can follow passing."""

DeltaType = Literal["Added", "Updated", "Deleted", "Replaced"]
_DELTAS: Final[dict[str, DeltaType]] = {"ADDED": "Added", "MODIFIED": "Updated", "DELETED": "Deleted"}


class Passed(msgspec.Struct, frozen=True):
    """An object that passed a stage, and what became of it there."""

    what: str
    resource: str
    key: str


class Stage(msgspec.Struct, frozen=True):
    count: int
    latest: list[Passed]
    """The last few, oldest first."""


class Pipeline(msgspec.Struct, frozen=True):
    """What has passed since this leader began."""

    version: int
    """The resourceVersion up to which the reflector knows the cluster."""
    lists: int
    """How often it listed everything: once at the start, and again for every watch that broke."""
    waiting: int
    """Objects with deltas that nobody has popped yet."""
    reflector: Stage
    """Objects that came, listed or watched."""
    delta_fifo: Stage
    """Deltas that were popped."""
    indexer: Stage
    """Its count is of the objects that are in it now."""
    handlers: Stage
    """Calls of OnAdd, OnUpdate, OnDelete."""


class _Tally:
    def __init__(self) -> None:
        self.count = 0
        self._latest: deque[Passed] = deque(maxlen=LATEST)

    def note(self, what: str, event: WatchEvent) -> None:
        self.count += 1
        self._latest.append(Passed(what, event.resource, event.key))

    def stage(self, count: int | None = None) -> Stage:
        return Stage(self.count if count is None else count, [*self._latest])


class Informer:
    """The newest version of every object, by way of the pipeline. Also a Reader for admission: what it reads
    is as fresh as the last delta popped."""

    def __init__(self) -> None:
        self.version = 0
        self.lists = 0
        self._deltas: OrderedDict[tuple[str, str], list[tuple[DeltaType, WatchEvent]]] = OrderedDict()
        self._objects: dict[str, dict[str, Manifest]] = {}
        self._reflector, self._delta_fifo = _Tally(), _Tally()
        self._indexer, self._handlers = _Tally(), _Tally()

    # Reflector

    def replace(self, listed: Iterable[WatchEvent], version: int) -> int:
        """Everything that there is at ``version``; how many objects that were known are not in it.

        Those are gone: their deletion was missed, and so was their final state."""
        known = {
            (resource, key): manifest
            for resource, objects in self._objects.items()
            for key, manifest in objects.items()
        }
        for place, deltas in self._deltas.items():
            known[place] = deltas[-1][1].object
            if deltas[-1][0] == "Deleted":
                del known[place]
        for event in listed:
            known.pop((event.resource, event.key), None)
            self._reflector.note("Listed", event)
            self._add("Replaced", event)
        for (resource, key), manifest in known.items():
            self._add("Deleted", WatchEvent("DELETED", resource, key, manifest, version))
        self.version = version
        self.lists += 1
        return len(known)

    def watch(self, event: WatchEvent) -> None:
        self.version = event.version
        self._reflector.note(event.type, event)
        self._add(_DELTAS[event.type], event)

    # Delta FIFO

    def _add(self, delta: DeltaType, event: WatchEvent) -> None:
        """What happens to an object that waits already, waits with it: its turn comes no later for that."""
        self._deltas.setdefault((event.resource, event.key), []).append((delta, event))

    @property
    def waiting(self) -> int:
        return len(self._deltas)

    def pop(self) -> Iterator[WatchEvent]:
        """All that happened to the object whose turn it is, in order, but for what a list shows unchanged.
        Each is to be applied before the next is asked for."""
        _, deltas = self._deltas.popitem(last=False) if self._deltas else (None, [])
        for delta, event in deltas:
            self._delta_fifo.note(delta, event)
            if delta != "Replaced" or not self._unchanged(event):
                yield event

    def _unchanged(self, event: WatchEvent) -> bool:
        current = self.get(event.resource, event.key)
        versions = (m and m["metadata"].get("resourceVersion") for m in (current, event.object))
        return current is not None and len({*versions}) == 1

    # Indexer and handlers

    def apply(self, event: WatchEvent) -> Manifest | None:
        """Store what a delta says; the object as it was, for the handlers (None = it was not there)."""
        objects = self._objects.setdefault(event.resource, {})
        old = objects.get(event.key)
        if event.type != "DELETED":
            verb = "Add" if old is None else "Update"
            objects[event.key] = event.object
        elif old is not None:
            verb = "Delete"
            del objects[event.key]
        else:
            return None
        self._indexer.note(verb, event)
        self._handlers.note(f"On{verb}", event)
        return old

    def get(self, resource: str, key: str) -> Manifest | None:
        return self._objects.get(resource, {}).get(key)

    def of(self, resource: str) -> dict[str, Manifest]:
        """The objects of a kind by key, in order of arrival. Not to be changed."""
        return self._objects.get(resource, {})

    def list(self, resource: str) -> Objects:
        return Objects([*self.of(resource).values()], self.version)

    def pipeline(self) -> Pipeline:
        return Pipeline(
            version=self.version,
            lists=self.lists,
            waiting=self.waiting,
            reflector=self._reflector.stage(),
            delta_fifo=self._delta_fifo.stage(),
            indexer=self._indexer.stage(sum(len(objects) for objects in self._objects.values())),
            handlers=self._handlers.stage(),
        )
