"""The syntax tree of an expression, as the library serializes it (cel.expr.ParsedExpr).

The numbers of the fields are those of syntax.proto of https://github.com/google/cel-spec.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from simulator.cel import wire
from simulator.cel.values import Uint, Value


@dataclass(frozen=True, slots=True)
class Node:
    """An expression. ``id`` is the key into the positions."""

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
    """A parsed expression, all macros of which are replaced by what they stand for."""

    root: Node
    positions: Mapping[int, int]
    """Offsets in code points, by the ids of nodes."""


def read_tree(serialized: bytes) -> Tree:
    """Return the tree of a serialized program that was not checked."""
    parsed = wire.get_message(wire.read_fields(serialized), 2)
    positions = wire.get_messages(wire.get_message(parsed, 3), 4)
    return Tree(
        root=_read_node(wire.get_message(parsed, 2)),
        positions={wire.get_number(entry, 1): wire.get_number(entry, 2) for entry in positions},
    )


def get_name(node: Node) -> str:
    """Return ``a.b.c`` as one name; "" if the node is none."""
    if isinstance(node, Name):
        return node.name
    if isinstance(node, Select) and not node.only_tests:
        prefix = get_name(node.operand)
        return f"{prefix}.{node.field}" if prefix else ""
    return ""


def get_children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly below a node."""
    if isinstance(node, Select):
        return (node.operand,)
    if isinstance(node, Call):
        return (*(() if node.target is None else (node.target,)), *node.arguments)
    if isinstance(node, ListLiteral):
        return node.elements
    if isinstance(node, MapLiteral):
        return tuple(part for each in node.entries for part in (each.key, each.value))
    if isinstance(node, Comprehension):
        return node.over, node.start, node.condition, node.step, node.result
    return ()


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return the node with what ``change`` makes of each node directly below it."""
    if isinstance(node, Select):
        return replace(node, operand=change(node.operand))
    if isinstance(node, Call):
        target = change(node.target) if node.target else None
        return replace(node, target=target, arguments=tuple(map(change, node.arguments)))
    if isinstance(node, ListLiteral):
        return replace(node, elements=tuple(map(change, node.elements)))
    if isinstance(node, MapLiteral):
        entries = (Entry(change(each.key), change(each.value), each.optional) for each in node.entries)
        return replace(node, entries=tuple(entries))
    if isinstance(node, MessageLiteral):
        return replace(node, fields=tuple((name, change(each)) for name, each in node.fields))
    if isinstance(node, Comprehension):
        return replace(
            node,
            over=change(node.over),
            start=change(node.start),
            condition=change(node.condition),
            step=change(node.step),
            result=change(node.result),
        )
    return node


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
