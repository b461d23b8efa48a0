"""The costs of calls at run time.

Upstream: apiserver/pkg/cel/library/cost.go (CallCost), for Kubernetes' functions; cel-go
interpreter/runtimecost.go and ext/sets.go, v0.26, for the others. A call that is not here costs 1.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from simulator.cel.call_estimates import (
    AUTHORIZATION,
    LONGEST_FORMAT_PATTERN,
    NEW_LIST,
    NEW_OBJECT,
    PATTERN,
    TRAVERSAL,
)
from simulator.cel.networks import CIDR, IP
from simulator.cel.values import Map, Opaque, Optional, Value

Rule = Callable[[Sequence[Value], Value], int]
"""The cost of a call, by its arguments, the target first, and its result."""


def find_rule(function: str, *, is_typed: bool) -> Rule | None:
    """Return the rule of a function; None = its calls cost 1. ``is_typed``: whether the check found one
    overload."""
    return _RULES.get(function) or (_TYPED_RULES.get(function) if is_typed else None)


def _size(value: Value) -> int:
    if isinstance(value, str | bytes | list | Map):
        return len(value)
    if isinstance(value, Optional) and value.items:
        return _size(value.items[0])
    if isinstance(value, IP):
        return value.address.max_prefixlen // 8
    return math.ceil(value.bits / 8) if isinstance(value, CIDR) else 1


def _traverse(size: float) -> int:
    return math.ceil(size * TRAVERSAL)


def _traverse_first(arguments: Sequence[Value], _: Value) -> int:
    return _traverse(_size(arguments[0]))


def _traverse_twice(arguments: Sequence[Value], _: Value) -> int:
    return _traverse(2 * _size(arguments[0]))


def _traverse_result(_: Sequence[Value], result: Value) -> int:
    return _traverse(2 * _size(result))


def _go_through(arguments: Sequence[Value], _: Value) -> int:
    return _traversal(arguments[0])


def _traversal(value: Value) -> int:
    if isinstance(value, str):
        return int(len(value.encode()) * TRAVERSAL)
    if isinstance(value, bytes):
        return int(len(value) * TRAVERSAL)
    if isinstance(value, list):
        return sum(map(_traversal, value))
    if isinstance(value, Map):
        return sum(_traversal(key) + _traversal(each) for key, each in value.items())
    return 1


def _search(arguments: Sequence[Value], _: Value) -> int:
    return _traverse(1 + _size(arguments[0])) * math.ceil(_size(arguments[1]) * PATTERN)


def _contain(arguments: Sequence[Value], _: Value) -> int:
    return _traverse(_size(arguments[0])) * _traverse(_size(arguments[1]))


def _contain_address(arguments: Sequence[Value], _: Value) -> int:
    cidr, other = arguments
    return _traverse(2 * _size(cidr)) + (_traverse(_size(other)) if isinstance(other, str) else 0)


def _contain_network(arguments: Sequence[Value], result: Value) -> int:
    return _contain_address(arguments, result) + _traverse(_size(arguments[0])) + 1


def _validate(arguments: Sequence[Value], _: Value) -> int:
    return _traverse(1 + _size(arguments[1])) * math.ceil(LONGEST_FORMAT_PATTERN * PATTERN)


def _select(arguments: Sequence[Value], _: Value) -> int:
    size = _size(arguments[1])
    return NEW_LIST + _traverse(size) + math.ceil(size * 0.5) * (NEW_LIST + NEW_OBJECT)


def _compare(arguments: Sequence[Value], _: Value) -> int:
    left, right = arguments
    return 1 if isinstance(left, Opaque) else _traverse(min(_size(left), _size(right)))


def _compare_sets(factor: int) -> Rule:
    return lambda arguments, _: 1 + _size(arguments[0]) * _size(arguments[1]) * factor


def _add(arguments: Sequence[Value], _: Value) -> int:
    left, right = arguments
    return _traverse(_size(left) + _size(right)) if isinstance(left, str | bytes) else 1


def _order(arguments: Sequence[Value], result: Value) -> int:
    return _compare(arguments, result) if isinstance(arguments[0], str | bytes) else 1


def _convert(arguments: Sequence[Value], result: Value) -> int:
    pair = type(arguments[0]), type(result)
    return _traverse(_size(arguments[0])) if pair in ((str, bytes), (bytes, str)) else 1


def _find(arguments: Sequence[Value], _: Value) -> int:
    return _size(arguments[1]) if isinstance(arguments[1], list) else 1


def _make_list(factor: float, size: int) -> int:
    """Return the cost of a function that makes a list (ext/lists.go, trackAllocatingListCall)."""
    return int(size * factor) + 1 + NEW_LIST


def _make_result(_: Sequence[Value], result: Value) -> int:
    return _make_list(1, _size(result))


def _flatten(arguments: Sequence[Value], _: Value) -> int:
    return _make_list(arguments[1] if len(arguments) > 1 else 1, _size(arguments[0]))


def _compare_items(arguments: Sequence[Value], _: Value) -> int:
    items = arguments[-1]
    has_texts = bool(items) and isinstance(items[0], str | bytes)
    return _make_list(2 + TRAVERSAL if has_texts else 2, len(items) ** 2)


_RULES: Final[Mapping[str, Rule]] = {
    "check": lambda *_: AUTHORIZATION,
    **dict.fromkeys(("fieldSelector", "labelSelector"), _select),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _go_through),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _traverse_first),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _traverse_twice),
    "join": _traverse_result,
    **dict.fromkeys(("find", "findAll"), _search),
    **dict.fromkeys(("cidr", "isIP", "isCIDR"), _traverse_first),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _traverse_first),
    "ip": lambda arguments, _: _traverse(_size(arguments[0])) if isinstance(arguments[0], str) else 1,
    "containsIP": _contain_address,
    "containsCIDR": _contain_network,
    "validate": _validate,
    **dict.fromkeys(("_==_", "_!=_"), _compare),
    **dict.fromkeys(("sets.contains", "sets.intersects"), _compare_sets(1)),
    "sets.equivalent": _compare_sets(2),
}  # fmt: skip
_TYPED_RULES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(("startsWith", "endsWith", "strings.quote", "format"), _traverse_first),
    "contains": _contain,
    "matches": _search,
    "@in": _find,
    "_+_": _add,
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _order),
    **dict.fromkeys(("string", "bytes"), _convert),
    **dict.fromkeys(("slice", "lists.range", "reverse"), _make_result),
    "flatten": _flatten,
    **dict.fromkeys(("distinct", "sort", "@sortByAssociatedKeys"), _compare_items),
}
"""The rules of functions whose cost depends on the overload."""
