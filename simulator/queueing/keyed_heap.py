"""A heap whose items can be found, replaced and removed by name (pkg/scheduler/backend/heap, v1.34)."""

import heapq
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")

SLACK = 64
"""Outdated entries that are tolerated, beyond one per live item, before the heap is built anew."""


class KeyedHeap(Generic[T]):
    """Items by name, popped in order of ``order(item)``, which must tell all items apart.

    An entry that was replaced or removed stays in the heap until it comes to the top or the heap is rebuilt.
    """

    def __init__(self, order: Callable[[T], tuple[Any, ...]]) -> None:
        self._order = order
        self._items: dict[str, T] = {}
        self._entries: dict[str, tuple[Any, ...]] = {}
        self._heap: list[tuple[tuple[Any, ...], str]] = []

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, name: str) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[T]:
        """The items in the order in which they would be popped."""
        return iter(sorted(self._items.values(), key=self._order))

    def get(self, name: str) -> T | None:
        return self._items.get(name)

    def set(self, name: str, item: T) -> None:
        """Add, or put in the place of the item of this name, ordered anew."""
        self._items[name] = item
        order = self._entries[name] = self._order(item)
        heapq.heappush(self._heap, (order, name))
        if len(self._heap) > 2 * len(self._items) + SLACK:
            self._heap = [(order, name) for name, order in self._entries.items()]
            heapq.heapify(self._heap)

    def remove(self, name: str) -> T | None:
        """The removed item; None where there is none."""
        self._entries.pop(name, None)
        return self._items.pop(name, None)

    def peek(self) -> T | None:
        while self._heap:
            order, name = self._heap[0]
            if self._entries.get(name) == order:
                return self._items[name]
            heapq.heappop(self._heap)
        return None

    def pop(self) -> T | None:
        item = self.peek()
        if item is not None:
            self.remove(self._heap[0][1])
            heapq.heappop(self._heap)
        return item
