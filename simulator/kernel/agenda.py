"""The agenda: entries in the order in which they are to be done."""

import heapq
from itertools import count
from typing import Final, Generic, NamedTuple, TypeVar

from simulator.kernel.clock import END, Micros

T = TypeVar("T")

SLACK: Final = 64
"""Number of cancelled entries that the heap may hold beside one for each live entry, before it is rebuilt."""


class AgendaPlace(NamedTuple):
    """The place of an entry in the order. Of entries with one time, the lower turn goes first; of entries
    with one time and turn, the one that was added first."""

    time: Micros
    turn: int
    number: int


class Agenda(Generic[T]):
    """The entries by time, turn and number. No two entries have the same place."""

    def __init__(self) -> None:
        self._counter = count()
        self._heap: list[AgendaPlace] = []
        self._entries: dict[int, T] = {}

    def add(self, time: Micros, turn: int, entry: T) -> int:
        """Add an entry; return its number, for :meth:`cancel`. An entry after END is never due."""
        number = next(self._counter)
        if time <= END:
            self._entries[number] = entry
            heapq.heappush(self._heap, AgendaPlace(time, turn, number))
        return number

    def cancel(self, number: int) -> None:
        """Remove an entry. Nothing happens if it was taken or cancelled before."""
        self._entries.pop(number, None)
        if len(self._heap) > 2 * len(self._entries) + SLACK:
            self._heap = [place for place in self._heap if place.number in self._entries]
            heapq.heapify(self._heap)

    def first(self) -> AgendaPlace | None:
        """Return the place of the first entry; None if there is no entry."""
        heap = self._heap
        while heap and heap[0].number not in self._entries:
            heapq.heappop(heap)
        return heap[0] if heap else None

    def due(self) -> Micros | None:
        """Return the time of the first entry; None if there is no entry."""
        place = self.first()
        return None if place is None else place.time

    def entry(self, place: AgendaPlace) -> T:
        """Return the entry at a place that :meth:`first` returned."""
        return self._entries[place.number]

    def take(self) -> T:
        """Remove the first entry and return it. Raises KeyError if there is no entry."""
        if self.first() is None:
            raise KeyError("the agenda is empty")
        return self._entries.pop(heapq.heappop(self._heap).number)

    def postpone(self, time: Micros, entry: T) -> None:
        """Replace the first entry by one at a later time, with the same turn and number. Raises KeyError if
        there is no entry."""
        place = self.first()
        if place is None:
            raise KeyError("the agenda is empty")
        heapq.heapreplace(self._heap, place._replace(time=time))
        self._entries[place.number] = entry
