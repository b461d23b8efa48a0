"""All that this process knows of one sandbox, kept up to date by :mod:`schedviz.store.changes`."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Final, Literal

import msgspec

from schedviz.cache.held import Numbered, RingEvent, Rings, Trace
from schedviz.cache.present import Newest, Present
from schedviz.store import Gone, NoSandbox, Sandbox, Store, codec
from schedviz.store.changes import Changes, Position, Whole
from schedviz.store.model import LogEntry
from schedviz.store.wall import Wall
from simulator.trace import LaneEntry

ALWAYS_HELD_BYTES: Final = 500_000
"""Of the objects of one sandbox, as JSON: some 300 pods. More are held where the process has room; else none
is, and they are read from the store."""

State = Literal["current", "down", "gone", "failed"]
"""current: as the store was at the last look. down: the store does not answer. gone: there is no such sandbox
any more. failed: what is stored cannot be read."""


class News(msgspec.Struct, frozen=True):
    """What is new since a position, all of it as of one revision."""

    present: Present
    events: list[RingEvent]
    """Watch events of the resources that were asked for."""
    trace: list[Numbered]


class SandboxCache:
    """Any thread may use it. One lock guards what it holds; nothing is awaited and no store is asked for
    under it. What is handed out is not changed afterwards: a collection that a :class:`Present` has is copied
    before the next write to it."""

    def __init__(self, store: Store, name: str, room: "Callable[[SandboxCache], int]") -> None:
        """room: how many bytes of objects a cache may hold now."""
        self.name = name
        self.bytes = 0
        """Of the objects that are held, as JSON."""
        self._room = room
        self._store = store
        self._lock = Lock()
        self._load_lock = Lock()
        self._holds_objects = True
        self._state: State = "current"
        self._position: Position | None = None
        """Of what is held; None before it was read."""
        self._outdated = True
        """All of it must be read anew."""
        self._generation = 0
        """Counts how often all of it was read."""
        self._listeners: dict[asyncio.AbstractEventLoop, Counter[asyncio.Event]] = {}

    # Keeping it up to date

    @property
    def state(self) -> State:
        return self._state

    @property
    def position(self) -> Position | None:
        """From which to go on; None where it must be read anew."""
        with self._lock:
            return None if self._outdated else self._position

    @property
    def version(self) -> int:
        """The resourceVersion of the last write that is held; 0 before it was read."""
        with self._lock:
            return self._position.version if self._position else 0

    def refresh(self) -> None:
        """Bring it to the present: one round trip, or all of the sandbox where it must be read anew. What was
        written before the call is in it then. Raises NoSandbox, and what redis-py raises."""
        while True:
            position = self.position
            if position is None:
                if self.load():
                    return
                continue  # another thread read it, perhaps before the call
            (changes,) = self._store.read_changes([(self.name, position)])
            self.apply(changes)
            if changes.outcome == "gone":
                raise NoSandbox(self.name)
            if changes.outcome != "anew" and self.position is not None:
                return

    def load(self) -> bool:
        """Read all of it; False where another thread just did. Raises as ``refresh`` does."""
        with self._load_lock:
            if self.position is not None:
                return False
            self._fill(self._read_whole())
            return True

    def apply(self, changes: Changes) -> None:
        """Take in what was read; what is known already is skipped, as two threads may have read the same."""
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
                    if self._position == changes.position:  # nobody has read it anew meanwhile
                        self._outdated = True
                    return
                case "changes":
                    held = self._position
                    if held is None or self._outdated or changes.position.revision <= held.revision:
                        return
                    self._take_in(changes, held)
                    self._state = "current"
        self._notify()

    def enter(self, state: State) -> None:
        """It is so from now on, until it was read again."""
        if self._state not in (state, "gone"):
            self._state = state
            self._notify()

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
        lanes = {pod: codec.decode_lane(place) for pod, place in whole.lanes.items()}
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
            self.bytes = sum(len(entry.json) for found in objects.values() for entry in found.values())
            self._lanes: dict[str, LaneEntry] = lanes
            self._trace = trace
            self._rings = Rings(whole.position.version)
            self._shared: set[str] = set()
            self._lanes_shared = False
            self._limit_objects()
            self._generation += 1
            self._position, self._outdated = whole.position, False
            self._state = "current"
        self._notify()

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
            self._lanes = {pod: codec.decode_lane(place.encode()) for pod, place in changes.lanes.items()}
            self._lanes_shared = False
        elif changes.moved:
            if self._lanes_shared:
                self._lanes, self._lanes_shared = {**self._lanes}, False
            for pod, place in changes.moved:
                if place:
                    self._lanes[pod] = codec.decode_lane(place.encode())
                else:
                    self._lanes.pop(pod, None)

    # Reading it

    def present(self) -> Present:
        """It as it was at the last look."""
        with self._lock:
            self._shared |= self._objects.keys()
            return self._present({**self._objects} if self._holds_objects else None)

    def news(self, since: Present, resources: tuple[str, ...]) -> News | None:
        """What is new since then; None where that is not known: begin again with ``present``. The ``present``
        that comes with it reads objects from the store."""
        version, seq, generation = since.position.version, since.position.seq, since.generation
        with self._lock:
            events = self._rings.after(resources, version)
            if events is None or generation != self._generation:
                return None
            return News(self._present(None), events, self._trace.after(seq))

    def events(self, resource: str, version: int) -> tuple[list[RingEvent], int] | None:
        """The watch events of a resource after a version, and the version until which these are all; None
        where they are not held. Raises Gone for a version that was never reached, as the store lost its last
        second."""
        with self._lock:
            if self._outdated or self._position is None:
                return None
            if version > self._position.version:
                raise Gone(version)
            found = self._rings.after((resource,), version)
            return None if found is None else (found, self._position.version)

    def _present(self, objects: dict[str, dict[str, LogEntry]] | None) -> Present:
        assert self._position is not None, "it was read before"
        self._lanes_shared = True
        return Present(
            self._sandbox,
            self._position,
            self._wall,
            meta=self._meta,
            values=self._values,
            newest=self._newest,
            lanes=self._lanes,
            trace=self._trace,
            objects=objects,
            generation=self._generation,
        )

    # Telling who waits for changes

    def listen(self, event: asyncio.Event) -> None:
        """Set the event, which is of the running loop, whenever there is something new."""
        with self._lock:
            self._listeners.setdefault(asyncio.get_running_loop(), Counter())[event] += 1

    def unlisten(self, event: asyncio.Event) -> None:
        with self._lock:
            for loop, events in [*self._listeners.items()]:
                events.pop(event, None)
                if not events:
                    del self._listeners[loop]

    def _notify(self) -> None:
        with self._lock:
            listeners = {loop: [*events] for loop, events in self._listeners.items()}
        for loop, events in listeners.items():
            with suppress(RuntimeError):  # the loop is closed: nobody waits there any more
                loop.call_soon_threadsafe(_set_all, events)


def _set_all(events: list[asyncio.Event]) -> None:
    for event in events:
        event.set()


def _entry(resource: str, key: str, stored: bytes) -> LogEntry:
    version, _, json = stored.partition(b" ")
    return LogEntry(int(version), "ADDED", resource, key, json)
