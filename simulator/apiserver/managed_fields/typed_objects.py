"""Walks through objects with their types: the fields that an object has, how two objects differ, and an
object merged with another or without some fields.

Upstream: structured-merge-diff/typed (tofieldset.go, compare.go, merge.go, remove.go).
"""

from collections import deque
from typing import Any, Final, NamedTuple

from simulator.apiserver.managed_fields.field_paths import (
    FieldPath,
    FieldSet,
    PathElement,
    field_element,
)
from simulator.apiserver.managed_fields.field_types import declares, deduced, element_of, is_whole
from simulator.apiserver.types.model import ANYTHING, ListType, MapType, StructType, Type, field_type


class _Missing:
    """The value of a field that an object has not; null is a value."""


MISSING: Final = _Missing()
_COMPOSED: Final = (ListType, MapType, StructType)


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
    begins, lengths = {prefix[:1] for prefix in prefixes}, {len(prefix) for prefix in prefixes}
    return frozenset(
        path
        for path in fields
        if path[:1] not in begins or not any(path[:length] in prefixes for length in lengths)
    )


def fields_of(of: Type, value: Any) -> FieldSet:
    """Return the fields that a manager owns who applies this value. Raises ItemError."""
    found: set[FieldPath] = set()
    _add_owned(found, deduced(of, value), value, ())
    return frozenset(found)


def _add_owned(found: set[FieldPath], of: Type, value: Any, path: FieldPath) -> None:
    if is_whole(of):
        found.add(path)
    elif isinstance(of, ListType):
        for item in value or ():
            below = (*path, element_of(of, item))
            _add_owned(found, deduced(of.items, item), item, below)
            found.add(below)
    else:
        for name, item in (value or {}).items():
            declared = field_type(of, name)
            if declared is None:
                continue
            below = (*path, field_element(name))
            _add_owned(found, deduced(declared, item), item, below)
            if item is None or item == {} or not declares(of, name):
                found.add(below)


def compare(of: Type, old: Any, new: Any) -> Comparison:
    """Compare two values of a type. Raises ItemError."""
    walk = _ComparingWalk()
    walk.compare(of, old, new, ())
    return Comparison(frozenset(walk.added), frozenset(walk.modified), frozenset(walk.removed))


class _ComparingWalk:
    def __init__(self) -> None:
        self.added: set[FieldPath] = set()
        self.modified: set[FieldPath] = set()
        self.removed: set[FieldPath] = set()

    def compare(self, of: Type, old: Any, new: Any, path: FieldPath) -> None:
        if old == new:
            return  # the same in one comparison, without a step for each part
        known = deduced(of, old if new is MISSING else new)
        if self._is_leaf(known, old, new):
            self._add(path, old, new)
            return
        if isinstance(known, ListType):
            self._compare_lists(known, _present(old, []), _present(new, []), path)
        else:
            before, after = _present(old, {}), _present(new, {})
            for name in {**before, **after}:
                declared = field_type(known, name)
                if declared is not None:
                    below = (*path, field_element(name))
                    self.compare(declared, before.get(name, MISSING), after.get(name, MISSING), below)
        if old is MISSING or new is MISSING:
            self._add(path, old, new)

    def _is_leaf(self, of: Type, old: Any, new: Any) -> bool:
        """Whether the value is compared as a whole. Where both sides are empty, null and empty differ."""
        if is_whole(of):
            return True
        container = list if isinstance(of, ListType) else dict
        for value in (old, new):
            if value is not None and value is not MISSING and not isinstance(value, container):
                return True
        return not _present(old, ()) and not _present(new, ())

    def _add(self, path: FieldPath, old: Any, new: Any) -> None:
        if old is MISSING:
            self.added.add(path)
        elif new is MISSING:
            self.removed.add(path)
        else:
            self.modified.add(path)

    def _compare_lists(self, of: ListType, old: list[Any], new: list[Any], path: FieldPath) -> None:
        before, after = _by_element(of, old), _by_element(of, new)
        for element in {**before, **after}:
            below = (*path, element)
            lefts, rights = before.get(element, []), after.get(element, [])
            if of.relation == "set" and len(lefts) == len(rights) == 1:
                continue  # the element is the whole value
            if len(lefts) > 1 and len(rights) > 1:
                if lefts != rights:
                    self.modified.add(below)
            elif len(lefts) > 1:
                if rights:
                    self.compare(of.items, MISSING, rights[0], below)
                self.removed.add(below)
            elif len(rights) > 1:
                if lefts:
                    self.compare(of.items, lefts[0], MISSING, below)
                self.added.add(below)
            else:
                left, right = (items[0] if items else MISSING for items in (lefts, rights))
                self.compare(of.items, left, right, below)


