"""KeyedHeap: a heap whose items can be found and removed by key (pkg/scheduler/backend/heap)."""

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")

MAX_EXTRA_OUTDATED = 64
"""The heap is rebuilt when it has more outdated entries than items plus this number."""


class KeyedHeap(Generic[T]):
    """Items by key. :meth:`pop` returns the item with the smallest ``order(item)``, which must be unique.

    The heap entry of an item that was replaced or removed is outdated. It remains in the heap until it is the
    smallest or the heap is rebuilt.
    """

    def __init__(self, order: Callable[[T], tuple[Any, ...]]) -> None:
        self._order = order
        self._items: dict[str, T] = {}
        self._entries: dict[str, tuple[Any, ...]] = {}
        self._heap: list[tuple[tuple[Any, ...], str]] = []

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[T]:
        """Iterate over the items in the order in which they would be popped."""
        return iter(sorted(self._items.values(), key=self._order))

    def items(self) -> Iterable[T]:
        """Return the items in any order."""
        return self._items.values()

    def get(self, key: str) -> T | None:
        return self._items.get(key)

    def set(self, key: str, item: T) -> None:
        """Add an item, or replace the item of this key. The order of the item is computed again."""
        self._items[key] = item
        order = self._entries[key] = self._order(item)
        heapq.heappush(self._heap, (order, key))
        if len(self._heap) > 2 * len(self._items) + MAX_EXTRA_OUTDATED:
            self._heap = [(order, key) for key, order in self._entries.items()]
            heapq.heapify(self._heap)

    def remove(self, key: str) -> T | None:
        """Remove and return an item; return None if there is none of this key."""
        self._entries.pop(key, None)
        return self._items.pop(key, None)

    def peek(self) -> T | None:
        while self._heap:
            order, key = self._heap[0]
            if self._entries.get(key) == order:
                return self._items[key]
            heapq.heappop(self._heap)
        return None

    def pop(self) -> T | None:
        item = self.peek()
        if item is not None:
            self.remove(self._heap[0][1])
            heapq.heappop(self._heap)
        return item
