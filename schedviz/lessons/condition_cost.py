"""The cost of a condition at worst: how many values its evaluation may look at.

It is estimated when the condition is compiled, as Kubernetes does for the CEL rules of its API. The compiler
of the library gives its checked syntax tree as bytes of the protocol buffer ``cel.expr.CheckedExpr``; the
numbers of its fields are those of checked.proto and syntax.proto of https://github.com/google/cel-spec.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

MAX_COST: Final = 2_000_000
"""The maximum cost of a condition, which then takes at most about 0.1 s."""
MAX_ITERATIONS: Final = 10_000
"""The maximum number of iterations of all macros of an evaluation. The library ends it then."""
MAX_DEPTH: Final = 100
"""The maximum depth of the syntax tree."""
UNKNOWN: Final = 1_000
"""Values in an object whose size is not known."""
_PRIMITIVE: Final = 3
_MAP: Final = 7
_RESULT: Final = "@result"
"""The variable in which a macro collects its result. A condition cannot name it, nor _COPIED."""
_COPIED: Final = "@copied"
_COMPARISONS: Final = ("_==_", "_!=_")


class Size(NamedTuple):
    """The size of a variable at most."""

    entries: int
    """Entries of the map, or elements of the list."""
    each: int
    """Values in one of them."""


class TooCostly(ValueError):
    """The error of a condition that costs too much. The message is one line."""


Fields = Mapping[int, list[bytes | int]]


def find_cost(serialized: bytes, sizes: Mapping[str, Size]) -> int:
    """Return the cost of a compiled expression, which the library has serialized. Raises TooCostly."""
    checked = _message(_fields(serialized), 2)
    types = {
        number: _fields(_bytes(entry, 2))
        for entry in map(_fields, _repeated(checked, 3))
        if isinstance(number := entry[1][0], int)
    }
    cost = _Cost(types, sizes).walk(_message(checked, 4), {}, 1, 0)[0]
    if cost > MAX_COST:
        raise TooCostly(
            f"costs too much: it may look at {cost:,} values, and at most {MAX_COST:,} are allowed. Nest"
            " fewer macros, and compare strings or numbers in them, not objects and lists"
        )
    return cost


class _Cost:
    def __init__(self, types: Mapping[int, Fields], sizes: Mapping[str, Size]) -> None:
        self._types = types
        self._sizes = sizes

    def walk(self, node: Fields, scope: Mapping[str, int], times: int, depth: int) -> tuple[int, int]:
        """Return the cost of an expression that is evaluated ``times`` times, and the size of its value.
        scope: the sizes of the variables of macros. Raises TooCostly."""
        if depth > MAX_DEPTH:
            raise TooCostly(f"is nested deeper than {MAX_DEPTH} levels")
        if 9 in node:
            cost, size = self._macro(_message(node, 9), scope, times, depth)
        else:
            parts = [*_parts(node)]
            found = [self.walk(part, scope, times, depth + 1) for part in parts]
            own, size = self._own(node, [each for _, each in found], parts, scope)
            cost = sum(each for each, _ in found) + times * own
        return cost, (1 if _PRIMITIVE in self._type(node) else size)

    def _own(
        self, node: Fields, parts: list[int], nodes: list[Fields], scope: Mapping[str, int]
    ) -> tuple[int, int]:
        """Return what one evaluation of an expression costs without its parts, and the size of its value."""
        if 4 in node:
            name = _text(_message(node, 4), 1)
            known = self._sizes.get(name)
            return 1, scope.get(name, known.entries * known.each if known else UNKNOWN)
        if 5 in node:  # a field is no larger than what has it
            return 1, parts[0]
        if 6 not in node:
            return 1, 1 + sum(parts)
        function = _text(_message(node, 6), 2)
        if function == "_[_]":
            whole = self._variable(nodes[0])
            return 1, whole.each if whole else parts[0]
        if function in _COMPARISONS:
            return min(parts), 1
        if function == "@in":
            return (1 if _MAP in self._type(nodes[1]) else parts[1]), 1
        if function == "_+_" and _text(_message(nodes[0], 4), 1) == _RESULT:
            return scope[_COPIED], sum(parts)
        return (1 if function in ("_?_:_", "size") else sum(parts)), sum(parts)

    def _macro(self, macro: Fields, scope: Mapping[str, int], times: int, depth: int) -> tuple[int, int]:
        over = _message(macro, 2)
        cost, size = self.walk(over, scope, times, depth + 1)
        whole, listed = self._variable(over), _message(over, 7)
        count = whole.entries if whole else len(_repeated(listed, 1)) if listed else size
        element = whole.each if whole else size
        # The library copies the list that a map or filter makes in each iteration.
        copied = 1 + min(count, MAX_ITERATIONS) // 4
        inner = {**scope, _text(macro, 1): element, _RESULT: 0, _COPIED: copied}
        again = min(times * count, MAX_ITERATIONS)
        checked = self.walk(_message(macro, 5), inner, again, depth + 1)[0]
        step, grown = self.walk(_message(macro, 6), inner, again, depth + 1)
        end = self.walk(_message(macro, 7), inner, times, depth + 1)[0]
        return cost + checked + step + end, 1 + min(count, MAX_ITERATIONS) * grown

    def _variable(self, node: Fields) -> Size | None:
        return self._sizes.get(_text(_message(node, 4), 1))

    def _type(self, node: Fields) -> Fields:
        number = node.get(2, [0])[0]
        return self._types.get(number, {}) if isinstance(number, int) else {}


def _parts(node: Fields) -> Iterator[Fields]:
    """Yield the parts of an expression that is no macro: of a select, a call, a list or a map."""
    if 5 in node:
        yield _message(_message(node, 5), 1)
    call = _message(node, 6)
    for field in (1, 3):
        yield from map(_fields, _repeated(call, field))
    yield from map(_fields, _repeated(_message(node, 7), 1))
    for entry in map(_fields, _repeated(_message(node, 8), 2)):
        for field in (3, 4):
            yield from map(_fields, _repeated(entry, field))


def _fields(data: bytes) -> Fields:
    """Return the fields of a message of protocol buffers, by number."""
    found: dict[int, list[bytes | int]] = {}
    place = 0
    while place < len(data):
        key, place = _number(data, place)
        value: bytes | int = 0
        match key & 7:
            case 0:
                value, place = _number(data, place)
            case 2:
                length, place = _number(data, place)
                value, place = data[place : place + length], place + length
            case wide:  # a double or a float
                place += 8 if wide == 1 else 4
        found.setdefault(key >> 3, []).append(value)
    return found


def _number(data: bytes, place: int) -> tuple[int, int]:
    """Return a number of variable length, and the place behind it."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place


def _repeated(message: Fields, field: int) -> list[bytes]:
    return [each for each in message.get(field, []) if isinstance(each, bytes)]


def _bytes(message: Fields, field: int) -> bytes:
    return next(iter(_repeated(message, field)), b"")


def _message(message: Fields, field: int) -> Fields:
    return _fields(_bytes(message, field))


def _text(message: Fields, field: int) -> str:
    return _bytes(message, field).decode()
