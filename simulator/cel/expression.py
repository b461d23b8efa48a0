"""Compiles and evaluates expressions about variables: the rules of custom resources."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from simulator.cel.checker import Checked, check
from simulator.cel.cost_estimate import estimate_cost
from simulator.cel.cost_tracking import plan_with_cost
from simulator.cel.declared_sizes import DeclaredSize
from simulator.cel.errors import SelectorError, cost_exceeded
from simulator.cel.issues import Issues
from simulator.cel.literals import find_broken_pattern, validate
from simulator.cel.meter import Meter
from simulator.cel.object_types import NO_OBJECTS, ObjectTypes
from simulator.cel.parser import SyntaxFault, parse
from simulator.cel.syntax import Name, Node, Tree, get_children
from simulator.cel.types import DYN, Type
from simulator.cel.values import Value
from simulator.kernel.work import OutOfWork

CACHED: Final = 1_024
"""Limit of compiled expressions in the cache."""


class Expression:
    """A compiled expression."""

    def __init__(
        self,
        text: str,
        variables: tuple[tuple[str, Type], ...],
        result: str,
        objects: ObjectTypes,
    ) -> None:
        self.error = ""
        """The compile error, in upstream's words."""
        self.names: frozenset[str] = frozenset()
        """All names in it."""
        self.result: Type = DYN
        try:
            self._compile(text, dict(variables), result, objects)
        except SyntaxFault as fault:
            self.error = f"compilation failed: {fault}"
        except RecursionError:
            self.error = "compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 250"

    def evaluate(self, values: Mapping[str, Value], meter: Meter) -> Value:
        """Evaluate the expression. ``meter`` has the cost afterwards, also if it raises EvaluationError."""
        if self.error:
            raise SelectorError(self.error)
        try:
            return self._evaluate(dict(values), meter)
        except (RecursionError, OutOfWork):
            raise cost_exceeded() from None

    def estimate_cost(self, root: DeclaredSize) -> int:
        """Return the largest cost of an evaluation; 0 if the expression did not compile. root: the sizes of
        the values that its variables stand for."""
        return 0 if self.error else estimate_cost(*self._checked, root).most

    def _compile(
        self,
        text: str,
        variables: Mapping[str, Type],
        result: str,
        objects: ObjectTypes,
    ) -> None:
        tree = parse(text)
        issues = Issues(text)
        checked = check(tree, issues, variables, objects)
        if not issues:
            validate(tree, checked, issues)
        self.names = frozenset(_names_in(tree.root))
        self.result = checked.result
        if issues:
            self.error = f"compilation failed: {issues}"
        elif checked.result.name not in (result, "any", "dyn"):
            self.error = f"must evaluate to a {result}"
        elif broken := find_broken_pattern(tree.root):
            self.error = f"program instantiation failed: {broken}"
        else:
            self._evaluate = plan_with_cost(tree, checked)
            self._checked: tuple[Tree, Checked] = tree, checked


@lru_cache(maxsize=CACHED)
def compile_expression(
    text: str, variables: tuple[tuple[str, Type], ...], result: str, objects: ObjectTypes = NO_OBJECTS
) -> Expression:
    """Return the compiled expression. variables: names and types of what it may name; result: ``bool`` or
    ``string``; objects: the types of objects among them."""
    return Expression(text, variables, result, objects)


def _names_in(node: Node) -> set[str]:
    found = {node.name} if isinstance(node, Name) else set()
    return found.union(*map(_names_in, get_children(node)))
