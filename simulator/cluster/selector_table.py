"""Which of many selectors match these labels, without trying them all."""

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from simulator.objects.labels import Labels, Selector

T = TypeVar("T", bound=Hashable)
Label = tuple[str, str]


class SelectorTable(Generic[T]):
    """Items by selector. An item whose selector demands one certain value of a label is found by that label;
    the few others are candidates always."""

    def __init__(self) -> None:
        self._items: dict[Label | None, dict[T, None]] = {}

    def add(self, selector: Selector, item: T) -> None:
        self._items.setdefault(demanded(selector), {})[item] = None

    def remove(self, selector: Selector, item: T) -> None:
        """Raises KeyError where the item was not added under this selector."""
        label = demanded(selector)
        found = self._items[label]
        del found[item]
        if not found:
            del self._items[label]

    def candidates(self, labels: Labels) -> Iterator[T]:
        """All items whose selector matches ``labels``, and perhaps some whose does not."""
        yield from self._items.get(None, ())
        for label in labels.items():
            yield from self._items.get(label, ())


def demanded(selector: Selector) -> Label | None:
    """A label that all must have that the selector matches; None where it does not ask for one value."""
    for requirement in selector.requirements:
        if requirement.operator == "In" and len(requirement.values) == 1:
            return requirement.key, requirement.values[0]
    return None
