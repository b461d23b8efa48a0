"""The last trace events and the last watch events of a cache, each with its own bound."""

import time
from collections import deque
from collections.abc import Callable, Iterable
from itertools import takewhile
from threading import Lock
from typing import Final, TypeVar

from schedviz.store.changes import TRACE_READ
from schedviz.store.mentions import mentions
from schedviz.store.model import LogEntry
from simulator.trace import Event

RING_EVENTS: Final = 500
RING_SECONDS: Final = 30.0
"""Watch events that are kept of each resource, and for how long at most after the next one came. A live page
reads them within a second, and a watch that was cut off begins again within a few; one that is further behind
reads the watch log. 500 events of pods have 1.3 MB, which a busy sandbox holds. 100 sandboxes with a new pod
every five seconds hold 8 MB in all."""

Numbered = tuple[int, Event]
T = TypeVar("T")


def newer(held: deque[T], number: int, number_of: Callable[[T], int]) -> list[T]:
    """Return the entries after a number, oldest first. Only these are looked at."""
    return [*takewhile(lambda each: number_of(each) > number, reversed(held))][::-1]


class Trace:
    """The last TRACE_READ trace events, with indexes by pod and by node. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._events: deque[Numbered] = deque()
        # Lists, as an empty deque has 760 bytes, and most pods have fewer than ten events.
        self._by_pod: dict[str, list[Numbered]] = {}
        self._by_node: dict[str, list[Numbered]] = {}
        self._all: tuple[Numbered, ...] | None = None

    def add(self, number: int, event: Event) -> None:
        """Add an event that is newer than all others. If there is a gap before it, the others are dropped."""
        with self._lock:
            if self._events and self._events[-1][0] != number - 1:
                for held in (self._events, self._by_pod, self._by_node):
                    held.clear()
            if len(self._events) == TRACE_READ:
                self._drop_first()
            numbered = number, event
            self._events.append(numbered)
            self._all = None
            pods, nodes = mentions(event)
            for index, names in ((self._by_pod, pods), (self._by_node, nodes)):
                for name in names:
                    index.setdefault(name, []).append(numbered)

    def all(self) -> tuple[Numbered, ...]:
        """Return all events, oldest first."""
        with self._lock:
            if self._all is None:
                self._all = tuple(self._events)
            return self._all

    def after(self, number: int) -> list[Numbered]:
        with self._lock:
            return newer(self._events, number, lambda numbered: numbered[0])

    def about_pod(self, key: str) -> list[Numbered]:
        with self._lock:
            return [*self._by_pod.get(key, ())]

    def about_node(self, name: str) -> list[Numbered]:
        with self._lock:
            return [*self._by_node.get(name, ())]

    def _drop_first(self) -> None:
        _, event = self._events.popleft()
        pods, nodes = mentions(event)
        for index, names in ((self._by_pod, pods), (self._by_node, nodes)):
            for name in names:
                del index[name][0]
                if not index[name]:
                    del index[name]


class RingEvent:
    """A watch event. ``lines``: its encoded lines, by representation, so that each is encoded once. ``at``:
    when it came, by time.monotonic()."""

    __slots__ = ("at", "entry", "lines")

    def __init__(self, entry: LogEntry, at: float = 0.0) -> None:
        self.entry = entry
        self.at = at
        self.lines: dict[object, bytes] = {}


class Rings:
    """The last watch events of each resource: at most RING_EVENTS, of RING_SECONDS."""

    def __init__(self, version: int) -> None:
        """version: all events after it will be added."""
        self._complete_after = version
        self._rings: dict[str, deque[RingEvent]] = {}
        self._trimmed: dict[str, int] = {}
        """Resource -> the version of the last event that was dropped."""

    def add(self, entry: LogEntry) -> None:
        ring = self._rings.setdefault(entry.resource, deque())
        now = time.monotonic()
        while ring and (len(ring) >= RING_EVENTS or ring[0].at < now - RING_SECONDS):
            self._trimmed[entry.resource] = ring.popleft().entry.version
        ring.append(RingEvent(entry, now))

    def after(self, resources: Iterable[str], version: int) -> list[RingEvent] | None:
        """Return the events of these resources after a version, in order; None = some of them were
        dropped."""
        found: list[RingEvent] = []
        for resource in resources:
            if version < self._trimmed.get(resource, self._complete_after):
                return None
            found += newer(self._rings.get(resource, deque()), version, lambda event: event.entry.version)
        return sorted(found, key=lambda event: event.entry.version)
