"""The syntax tree of a checked expression, as the library serializes it (cel.expr.CheckedExpr).

The numbers of the fields are those of checked.proto and syntax.proto of https://github.com/google/cel-spec.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from simulator.cel import wire
from simulator.cel.values import Uint, Value


@dataclass(frozen=True, slots=True)
class Node:
    """An expression. ``id`` is the key into the types, the overloads and the positions."""

    id: int


@dataclass(frozen=True, slots=True)
class Constant(Node):
    value: Value


@dataclass(frozen=True, slots=True)
class Name(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Select(Node):
    operand: Node
    field: str
    only_tests: bool


@dataclass(frozen=True, slots=True)
class Call(Node):
    function: str
    target: Node | None
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class ListLiteral(Node):
    elements: tuple[Node, ...]
    optional: frozenset[int]


@dataclass(frozen=True, slots=True)
class Entry:
    key: Node
    value: Node
    optional: bool


@dataclass(frozen=True, slots=True)
class MapLiteral(Node):
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class MessageLiteral(Node):
    name: str
    fields: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Comprehension(Node):
    variable: str
    second_variable: str
    over: Node
    accumulator: str
    start: Node
    condition: Node
    step: Node
    result: Node


@dataclass(frozen=True, slots=True)
class Tree:
    """A checked expression."""

    root: Node
    overloads: Mapping[int, tuple[str, ...]]
    types: Mapping[int, wire.Fields]
    positions: Mapping[int, int]
    """Offsets in code points."""


def read_tree(serialized: bytes) -> Tree:
    """The tree of a serialized program."""
    checked = wire.get_message(wire.read_fields(serialized), 2)
    overloads = {}
    for entry in wire.get_messages(checked, 2):
        found = wire.get_message(entry, 2).get(3, [])
        overloads[wire.get_number(entry, 1)] = tuple(
            each.decode() for each in found if isinstance(each, bytes)
        )
    positions = wire.get_messages(wire.get_message(checked, 5), 4)
    return Tree(
        root=_read_node(wire.get_message(checked, 4)),
        overloads=overloads,
        types={
            wire.get_number(entry, 1): wire.get_message(entry, 2) for entry in wire.get_messages(checked, 3)
        },
        positions={wire.get_number(entry, 1): wire.get_number(entry, 2) for entry in positions},
    )


def _read_node(node: wire.Fields) -> Node:
    number = wire.get_number(node, 2)
    kind = next((each for each in node if each != 2), 0)
    if kind == 0:
        return Constant(number, None)
    inner = wire.get_message(node, kind)
    if kind == 3:
        return Constant(number, _read_constant(inner))
    if kind == 4:
        return Name(number, wire.get_text(inner, 1))
    if kind == 5:
        operand = _read_node(wire.get_message(inner, 1))
        return Select(number, operand, wire.get_text(inner, 2), bool(wire.get_number(inner, 3)))
    if kind == 6:
        target = _read_node(wire.get_message(inner, 1)) if 1 in inner else None
        arguments = tuple(_read_node(each) for each in wire.get_messages(inner, 3))
        return Call(number, wire.get_text(inner, 2), target, arguments)
    if kind == 7:
        elements = tuple(_read_node(each) for each in wire.get_messages(inner, 1))
        return ListLiteral(number, elements, frozenset(wire.get_numbers(inner, 2)))
    if kind == 8:
        return _read_struct(number, inner)
    nodes = {each: _read_node(wire.get_message(inner, each)) for each in (2, 4, 5, 6, 7)}
    return Comprehension(
        number, wire.get_text(inner, 1), wire.get_text(inner, 8), nodes[2], wire.get_text(inner, 3),
        nodes[4], nodes[5], nodes[6], nodes[7],
    )  # fmt: skip


def _read_struct(number: int, inner: wire.Fields) -> Node:
    name = wire.get_text(inner, 1)
    entries = wire.get_messages(inner, 2)
    values = [_read_node(wire.get_message(entry, 4)) for entry in entries]
    if name:
        names = [wire.get_text(entry, 2) for entry in entries]
        return MessageLiteral(number, name, tuple(zip(names, values, strict=True)))
    keys = [_read_node(wire.get_message(entry, 3)) for entry in entries]
    optional = [bool(wire.get_number(entry, 5)) for entry in entries]
    return MapLiteral(number, tuple(map(Entry, keys, values, optional)))


def _read_constant(constant: wire.Fields) -> Value:
    kind = next(iter(constant), 1)
    if kind == 1:
        return None
    if kind == 2:
        return bool(wire.get_number(constant, 2))
    if kind == 3:
        return wire.get_signed(constant, 3)
    if kind == 4:
        return Uint(wire.get_number(constant, 4))
    content = wire.get_bytes(constant, kind)
    if kind == 5:
        return float(struct.unpack("<d", content)[0])
    return content.decode() if kind == 6 else content
