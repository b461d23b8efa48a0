"""The order of the items of a list after a strategic merge.

Upstream: normalizeElementOrder, mergeSortedSlice and normalizeSliceOrder in
apimachinery/pkg/util/strategicpatch/patch.go.
"""

from collections import deque
from typing import Any


def ordered(merged: list[Any], wanted: list[Any], before: list[Any], key: str) -> list[Any]:
    """Return the merged items: those of ``wanted`` in its order, and between them the others in the order of
    ``before``. ``key``: the field that identifies an item; "" = items are scalars."""
    wanted_at, before_at = _places(wanted, key), _places(before, key)
    named = [item for item in merged if _identity(item, key) in wanted_at]
    others = [item for item in merged if _identity(item, key) not in wanted_at]
    named.sort(key=lambda item: wanted_at[_identity(item, key)])
    others.sort(key=lambda item: before_at.get(_identity(item, key), len(before)))
    result: list[Any] = []
    left_others, left_named = deque(others), deque(named)
    while left_others and left_named:
        left, right = (before_at.get(_identity(items[0], key)) for items in (left_others, left_named))
        comes_first = left is not None and right is not None and left < right
        result.append((left_others if comes_first else left_named).popleft())
    return [*result, *left_named, *left_others]


def _places(items: list[Any], key: str) -> dict[Any, int]:
    """Return the first place of each item."""
    places: dict[Any, int] = {}
    for place, item in enumerate(items):
        places.setdefault(_identity(item, key), place)
    return places


def _identity(item: Any, key: str) -> Any:
    value = item.get(key) if key and isinstance(item, dict) else item
    return value if isinstance(value, (str, int, float)) else str(value)
