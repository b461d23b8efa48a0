"""What is to be done when: the simulation's clock and its list of things to come, in the manner of SimPy."""

import heapq
from collections.abc import Callable
from enum import IntEnum
from itertools import count

from simulator.api import Micros
from simulator.scheduler.points import Points

SLACK = 64
"""Cancelled entries that are tolerated, beyond one per live one, before the heap is cleared of them."""


class Turn(IntEnum):
    """Who goes first among things due at the same time: the world before the scheduler, and of the scheduler
    what is under way before what is new."""

    TIMETABLE = 0
    KUBELET = 1
    CONTROLLER = 2
    BINDING = 3
    EVICTION = 4


Action = Callable[[], Points | None]
"""A thing to do; a cycle is handed back, for the simulation to go through its points."""


class Agenda:
    """Things to be done, by time, turn, and order of entry, so that no two are ever due alike."""

    def __init__(self) -> None:
        self._counter = count()
        self._heap: list[tuple[Micros, Turn, int]] = []
        self._actions: dict[int, Action] = {}

    def add(self, time: Micros, turn: Turn, action: Action) -> int:
        """Have something done at a time; the number by which it can be cancelled."""
        number = next(self._counter)
        self._actions[number] = action
        heapq.heappush(self._heap, (time, turn, number))
        return number

    def cancel(self, number: int) -> None:
        """Nothing happens where it is done already."""
        self._actions.pop(number, None)
        if len(self._heap) > 2 * len(self._actions) + SLACK:
            self._heap = [entry for entry in self._heap if entry[2] in self._actions]
            heapq.heapify(self._heap)

    def due(self) -> Micros | None:
        """When the first thing is due; None = there is nothing to do."""
        while self._heap and self._heap[0][2] not in self._actions:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def run_first(self) -> Points | None:
        """Do the first thing; the cycle that begins with it. Raises KeyError where there is none."""
        if self.due() is None:
            raise KeyError("nothing is due")
        _, _, number = heapq.heappop(self._heap)
        return self._actions.pop(number)()
