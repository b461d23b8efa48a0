"""Walks through objects with their types: the fields that an object has, how two objects differ, and an
object merged with another or without some fields.

Upstream: structured-merge-diff/typed (tofieldset.go, compare.go, merge.go, remove.go).
"""

from collections import deque
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from simulator.apiserver.managed_fields.field_paths import (
    FieldPath,
    FieldSet,
    PathElement,
    field_element,
)
from simulator.apiserver.managed_fields.field_types import FieldType


class _Missing:
    """The value of a field that an object has not; null is a value."""


MISSING: Final = _Missing()


class Comparison(NamedTuple):
    """The differences of the second of two objects from the first."""

    added: FieldSet
    modified: FieldSet
    removed: FieldSet

    @property
    def changed(self) -> FieldSet:
        return self.modified | self.added

    def without(self, ignored: FieldSet) -> "Comparison":
        """Return the comparison without these fields and all that is below them."""
        return Comparison(*(without_prefixes(fields, ignored) for fields in self))


def without_prefixes(fields: FieldSet, prefixes: FieldSet) -> FieldSet:
    """Return the fields that are not below one of the prefixes (Set.RecursiveDifference)."""
    if not prefixes:
        return fields
    lengths = {len(prefix) for prefix in prefixes}
    return frozenset(path for path in fields if not any(path[:length] in prefixes for length in lengths))


def fields_of(kind: FieldType, value: Any) -> FieldSet:
    """Return the fields that a manager owns who applies this value. Raises ItemError."""
    return frozenset(_owned(kind.deduced(value), value, ()))


def _owned(kind: FieldType, value: Any, path: FieldPath) -> Iterator[FieldPath]:
    if kind.kind == "scalar" or kind.is_atomic:
        yield path
    elif kind.kind == "list":
        for item in value or ():
            below = (*path, kind.element_of(item))
            yield from _owned(kind.items.deduced(item), item, below)
            yield below
    else:
        for name, item in (value or {}).items():
            declared = kind.field(name)
            if declared is None:
                continue
            below = (*path, field_element(name))
            yield from _owned(declared.deduced(item), item, below)
            if item is None or item == {} or name not in kind.fields:
                yield below


def compare(kind: FieldType, old: Any, new: Any) -> Comparison:
    """Compare two values of a type. Raises ItemError."""
    walk = _ComparingWalk()
    walk.compare(kind, old, new, ())
    return Comparison(frozenset(walk.added), frozenset(walk.modified), frozenset(walk.removed))


class _ComparingWalk:
    def __init__(self) -> None:
        self.added: set[FieldPath] = set()
        self.modified: set[FieldPath] = set()
        self.removed: set[FieldPath] = set()

    def compare(self, kind: FieldType, old: Any, new: Any, path: FieldPath) -> None:
        deduced = kind.deduced(old if new is MISSING else new)
        if self._is_leaf(deduced, old, new):
            self._add(path, old, new)
            return
        if deduced.kind == "list":
            self._compare_lists(deduced, _present(old, []), _present(new, []), path)
        else:
            before, after = _present(old, {}), _present(new, {})
            for name in {**before, **after}:
                declared = deduced.field(name)
                if declared is not None:
                    below = (*path, field_element(name))
                    self.compare(declared, before.get(name, MISSING), after.get(name, MISSING), below)
        if old is MISSING or new is MISSING:
            self._add(path, old, new)

    def _is_leaf(self, kind: FieldType, old: Any, new: Any) -> bool:
        """Whether the value is compared as a whole. Where both sides are empty, null and empty differ."""
        if kind.kind == "scalar" or kind.is_atomic:
            return True
        container = list if kind.kind == "list" else dict
        if any(value not in (None, MISSING) and not isinstance(value, container) for value in (old, new)):
            return True
        return not _present(old, ()) and not _present(new, ())

    def _add(self, path: FieldPath, old: Any, new: Any) -> None:
        if old is MISSING:
            self.added.add(path)
        elif new is MISSING:
            self.removed.add(path)
        elif old != new:
            self.modified.add(path)

    def _compare_lists(self, kind: FieldType, old: list[Any], new: list[Any], path: FieldPath) -> None:
        before, after = _by_element(kind, old), _by_element(kind, new)
        for element in {**before, **after}:
            below = (*path, element)
            lefts, rights = before.get(element, []), after.get(element, [])
            if len(lefts) > 1 and len(rights) > 1:
                if lefts != rights:
                    self.modified.add(below)
            elif len(lefts) > 1:
                if rights:
                    self.compare(kind.items, MISSING, rights[0], below)
                self.removed.add(below)
            elif len(rights) > 1:
                if lefts:
                    self.compare(kind.items, lefts[0], MISSING, below)
                self.added.add(below)
            else:
                left, right = (items[0] if items else MISSING for items in (lefts, rights))
                self.compare(kind.items, left, right, below)


