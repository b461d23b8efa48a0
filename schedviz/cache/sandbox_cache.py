"""The cache of one sandbox, brought up to date by :mod:`schedviz.store.changes`."""

from collections.abc import Callable
from threading import Lock
from typing import Final, Literal

import msgspec

from schedviz.cache.held import Numbered, RingEvent, Rings, Trace
from schedviz.cache.listeners import Listeners
from schedviz.cache.present import Newest, Present
from schedviz.store import Gone, Meta, NoSandbox, Sandbox, Store, codec
from schedviz.store.changes import Changes, Position, Whole
from schedviz.store.model import LogEntry
from schedviz.store.wall import Wall
from simulator.trace import QueuePlace

ALWAYS_HELD_BYTES: Final = 500_000
"""Size of the objects of one sandbox, as JSON, that are always cached: about 300 pods. If there are more and
the process has no room for them, none is cached, and they are read from the store."""

CacheState = Literal["current", "down", "gone", "failed"]
"""The states of a cache. current: as the store was at the last read. down: the store does not answer. gone:
the sandbox was deleted. failed: the stored data cannot be decoded."""


class News(msgspec.Struct, frozen=True):
    """The changes since an earlier :class:`Present`, as of one revision."""

    present: Present
    events: list[RingEvent]
    """The watch events of the requested resources."""
    trace: list[Numbered]