def _present(value: Any, empty: Any) -> Any:
    return empty if value is MISSING or value is None else value


def _by_element(of: ListType, items: list[Any]) -> dict[PathElement, list[Any]]:
    return _grouped([element_of(of, item) for item in items], items)


def _grouped(elements: list[PathElement], items: list[Any]) -> dict[PathElement, list[Any]]:
    found: dict[PathElement, list[Any]] = {}
    for element, item in zip(elements, items, strict=True):
        found.setdefault(element, []).append(item)
    return found


def merge(of: Type, old: Any, new: Any) -> Any:
    """Merge a value into another: what the new one does not say stays. MISSING if nothing is left. Raises
    ItemError."""
    if new is MISSING:
        return old
    known = deduced(of, new)
    container = list if isinstance(known, ListType) else dict
    if (
        is_whole(known)
        or (not _present(old, ()) and not new)
        or not isinstance(_present(old, container()), container)
    ):
        return new
    if isinstance(known, ListType):
        items = _merge_lists(known, _present(old, []), new or [])
        return items or MISSING
    before, after = _present(old, {}), new or {}
    merged = {}
    for name in {**before, **after}:
        value = merge(
            field_type(known, name) or ANYTHING, before.get(name, MISSING), after.get(name, MISSING)
        )
        if value is not MISSING:
            merged[name] = value
    return merged or MISSING


def _merge_lists(of: ListType, old: list[Any], new: list[Any]) -> list[Any]:
    """Merge two lists: the items of the new one in its order, each other item where it was, as far as
    possible (visitListItems in merge.go)."""
    left, after = [element_of(of, item) for item in old], {element_of(of, item): item for item in new}
    before, right = _grouped(left, old), [*after]
    shared = deque(element for element in right if element in before)
    merged: list[Any] = []
    done: set[PathElement] = set()

    def take(element: PathElement) -> None:
        """Add an item of the new list, merged with that of the old one unless this is there twice."""
        olds = before.get(element, [])
        merged.append(merge(of.items, olds[0] if len(olds) == 1 else MISSING, after[element]))
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


def remove_fields(of: Type, value: Any, removed: FieldSet) -> Any:
    """Return a value without these fields; None for a list or an object of which nothing is left."""
    if not removed:
        return value
    known = deduced(of, value)
    if not isinstance(known, _COMPOSED):
        return value
    if not value or is_whole(known):
        return None
    below: dict[PathElement, set[FieldPath]] = {}
    for path in removed:
        if len(path) > 1:
            below.setdefault(path[0], set()).add(path[1:])
    if isinstance(known, ListType):
        items = []
        for item in value:
            element = element_of(known, item)
            if (element,) not in removed:
                inner = frozenset(below.get(element, ()))
                items.append(remove_fields(known.items, item, inner))
        return items or None
    kept = {}
    for name, item in value.items():
        element = field_element(name)
        if (element,) not in removed:
            inner = frozenset(below.get(element, ()))
            kept[name] = remove_fields(field_type(known, name) or ANYTHING, item, inner)
    return kept or None


def with_named_fields(of: Type, fields: FieldSet) -> FieldSet:
    """Return the fields and, of the fields that the type declares, each that has one of them below it
    (Set.EnsureNamedFieldsAreMembers)."""
    found = set(fields)
    for path in fields:
        here: Type | None = of
        for length, element in enumerate(path[:-1], start=1):
            if not isinstance(here, _COMPOSED):
                break
            if element.startswith("f:"):
                name = element[2:]
                if declares(here, name):
                    found.add(path[:length])
                here = field_type(here, name)
            else:
                here = here.items if isinstance(here, ListType) else None
    return frozenset(found)