def _present(value: Any, empty: Any) -> Any:
    return empty if value is MISSING or value is None else value


def _by_element(kind: FieldType, items: list[Any]) -> dict[PathElement, list[Any]]:
    found: dict[PathElement, list[Any]] = {}
    for item in items:
        found.setdefault(kind.element_of(item), []).append(item)
    return found


def merge(kind: FieldType, old: Any, new: Any) -> Any:
    """Merge a value into another: what the new one does not say stays. MISSING if nothing is left. Raises
    ItemError."""
    if new is MISSING:
        return old
    deduced = kind.deduced(new)
    container = list if deduced.kind == "list" else dict
    if (
        deduced.kind == "scalar"
        or deduced.is_atomic
        or (not _present(old, ()) and not new)
        or not isinstance(_present(old, container()), container)
    ):
        return new
    if deduced.kind == "list":
        items = _merge_lists(deduced, _present(old, []), new or [])
        return items or MISSING
    before, after = _present(old, {}), new or {}
    merged = {}
    for name in {**before, **after}:
        value = merge(
            deduced.field(name) or FieldType({}), before.get(name, MISSING), after.get(name, MISSING)
        )
        if value is not MISSING:
            merged[name] = value
    return merged or MISSING


def _merge_lists(kind: FieldType, old: list[Any], new: list[Any]) -> list[Any]:
    """Merge two lists: the items of the new one in its order, each other item where it was, as far as
    possible (visitListItems in merge.go)."""
    before, after = _by_element(kind, old), {kind.element_of(item): item for item in new}
    left, right = [kind.element_of(item) for item in old], [*after]
    shared = deque(element for element in right if element in before)
    merged: list[Any] = []
    done: set[PathElement] = set()

    def take(element: PathElement) -> None:
        """Add an item of the new list, merged with that of the old one unless this is there twice."""
        olds = before.get(element, [])
        merged.append(merge(kind.items, olds[0] if len(olds) == 1 else MISSING, after[element]))
        done.add(element)
        if shared and shared[0] == element:
            shared.popleft()

    at_left = at_right = 0
    while at_left < len(left) or at_right < len(right):
        if at_left < len(left) and at_right < len(right):
            element = left[at_left]
            if element == right[at_right]:
                take(element)
                at_left, at_right = at_left + 1, at_right + 1
                continue
            if element in after and shared and shared[0] != element:
                at_left += 1  # it is shared, and comes later
                continue
        if at_left < len(left):
            element = left[at_left]
            if element not in after:
                merged.append(old[at_left])
                at_left += 1
                continue
            if element in done:
                at_left += 1
        if at_right < len(right):
            take(right[at_right])
            at_right += 1
    return [item for item in merged if item is not MISSING]


def remove_fields(kind: FieldType, value: Any, removed: FieldSet) -> Any:
    """Return a value without these fields; None for a list or an object of which nothing is left."""
    if not removed:
        return value
    deduced = kind.deduced(value)
    if deduced.kind == "scalar":
        return value
    if not value or deduced.is_atomic:
        return None
    below: dict[PathElement, set[FieldPath]] = {}
    for path in removed:
        if len(path) > 1:
            below.setdefault(path[0], set()).add(path[1:])
    if deduced.kind == "list":
        items = []
        for item in value:
            element = deduced.element_of(item)
            if (element,) not in removed:
                inner = frozenset(below.get(element, ()))
                items.append(remove_fields(deduced.items, item, inner))
        return items or None
    kept = {}
    for name, item in value.items():
        element = field_element(name)
        if (element,) not in removed:
            inner = frozenset(below.get(element, ()))
            kept[name] = remove_fields(deduced.field(name) or FieldType({}), item, inner)
    return kept or None


def with_named_fields(kind: FieldType, fields: FieldSet) -> FieldSet:
    """Return the fields and, of the fields that the type declares, each that has one of them below it
    (Set.EnsureNamedFieldsAreMembers)."""
    found = set(fields)
    for path in fields:
        here: FieldType | None = kind
        for length, element in enumerate(path[:-1], start=1):
            if here is None or here.kind == "any":
                break
            if element.startswith("f:"):
                name = element[2:]
                if name in here.fields:
                    found.add(path[:length])
                here = here.field(name)
            else:
                here = here.items
    return frozenset(found)