class SandboxCache:
    """The cached contents of one sandbox. Any thread may use it. One lock protects its contents; it is never
    held while the store is read.

    What a :class:`Present` has does not change: its collections are copied before the next write to
    them."""

    def __init__(self, store: Store, name: str, room: "Callable[[SandboxCache], int]") -> None:
        """room: returns how many bytes of objects a cache may have now."""
        self.name = name
        self.bytes = 0
        """The size of the cached objects, as JSON."""
        self._room = room
        self._store = store
        self._lock = Lock()
        self._load_lock = Lock()
        self._holds_objects = True
        self._state: CacheState = "current"
        self._position: Position | None = None
        """The position of the contents; None = it was not read yet."""
        self._outdated = True
        """Whether all of it must be read again."""
        self._generation = 0
        """The number of times that the whole sandbox was read."""
        self.trace = ""
        """The context of the trace of a change that no frame shows yet."""
        self.listeners = Listeners()
        """The listeners to each change of the contents or the state."""

    # Reading the store

    @property
    def state(self) -> CacheState:
        return self._state

    @property
    def position(self) -> Position | None:
        """The position of the contents; None = all of it must be read again."""
        with self._lock:
            return None if self._outdated else self._position

    @property
    def version(self) -> int:
        """The resourceVersion of the last write in the cache; 0 = it was not read yet."""
        with self._lock:
            return self._position.version if self._position else 0

    @property
    def access(self) -> str:
        """The access record; "" = there is none, or it was not read yet."""
        with self._lock:
            return self._values.access if self._position else ""

    def refresh(self) -> bytes:
        """Read the changes in one round trip, or all of the sandbox if it must be read again. Afterwards the
        cache has everything that was written before the call. Returns the hold of a presenter as it is stored
        (:class:`schedviz.store.hold.Hold`). Raises NoSandbox, and redis-py's exceptions."""
        while True:
            position = self.position
            if position is None:
                whole = self.load()
                if whole is not None:
                    return whole.hold
                continue  # another thread read it, perhaps before the call
            (changes,) = self._store.read_changes([(self.name, position)])
            self.apply(changes)
            if changes.outcome == "gone":
                raise NoSandbox(self.name)
            if changes.outcome != "anew" and self.position is not None:
                return changes.hold

    def load(self) -> Whole | None:
        """Read all of it; None = another thread did so meanwhile. Raises as :meth:`refresh` does."""
        with self._load_lock:
            if self.position is not None:
                return None
            whole = self._read_whole()
            self._fill(whole)
            return whole

    def apply(self, changes: Changes) -> None:
        """Apply changes that were read. Those that the cache has are skipped: two threads may have read the
        same changes."""
        with self._lock:
            match changes.outcome:
                case "same":
                    self._wall = Wall(changes.wall)
                    if self._state != "down":
                        return
                    self._state = "current"
                case "gone":
                    self._state = "gone"
                case "anew":
                    if self._position == changes.position:  # it was not read again meanwhile
                        self._outdated = True
                    return
                case "changes":
                    held = self._position
                    if held is None or self._outdated or changes.position.revision <= held.revision:
                        return
                    self._take_in(changes, held)
                    self._state = "current"
        self.listeners.notify()

    def enter(self, state: CacheState) -> None:
        """Set the state, until the next read sets another one."""
        if self._state not in (state, "gone"):
            self._state = state
            self.listeners.notify()

    def _read_whole(self) -> Whole:
        try:
            return self._store.read_whole(self.name, objects=self._holds_objects)
        except NoSandbox:
            self.enter("gone")
            raise

    def _fill(self, whole: Whole) -> None:
        objects = {
            resource: {key: _entry(resource, key, stored) for key, stored in found.items()}
            for resource, found in whole.objects.items()
        }
        queue_places = {pod: codec.decode_queue_place(place) for pod, place in whole.lanes.items()}
        trace = Trace()
        for entry in whole.trace:
            trace.add(*codec.decode_trace(entry))
        with self._lock:
            self._sandbox: Sandbox = self._store.handle(self.name)
            self._wall = Wall(whole.wall)
            self._meta = whole.meta
            self._values = whole.values
            self._newest = Newest(whole.decision)
            self._objects = objects
            self._versions = dict.fromkeys(objects, whole.position.version)
            self.bytes = sum(len(entry.json) for found in objects.values() for entry in found.values())
            self._queue_places: dict[str, QueuePlace] = queue_places
            self._trace = trace
            self._rings = Rings(whole.position.version)
            self._shared: set[str] = set()
            self._queue_places_shared = False
            self._limit_objects()
            self._generation += 1
            self._position, self._outdated = whole.position, False
            self._state = "current"
        self.listeners.notify()

    def _take_in(self, changes: Changes, held: Position) -> None:
        self._wall = Wall(changes.wall)
        for entry in changes.log:
            if entry.version > held.version:
                self._write(entry)
        self._limit_objects()
        for number, event in changes.trace:
            if number > held.seq:
                self._trace.add(number, codec.decode_event(event))
        self._place(changes)
        if changes.decision is not None:
            self._newest = Newest(changes.decision)
        if changes.meta is not None:
            self._meta = changes.meta.encode()
        if changes.values is not None:
            self._values = changes.values
        self._position = changes.position

    def _write(self, entry: LogEntry) -> None:
        self._rings.add(entry)
        if not self._holds_objects:
            return
        objects = self._objects.setdefault(entry.resource, {})
        self._versions[entry.resource] = entry.version
        if entry.resource in self._shared:
            objects = self._objects[entry.resource] = {**objects}
            self._shared.discard(entry.resource)
        if before := objects.get(entry.key):
            self.bytes -= len(before.json)
        if entry.type == "DELETED":
            objects.pop(entry.key, None)
        else:
            objects[entry.key] = entry
            self.bytes += len(entry.json)

    def _limit_objects(self) -> None:
        if self.bytes > ALWAYS_HELD_BYTES and self.bytes > self._room(self):
            self._holds_objects = False
            self._objects, self.bytes = {}, 0

    def _place(self, changes: Changes) -> None:
        if changes.lanes is not None:
            self._queue_places = {
                pod: codec.decode_queue_place(place.encode()) for pod, place in changes.lanes.items()
            }
            self._queue_places_shared = False
        elif changes.moved:
            if self._queue_places_shared:
                self._queue_places, self._queue_places_shared = {**self._queue_places}, False
            for pod, place in changes.moved:
                if place:
                    self._queue_places[pod] = codec.decode_queue_place(place.encode())
                else:
                    self._queue_places.pop(pod, None)

    # Reading the cache

    def present(self) -> Present:
        """Return the contents as of the last read."""
        with self._lock:
            self._shared |= self._objects.keys()
            return self._present({**self._objects} if self._holds_objects else None)

    def news(self, since: Present, resources: tuple[str, ...]) -> News | None:
        """Return the changes since an earlier present; None = some of them were dropped, and the reader must
        begin again with :meth:`present`. The new present reads objects from the store."""
        version, seq, generation = since.position.version, since.position.seq, since.generation
        with self._lock:
            events = self._rings.after(resources, version)
            if events is None or generation != self._generation:
                return None
            return News(self._present(None), events, self._trace.after(seq))

    def events(self, resource: str, version: int) -> tuple[list[RingEvent], int] | None:
        """Return the watch events of a resource after a version, and the version up to which they are
        complete; None = some of them were dropped. Raises Gone if the version was never reached: the store
        lost its last second."""
        with self._lock:
            if self._outdated or self._position is None:
                return None
            if version > self._position.version:
                raise Gone(version)
            found = self._rings.after((resource,), version)
            return None if found is None else (found, self._position.version)

    def meta(self) -> Meta:
        """Return the description of the sandbox as it was read last. Raises Unreadable."""
        return codec.decode_meta(self._sandbox.name, self._meta)

    def _present(self, objects: dict[str, dict[str, LogEntry]] | None) -> Present:
        assert self._position is not None, "the cache was read before"
        self._queue_places_shared = True
        return Present(
            self._sandbox,
            self._position,
            self._wall,
            meta=self._meta,
            values=self._values,
            newest=self._newest,
            queue_places=self._queue_places,
            trace=self._trace,
            objects=objects,
            versions={**self._versions} if objects is not None else {},
            generation=self._generation,
        )


def _entry(resource: str, key: str, stored: bytes) -> LogEntry:
    version, json = codec.split_object(stored)
    return LogEntry(version, "ADDED", resource, key, json)
