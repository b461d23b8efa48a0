"""Estimates the costs of calls, and the sizes of their results.

Upstream: apiserver/pkg/cel/library/cost.go (EstimateCallCost), for Kubernetes' functions; cel-go
checker/cost.go (functionCost) and ext/sets.go, v0.26, for the others. A call that is not here costs 1.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from simulator.cel.cost_ranges import NOTHING, ONE, UNBOUNDED, UNKNOWN, Range, fixed
from simulator.cel.syntax import Constant, Node
from simulator.cel.types import Type

TRAVERSAL: Final = 0.1
"""The cost of one character."""
PATTERN: Final = 0.25
"""The cost of one character of a regular expression."""
AUTHORIZATION: Final = 350_000
NEW_LIST: Final = 10
NEW_MAP: Final = 30
NEW_OBJECT: Final = 40
LONGEST_FORMAT_PATTERN: Final = 128
_LONGEST_FORMAT: Final = 64
_ADDRESS: Final = Range(4, 16)
"""The range of the size of an IP address, in bytes."""
_CHEAP_TO_COMPARE: Final = (
    "net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver",
    *(f"kubernetes.authorization.{name}"
      for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")),
)  # fmt: skip


class Operand(Protocol):
    """A target or an argument of a call."""

    @property
    def node(self) -> Node: ...

    @property
    def type(self) -> Type: ...

    @property
    def size(self) -> Range | None:
        """The range of the size; None = nothing is known about it."""

    def size_of_items(self) -> Range:
        """Return the size of the items of a list."""


@dataclass(frozen=True, slots=True)
class Call:
    """The parts of a call, for one of its overloads."""

    target: Operand | None
    arguments: tuple[Operand, ...]

    def size(self, index: int) -> Range:
        """Return the size of an argument."""
        return self.arguments[index].size or UNKNOWN

    @property
    def target_size(self) -> Range:
        return (self.target.size if self.target else None) or UNKNOWN


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """The estimated cost of a call, and the size of its result if the function determines it."""

    cost: Range
    size: Range | None = None


_Rule = Callable[[Call], CallEstimate | None]


def estimate_call(function: str, parameters: tuple[Type, ...], call: Call) -> CallEstimate:
    """Return the cost without that of the arguments. ``parameters``: the types of the overload, the target's
    first."""
    if function in ("sort", "@sortByAssociatedKeys"):
        return _sort(parameters[-1], call)
    rule, kinds = _RULES.get(function), tuple(each.name for each in parameters)
    return (rule and rule(call)) or _estimate_overload(function, kinds, call) or CallEstimate(ONE)


def _estimate_overload(function: str, parameters: tuple[str, ...], call: Call) -> CallEstimate | None:
    has_texts = parameters[0] in ("string", "bytes") if parameters else False
    match function:
        case "_<_" | "_<=_" | "_>_" | "_>=_" if has_texts:
            return _compare(call)
        case "_==_" | "_!=_":
            return _compare(call)
        case "_+_" if has_texts or (parameters and parameters[0] == "list"):
            size = call.size(0).add(call.size(1))
            return CallEstimate(size.scale(TRAVERSAL) if has_texts else ONE, size)
        case "@in" if parameters[1] == "list":
            return CallEstimate(call.size(1))
        case "bytes" if parameters == ("string",):
            size = call.size(0)
            return CallEstimate(size.scale(TRAVERSAL), Range(size.least, size.most * 4 & UNBOUNDED))
        case "string" if parameters == ("bytes",):
            size = call.size(0)
            return CallEstimate(size.scale(TRAVERSAL), Range(size.least // 4, size.most))
        case "containsIP" | "containsCIDR":
            return _contain_address(function, parameters, call)
    return None


def _compare(call: Call) -> CallEstimate:
    most = min(call.size(0).most, call.size(1).most)
    return CallEstimate(Range(min(most, 1), most).scale(TRAVERSAL))


def _equal(call: Call) -> CallEstimate | None:
    left, right = call.arguments
    if left.type != right.type:
        return None
    if left.type.name in _CHEAP_TO_COMPARE:
        return CallEstimate(ONE)
    if left.type.name == "kubernetes.NamedFormat":
        return CallEstimate(Range(1, _LONGEST_FORMAT).scale(TRAVERSAL))
    if left.type.name == "kubernetes.URL":
        return CallEstimate(Range(1, (right.size or ONE).most).scale(TRAVERSAL))
    return None


def _contain_address(function: str, parameters: tuple[str, ...], call: Call) -> CallEstimate:
    cost = _ADDRESS.add(_ADDRESS).scale(TRAVERSAL)
    if function == "containsCIDR":
        cost = cost.add(_ADDRESS.scale(TRAVERSAL)).add(ONE)
    return CallEstimate(cost.add(call.size(0).scale(TRAVERSAL)) if parameters[1] == "string" else cost)


def _traverse_argument(call: Call) -> CallEstimate | None:
    return CallEstimate(call.size(0).scale(TRAVERSAL))


def _traverse_url(call: Call) -> CallEstimate | None:
    return CallEstimate(call.size(0).scale(TRAVERSAL), call.size(0))


def _traverse_target(call: Call) -> CallEstimate | None:
    return CallEstimate(call.target_size.scale(TRAVERSAL))


def _convert_target(call: Call) -> CallEstimate | None:
    return CallEstimate(call.target_size.scale(TRAVERSAL), call.target_size)


def _quote(call: Call) -> CallEstimate | None:
    size = call.size(0)
    quoted = Range(size.least + 2, (size.most * 2 + 2) & UNBOUNDED)
    return CallEstimate(size.scale(TRAVERSAL), quoted)


def _contain_text(call: Call) -> CallEstimate | None:
    cost = call.target_size.scale(TRAVERSAL)
    return CallEstimate(cost.multiply(call.size(0).scale(TRAVERSAL)))


def _match(call: Call) -> CallEstimate | None:
    if call.target is None:
        return None
    return CallEstimate(_search(call))


def _find(call: Call) -> CallEstimate | None:
    return CallEstimate(_search(call), Range(0, call.target_size.most))


def _search(call: Call) -> Range:
    return call.target_size.add(ONE).scale(TRAVERSAL).multiply(call.size(0).scale(PATTERN))


def _go_through(call: Call) -> CallEstimate | None:
    """Estimate ``isSorted``, ``sum`` and the like, which read all items of a list, or all of a text."""
    target = call.target
    assert target
    if not target.type.parameters:
        return _traverse_target(call)
    cost = ONE
    if target.type.parameters[0].name in ("string", "bytes"):
        cost = cost.add(target.size_of_items().scale(TRAVERSAL))
    return CallEstimate(call.target_size.multiply(cost))


def _replace(call: Call) -> CallEstimate | None:
    size, old, new = call.target_size, call.size(0), call.size(1)
    if old.least == 0:  # each place between two characters
        most = min(size.most + 1, UNBOUNDED), size.most
    elif new.most <= old.least:
        most = 0, size.most
    else:
        most = math.ceil(float(size.most) / old.least), 0
    if old.most == 0:
        least = min(size.least + 1, UNBOUNDED), size.least
    elif old.most <= new.least:
        least = 0, size.least
    else:
        least = math.ceil(float(size.least) / old.most), 0
    count, kept = Range(least[0], min(most[0], UNBOUNDED)), Range(least[1], most[1])
    return CallEstimate(size.scale(2 * TRAVERSAL), count.multiply(new).add(kept))


def _split(call: Call) -> CallEstimate | None:
    size = call.target_size
    limit = call.arguments[1].node if len(call.arguments) > 1 else None
    most = limit.value & UNBOUNDED if isinstance(limit, Constant) else size.most
    return CallEstimate(size.scale(2 * TRAVERSAL), Range(0, most))


def _join(call: Call) -> CallEstimate | None:
    target, items = call.target, call.target_size
    size = items.multiply(target.size_of_items()) if target and target.type.parameters else NOTHING
    if call.arguments:
        between = Range(max(items.least - 1, 0), max(items.most - 1, 0))
        size = size.add(call.size(0).multiply(between))
    return CallEstimate(size.scale(TRAVERSAL), size)


def _select(call: Call) -> CallEstimate | None:
    """Return a selector of labels or fields: one requirement for each two characters."""
    size = call.size(0)
    requirements = size.scale(0.5).scale(NEW_LIST + NEW_OBJECT)
    return CallEstimate(fixed(NEW_LIST).add(size.scale(TRAVERSAL)).add(requirements))


def _validate(call: Call) -> CallEstimate | None:
    return CallEstimate(call.size(0).scale(TRAVERSAL).scale(LONGEST_FORMAT_PATTERN * PATTERN))


def _compare_sets(factor: int) -> _Rule:
    def estimate(call: Call) -> CallEstimate | None:
        return CallEstimate(call.size(0).multiply(call.size(1)).scale(factor).add(ONE))

    return estimate


def _allocate_list(factor: float, size: Range) -> CallEstimate:
    """Return the estimate of a function that makes a list (ext/lists.go, estimateListCall)."""
    return CallEstimate(size.scale(factor).add(ONE).add(fixed(NEW_LIST)), size)


def _read_number(operand: Operand, otherwise: int) -> int:
    """Return the number that a literal is, at least 0."""
    value = operand.node.value if isinstance(operand.node, Constant) else None
    return max(value, 0) if type(value) is int else otherwise


def _slice(call: Call) -> CallEstimate | None:
    start, end = _read_number(call.arguments[0], 0), _read_number(call.arguments[1], call.target_size.most)
    return _allocate_list(1, fixed((end - start) & UNBOUNDED))


def _flatten(call: Call) -> CallEstimate | None:
    depth = _read_number(call.arguments[0], UNBOUNDED) if call.arguments else 1
    return _allocate_list(depth, call.target_size)


def _count_up(call: Call) -> CallEstimate | None:
    return _allocate_list(1, fixed(_read_number(call.arguments[0], UNBOUNDED)))


def _reverse(call: Call) -> CallEstimate | None:
    return _allocate_list(1, call.target_size)


def _distinct(call: Call) -> CallEstimate | None:
    return _allocate_list(2, call.target_size.multiply(call.target_size))


def _sort(keys: Type, call: Call) -> CallEstimate:
    size = call.size(0) if call.arguments else call.target_size
    has_texts = keys.parameters[0].name in ("string", "bytes")
    return _allocate_list(2 + TRAVERSAL if has_texts else 2, size.multiply(size))


def _check(_: Call) -> CallEstimate | None:
    return CallEstimate(fixed(AUTHORIZATION))


_RULES: Final[Mapping[str, _Rule]] = {
    "_==_": _equal,
    "check": _check,
    **dict.fromkeys(("fieldSelector", "labelSelector"), _select),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _go_through),
    "url": _traverse_url,
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _convert_target),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("find", "findAll"), _find),
    "validate": _validate,
    "format": _traverse_target,
    "strings.quote": _quote,
    **dict.fromkeys(("startsWith", "endsWith"), _traverse_argument),
    "contains": _contain_text,
    "matches": _match,
    "sets.contains": _compare_sets(1),
    "sets.intersects": _compare_sets(1),
    "sets.equivalent": _compare_sets(2),
    "slice": _slice,
    "flatten": _flatten,
    "lists.range": _count_up,
    "reverse": _reverse,
    "distinct": _distinct,
}
