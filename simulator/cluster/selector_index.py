"""SelectorIndex: finds the label selectors that can match given labels without evaluating all of them."""

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from simulator.objects.labels import Labels, Selector

T = TypeVar("T", bound=Hashable)
Label = tuple[str, str]


class SelectorIndex(Generic[T]):
    """Items by label selector.

    An item whose selector requires one value of a label is stored under this label. The other items are
    candidates for all labels."""

    def __init__(self) -> None:
        self._items: dict[Label | None, dict[T, None]] = {}

    def add(self, selector: Selector, item: T) -> None:
        self._items.setdefault(required_label(selector), {})[item] = None

    def remove(self, selector: Selector, item: T) -> None:
        """Remove an item. Raises KeyError if it was not added with this selector."""
        label = required_label(selector)
        found = self._items[label]
        del found[item]
        if not found:
            del self._items[label]

    def candidates(self, labels: Labels) -> Iterator[T]:
        """Yield all items whose selector matches ``labels``, and possibly items whose selector does not."""
        yield from self._items.get(None, ())
        for label in labels.items():
            yield from self._items.get(label, ())


def required_label(selector: Selector) -> Label | None:
    """Return a label (key and value) that everything the selector matches must have, None if the selector
    has no requirement of the form ``key in (value)``."""
    for requirement in selector.requirements:
        if requirement.operator == "In" and len(requirement.values) == 1:
            return requirement.key, requirement.values[0]
    return None
