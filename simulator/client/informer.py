"""The pipeline of an informer: reflector, delta FIFO, indexer, handlers (reflector.go, delta_fifo.go and
shared_informer.go in staging/src/k8s.io/client-go/tools/cache).

There is one pipeline for all kinds, where real components have one for each kind; and there is no resync, as
in the scheduler."""

import builtins
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Final, Literal

import msgspec

from simulator.api import Manifest, WatchEvent
from simulator.apiserver.overlay import ObjectList
from simulator.objects.events import EVENTS

_DECODER: Final = msgspec.json.Decoder(Manifest)


class PackedObjects(MutableMapping[str, Manifest]):
    """Manifests by key, in order of arrival. Each is kept as JSON, which needs a fifth of the memory of its
    dicts and strings, and is decoded each time that it is read: a reader may change what it gets."""

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}

    def __getitem__(self, key: str) -> Manifest:
        return _DECODER.decode(self._packed[key])

    def __setitem__(self, key: str, manifest: Manifest) -> None:
        self._packed[key] = msgspec.json.encode(manifest)

    def __delitem__(self, key: str) -> None:
        del self._packed[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __contains__(self, key: object) -> bool:
        return key in self._packed

    def __len__(self) -> int:
        return len(self._packed)


LATEST: Final = 5
"""Objects that are displayed of each stage: as many as a user can follow."""

DeltaType = Literal["Added", "Updated", "Deleted", "Replaced"]
_DELTAS: Final[dict[str, DeltaType]] = {"ADDED": "Added", "MODIFIED": "Updated", "DELETED": "Deleted"}


class Passed(msgspec.Struct, frozen=True):
    """An object that passed a stage, and what was done with it there."""

    what: str
    resource: str
    key: str


class Stage(msgspec.Struct, frozen=True):
    count: int
    latest: list[Passed]
    """The last few objects, the oldest first."""


class Pipeline(msgspec.Struct, frozen=True):
    """The counts of each stage of the informer since this leader began."""

    version: int
    """The resourceVersion of the reflector's last event."""
    lists: int
    """The number of times that the reflector listed all objects: once at the start, and again after each
    watch that broke."""
    waiting: int
    """Objects whose deltas have not been popped yet."""
    reflector: Stage
    """Objects that were listed or watched."""
    delta_fifo: Stage
    """Deltas that were popped."""
    indexer: Stage
    """The objects in the indexer now."""
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
    """The newest version of every object, as of the last delta that was popped. It is also a Reader for
    admission."""

    def __init__(self) -> None:
        self.version = 0
        self.lists = 0
        self._deltas: OrderedDict[tuple[str, str], list[tuple[DeltaType, WatchEvent]]] = OrderedDict()
        self._objects: dict[str, MutableMapping[str, Manifest]] = {}
        self._reflector, self._delta_fifo = _Tally(), _Tally()
        self._indexer, self._handlers = _Tally(), _Tally()

    # Reflector

    def replace(self, listed: Iterable[WatchEvent], version: int) -> int:
        """Replace all objects by those of a list at ``version``. Return how many known objects are not in it:
        their deletion, and their last state, were missed."""
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
        """Add a delta. An object that waits already keeps its place in the queue; its deltas are popped
        together."""
        self._deltas.setdefault((event.resource, event.key), []).append((delta, event))

    @property
    def waiting(self) -> int:
        return len(self._deltas)

    def pop(self) -> Iterator[WatchEvent]:
        """Yield the deltas of the first object, in order, without those that a list shows unchanged. The
        caller applies each before it takes the next."""
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
        """Store a delta. Return the object before it, for the handlers; None = there was none."""
        objects = self._objects.get(event.resource)
        if objects is None:
            # Events outlive the pods that they are about, and only their recorder reads them.
            objects = self._objects[event.resource] = PackedObjects() if event.resource == EVENTS else {}
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

    def of(self, resource: str) -> Mapping[str, Manifest]:
        """Return the objects of a kind by key, in order of arrival. The caller does not change it."""
        return self._objects.get(resource, {})

    def resources(self) -> builtins.list[str]:
        """Return the resources of which there is or was an object."""
        return [*self._objects]

    def list(self, resource: str, namespace: str = "") -> ObjectList:
        return ObjectList.of(self.of(resource), self.version, namespace)

    def find(self, resource: str, key: str) -> ObjectList:
        return ObjectList.with_key(self.of(resource), self.version, key)

    def names(self, resource: str) -> builtins.list[str]:
        return [*self.of(resource)]

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
