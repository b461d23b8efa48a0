"""Evaluates a syntax tree and counts the cost (cel-go interpreter/runtimecost.go and planner.go, v0.26).

As there, a name and each selection from it cost 1, a constant and what is made of constants alone nothing,
and ``&&``, ``||``, ``?:`` and the loop of a macro what is evaluated in them.
"""

from collections.abc import Callable
from typing import Final

from simulator.cel.call_costs import Rule, find_rule
from simulator.cel.call_estimates import NEW_LIST, NEW_MAP
from simulator.cel.checker import Checked
from simulator.cel.errors import EvaluationError, ExpressionError
from simulator.cel.folding import is_constant
from simulator.cel.lazy import LazyStep, Scope
from simulator.cel.meter import COPIED, spend_on_lengths
from simulator.cel.program import METER, Evaluation, Planner
from simulator.cel.syntax import Call, ListLiteral, MapLiteral, Name, Node, Select
from simulator.cel.values import Value

_SELECTIONS: Final = ("_[_]", "_[?_]", "_?._")
_CHOICE: Final = "_?_:_"
_QUICK: Final = frozenset(("size", "type", "dyn", "_+_"))
"""The functions that do not read the whole of their arguments, and the one for which copies are counted."""


def plan_with_cost(root: Node, checked: Checked) -> Evaluation:
    """Return the evaluation of a tree in which constants are folded. It ends at the limit of the meter."""
    step = _CostPlanner(checked).plan(root)
    return lambda scope, meter: step({**scope, METER: meter})


class _CostPlanner(Planner):
    def __init__(self, checked: Checked) -> None:
        super().__init__(checked)
        self._free: set[int] = set()
        """The names that cost nothing: cel-go does not evaluate them on their own."""

    def plan(self, node: Node) -> LazyStep:
        planned = super().plan(node)
        is_free = not isinstance(node, Name) or node.id in self._free
        return planned if is_free else _charge(planned, 1)

    def plan_select(self, node: Select) -> LazyStep:
        planned = super().plan_select(node)
        if node.only_tests:
            return planned
        return _charge(planned, 1 if _is_path(node.operand) else 2)

    def plan_list(self, node: ListLiteral) -> LazyStep:
        planned = super().plan_list(node)
        return planned if is_constant(node) else _charge(planned, NEW_LIST)

    def plan_map(self, node: MapLiteral) -> LazyStep:
        planned = super().plan_map(node)
        return planned if is_constant(node) else _charge(planned, NEW_MAP)

    def plan_call(self, node: Call) -> LazyStep:
        if node.function in _SELECTIONS or node.function == _CHOICE:
            self._free.update(_root(each) for each in node.arguments[1:])
        return super().plan_call(node)

    def plan_function(self, node: Call, name: str, arguments: tuple[LazyStep, ...]) -> LazyStep:
        planned = super().plan_function(node, name, arguments)
        if name in _SELECTIONS:
            return _charge(planned, 1 if _is_path(node.arguments[0]) else 2)
        function = self.find_function(node, name)
        if function is None:
            return _charge(planned, 1) if name == "@not_strictly_false" else planned
        if is_constant(node) or (name == "@in" and is_constant(node.arguments[1])):
            return planned
        rule = find_rule(name, is_typed=len(self._checked.signatures[node.id]) == 1)
        return _plan_call(function, rule, arguments, is_quick=name in _QUICK)


def _charge(step: LazyStep, cost: int) -> LazyStep:
    """Return a step that costs something, also if it fails."""

    def run(scope: Scope) -> Value:
        try:
            return step(scope)
        finally:
            scope[METER].charge(cost)

    return run


def _plan_call(
    function: Callable[..., Value], rule: Rule | None, arguments: tuple[LazyStep, ...], *, is_quick: bool
) -> LazyStep:
    # The rules of upstream count texts, and not the elements of all lists.
    counted = () if is_quick else (list,) if rule else (str, bytes, list)

    def run(scope: Scope) -> Value:
        meter, values, first = scope[METER], [], None
        for each in arguments:
            try:
                values.append(each(scope))
            except ExpressionError as error:
                first = first or error
        try:
            if first:
                raise first
            if counted:
                spend_on_lengths(values, counted)
            result = function(*values)
        except EvaluationError:
            meter.charge(1)
            spend_on_lengths(values)
            raise
        if type(result) is list:
            meter.count(len(result) // COPIED)
        meter.charge(rule(values, result) if rule else 1)
        return result

    return run


def _root(node: Node) -> int:
    """Return the node at which a path begins."""
    while isinstance(node, Select) or (isinstance(node, Call) and node.function in _SELECTIONS):
        node = node.operand if isinstance(node, Select) else node.arguments[0]
    return node.id


def _is_path(node: Node) -> bool:
    """Whether a selection from a node is a further step of the same path."""
    if isinstance(node, Call):
        return node.function in _SELECTIONS or node.function == _CHOICE
    return isinstance(node, Name) or (isinstance(node, Select) and not node.only_tests)
