"""Kubernetes' library of lists (apiserver/pkg/cel/library/lists.go) and cel-go's of sets (ext/sets.go)."""

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from simulator.cel.errors import ExpressionError, cost_exceeded
from simulator.cel.functions import Function
from simulator.cel.operators import MAX_SIZE, add
from simulator.cel.values import Duration, Uint, Value, compare, equal

COMPARABLE: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_ZEROS: Final = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}


def _is_sorted(items: list[Value]) -> bool:
    return all(compare(one, other) <= 0 for one, other in pairwise(items))


def _sum(zero: Value) -> Callable[[list[Value]], Value]:
    def run(items: list[Value]) -> Value:
        found = zero
        for each in items:
            found = add(found, each)
        return found

    return run


def _best(name: str, replaced_by: int) -> Callable[[list[Value]], Value]:
    def run(items: list[Value]) -> Value:
        if not items:
            raise ExpressionError(f"{name} called on empty list")
        found = items[0]
        for each in items[1:]:
            if compare(found, each) == replaced_by:
                found = each
        return found

    return run


def _index_of(items: list[Value], item: Value) -> int:
    return next((index for index, each in enumerate(items) if equal(each, item)), -1)


def _last_index_of(items: list[Value], item: Value) -> int:
    return next((index for index in range(len(items) - 1, -1, -1) if equal(items[index], item)), -1)


def _contains(items: list[Value], others: list[Value]) -> bool:
    if len(items) * len(others) > MAX_SIZE:
        raise cost_exceeded()
    return all(any(equal(other, each) is True for each in items) for other in others)


def _equivalent(items: list[Value], others: list[Value]) -> bool:
    return _contains(items, others) and _contains(others, items)


def _intersects(items: list[Value], others: list[Value]) -> bool:
    if len(items) * len(others) > MAX_SIZE:
        raise cost_exceeded()
    return any(equal(each, other) is True for each in items for other in others)


FUNCTIONS: Final = (
    *(Function("isSorted", f"list({each}).() -> bool", _is_sorted)
      for each in COMPARABLE),
    *(Function("sum", f"list({each}).() -> {each}", _sum(zero))
      for each, zero in _ZEROS.items()),
    *(Function("max", f"list({each}).() -> {each}", _best("max", -1))
      for each in COMPARABLE),
    *(Function("min", f"list({each}).() -> {each}", _best("min", 1))
      for each in COMPARABLE),
    Function("indexOf", "list(A).(A) -> int", _index_of),
    Function("lastIndexOf", "list(A).(A) -> int", _last_index_of),
    Function("sets.contains", "(list(T), list(T)) -> bool", _contains),
    Function("sets.equivalent", "(list(T), list(T)) -> bool", _equivalent),
    Function("sets.intersects", "(list(T), list(T)) -> bool", _intersects),
)  # fmt: skip
