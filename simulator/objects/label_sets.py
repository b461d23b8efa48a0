"""The labels of many objects, found by selector without a look at each."""

from collections.abc import Iterable, Mapping

from simulator.objects.labels import Selector

LabelSet = tuple[tuple[str, str], ...]
"""The labels of an object, in the order of their keys."""


def label_set(labels: Mapping[str, str]) -> LabelSet:
    return tuple(sorted(labels.items()))


class LabelSets:
    """Each is there once, in the order in which it was added."""

    def __init__(self, sets: Iterable[LabelSet] = ()) -> None:
        self._all: dict[LabelSet, None] = {}
        self._with: dict[tuple[str, str], dict[LabelSet, None]] = {}
        """A label -> those that have it."""
        for each in sets:
            self.add(each)

    def add(self, labels: LabelSet) -> None:
        if labels not in self._all:
            self._all[labels] = None
            for label in labels:
                self._with.setdefault(label, {})[labels] = None

    def remove(self, labels: LabelSet) -> None:
        del self._all[labels]
        for label in labels:
            del self._with[label][labels]
            if not self._with[label]:
                del self._with[label]

    def matching(self, selector: Selector) -> list[LabelSet]:
        """Return those that a selector matches, in their order."""
        found = self._all
        for key, operator, values in selector.requirements:
            if operator == "In" and len(values) == 1:
                found = min(found, self._with.get((key, values[0]), {}), key=len)
        return [each for each in found if selector.matches(dict(each))]
