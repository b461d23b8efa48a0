"""cel-go's library of lists (ext/lists.go, version 3; v0.26), which Kubernetes has."""

from collections.abc import Callable
from functools import cmp_to_key
from typing import Final

from simulator.cel.errors import ExpressionError, cost_exceeded
from simulator.cel.functions import Function
from simulator.cel.lists import COMPARABLE
from simulator.cel.operators import MAX_SIZE
from simulator.cel.values import Value, compare, equal, type_name
from simulator.kernel.work import spend_work

MAX_INCLUDES: Final = 48
"""The values of an attribute of a device (ResourceSliceMaxAttributeValuesPerDevice)."""
_COMPARED_IN_A_UNIT: Final = 4
"""The pairs of elements that are compared in the time of one unit of work."""


def _includes(target: Value, item: Value) -> bool:
    """Return whether a list has an item, or a single value is equal to it (includesFunc in
    dynamic-resource-allocation/cel/compile.go)."""
    if type(target) is not list:
        return equal(target, item) is True
    if any(equal(each, item) is True for each in target[:MAX_INCLUDES]):
        return True
    if len(target) > MAX_INCLUDES:
        raise ExpressionError(
            f"'includes' function cannot be applied to lists longer than {MAX_INCLUDES} values"
        )
    return False


INCLUDES: Final = Function("includes", "dyn.(dyn) -> bool", _includes)


def _slice(items: list[Value], start: int, end: int) -> list[Value]:
    if start < 0 or end < 0:
        raise ExpressionError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise ExpressionError(
            f"cannot slice({start}, {end}), start index must be less than or equal to end index"
        )
    if len(items) < end:
        raise ExpressionError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def _flatten(items: Value, depth: Value = 1) -> list[Value]:
    """Return the list without ``depth`` levels of lists in it. The arguments may be of any type."""
    if type(items) is not list or type(depth) is not int:
        given = "" if depth == 1 else type_name(depth)
        raise ExpressionError(f"no such overload: {type_name(items)}.flatten({given})")
    if depth < 0:
        raise ExpressionError("level must be non-negative")
    found: list[Value] = []
    for each in items:
        found.extend(_flatten(each, depth - 1) if depth and type(each) is list else (each,))
        if len(found) > MAX_SIZE:
            raise cost_exceeded()
    return found


def _sort(items: list[Value]) -> list[Value]:
    return _sort_by_keys(items, items)


def _sort_by_keys(items: list[Value], keys: list[Value]) -> list[Value]:
    """Return the items in the order of their keys (sortListByAssociatedKeys)."""
    if len(keys) > 1 and len(set(map(type, keys))) > 1:
        raise ExpressionError("list elements must have the same type")
    return [items[index] for index in sorted(range(len(keys)), key=cmp_to_key(_compare_items(keys)))]


def _compare_items(keys: list[Value]) -> Callable[[int, int], int]:
    def run(one: int, other: int) -> int:
        try:
            return compare(keys[one], keys[other])
        except ExpressionError:  # NaN is not less than anything
            return 0

    return run


def _range(count: int) -> list[Value]:
    if count > MAX_SIZE:
        raise cost_exceeded()
    return list(range(count))


def _distinct(items: list[Value]) -> list[Value]:
    if len(items) ** 2 > MAX_SIZE:
        raise cost_exceeded()
    spend_work(len(items) ** 2 // _COMPARED_IN_A_UNIT)
    found: list[Value] = []
    for each in items:
        if not any(equal(each, other) is True for other in found):
            found.append(each)
    return found


FUNCTIONS: Final = (
    Function("slice", "list(T).(int, int) -> list(T)", _slice),
    Function("flatten", "list(list(T)).() -> list(T)", _flatten, is_guarded=False),
    Function("flatten", "list(dyn).(int) -> list(dyn)", _flatten, is_guarded=False),
    *(Function("sort", f"list({each}).() -> list({each})", _sort) for each in COMPARABLE),
    *(
        Function("@sortByAssociatedKeys", f"list(T).(list({each})) -> list(T)", _sort_by_keys)
        for each in COMPARABLE
    ),
    Function("lists.range", "(int) -> list(int)", _range),
    Function("reverse", "list(T).() -> list(T)", lambda items: items[::-1]),
    Function("distinct", "list(T).() -> list(T)", _distinct),
)
