"""What cel-go works out when it builds a program: conversions of constants, and constant regular expressions
(interpreter/decorators.go, v0.26).

A fault in them is one of the program, also where they would not be evaluated."""

from dataclasses import replace
from typing import Final

from simulator.cel.checker import TYPES, Checked
from simulator.cel.errors import ExpressionError
from simulator.cel.program import Planner
from simulator.cel.syntax import (
    Call,
    Comprehension,
    Constant,
    Entry,
    ListLiteral,
    MapLiteral,
    MessageLiteral,
    Name,
    Node,
    Select,
)  # fmt: skip
from simulator.cel.values import Value
from simulator.kernel.go_regexp import find_fault

_CONVERSIONS: Final = (
    "bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint",
)  # fmt: skip
_WITH_PATTERN: Final = ("matches", "find", "findAll")


class ProgramFault(Exception):
    """No program can be built. The message is cel-go's."""


def fold_constants(node: Node, checked: Checked) -> Node:
    """Return the expression with constants for conversions of constants. Raises ProgramFault."""
    return _Folding(checked).fold(node)


def is_constant(node: Node) -> bool:
    """Whether cel-go evaluates a node, in which constants are folded, when it plans it."""
    if isinstance(node, ListLiteral):
        return not node.optional and all(map(is_constant, node.elements))
    if isinstance(node, MapLiteral):
        return all(
            not each.optional and is_constant(each.key) and is_constant(each.value) for each in node.entries
        )
    return isinstance(node, Constant) or (isinstance(node, Name) and node.name in TYPES)


class _Folding:
    def __init__(self, checked: Checked) -> None:
        self._planner = Planner(checked)

    def fold(self, node: Node) -> Node:
        if isinstance(node, Select):
            return replace(node, operand=self.fold(node.operand))
        if isinstance(node, Call):
            return self._fold_call(node)
        if isinstance(node, ListLiteral):
            return replace(node, elements=tuple(map(self.fold, node.elements)))
        if isinstance(node, MapLiteral):
            return replace(
                node,
                entries=tuple(Entry(self.fold(e.key), self.fold(e.value), e.optional) for e in node.entries),
            )
        if isinstance(node, MessageLiteral):
            return replace(node, fields=tuple((name, self.fold(each)) for name, each in node.fields))
        if isinstance(node, Comprehension):
            return replace(
                node,
                over=self.fold(node.over),
                start=self.fold(node.start),
                condition=self.fold(node.condition),
                step=self.fold(node.step),
                result=self.fold(node.result),
            )
        return node

    def _fold_call(self, node: Call) -> Node:
        target = self.fold(node.target) if node.target else None
        folded = replace(node, target=target, arguments=tuple(map(self.fold, node.arguments)))
        operands = folded.arguments if target is None else (target, *folded.arguments)
        if node.function in _CONVERSIONS and len(operands) == 1 and is_constant(operands[0]):
            return Constant(node.id, self._evaluate(folded))
        if node.function in _WITH_PATTERN and len(operands) > 1:
            pattern = operands[1]
            fault = (
                find_fault(pattern.value)
                if isinstance(pattern, Constant) and isinstance(pattern.value, str)
                else ""
            )
            if fault:
                raise ProgramFault(fault)
        if node.function == "@in" and isinstance(operands[1], ListLiteral) and not operands[1].elements:
            return Constant(node.id, False)
        return folded

    def _evaluate(self, node: Node) -> Value:
        try:
            return self._planner.plan(node)({})
        except ExpressionError as error:
            raise ProgramFault(str(error)) from None
