"""What cel-go works out when it builds a program: conversions of constants, and constant regular expressions
(interpreter/decorators.go, v0.26).

A fault in them is one of the program, also where they would not be evaluated."""

from typing import Final

from simulator.cel.checker import Checked
from simulator.cel.errors import ExpressionError
from simulator.cel.program import Planner
from simulator.cel.syntax import Call, Constant, ListLiteral, MapLiteral, Node, get_name, rebuild
from simulator.cel.values import TypeName, Value
from simulator.kernel.go_regexp import find_fault

_CONVERSIONS: Final = (
    "bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint",
)  # fmt: skip
_WITH_PATTERN: Final = ("matches", "find", "findAll")


class ProgramFault(Exception):
    """No program can be built. The message is cel-go's."""


def fold_constants(node: Node, checked: Checked) -> Node:
    """Return the expression with constants for the names of types and for conversions of constants. Raises
    ProgramFault."""
    return _Folding(checked).fold(node)


def is_constant(node: Node) -> bool:
    """Whether cel-go evaluates a node, in which constants are folded, when it plans it."""
    if isinstance(node, ListLiteral):
        return not node.optional and all(map(is_constant, node.elements))
    if isinstance(node, MapLiteral):
        return all(
            not each.optional and is_constant(each.key) and is_constant(each.value) for each in node.entries
        )
    return isinstance(node, Constant)


class _Folding:
    def __init__(self, checked: Checked) -> None:
        self._type_names = checked.type_names
        self._planner = Planner(checked)

    def fold(self, node: Node) -> Node:
        if node.id in self._type_names:
            return Constant(node.id, TypeName(get_name(node).removeprefix(".")))
        folded = rebuild(node, self.fold)
        return self._fold_call(folded) if isinstance(folded, Call) else folded

    def _fold_call(self, node: Call) -> Node:
        operands = node.arguments if node.target is None else (node.target, *node.arguments)
        if node.function in _CONVERSIONS and len(operands) == 1 and is_constant(operands[0]):
            return Constant(node.id, self._evaluate(node))
        if node.function in _WITH_PATTERN and len(operands) > 1:
            _check_pattern(operands[1])
        if node.function == "@in" and isinstance(operands[1], ListLiteral) and not operands[1].elements:
            return Constant(node.id, False)
        return node

    def _evaluate(self, node: Node) -> Value:
        try:
            return self._planner.plan(node)({})
        except ExpressionError as error:
            raise ProgramFault(str(error)) from None


def _check_pattern(node: Node) -> None:
    if isinstance(node, Constant) and isinstance(node.value, str):
        fault = find_fault(node.value)
        if fault:
            raise ProgramFault(fault)
