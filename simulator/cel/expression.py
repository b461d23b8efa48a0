"""Compiles and evaluates expressions whose cost is counted: rules of custom resources and conditions."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from simulator.cel.compilation import Compiled, CompileFault, compile_tree
from simulator.cel.cost_tracking import plan_with_cost
from simulator.cel.errors import ExpressionError, cost_exceeded
from simulator.cel.library import STORED_EXPRESSIONS, Environment
from simulator.cel.meter import Meter
from simulator.cel.object_types import NO_OBJECTS, ObjectTypes
from simulator.cel.syntax import Name, Node, get_children
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
        variables: Mapping[str, Type],
        result: str,
        objects: ObjectTypes,
        environment: Environment,
    ) -> None:
        self.error = ""
        """The compile error, in upstream's words."""
        self.names: frozenset[str] = frozenset()
        """All names in it, if it is an expression."""
        self.result: Type = DYN
        self.compiled: Compiled | None = None
        """The expression as it was checked; None if it did not compile."""
        try:
            compiled = compile_tree(text, environment, variables, objects)
            self.names = frozenset(_names_in(compiled.tree.root))
            self.result = compiled.result
            if self.result.name not in (result, "any", "dyn"):
                raise CompileFault(f"must evaluate to a {result}")
            self._evaluate = plan_with_cost(compiled.fold(), compiled.checked)
            self.compiled = compiled
        except CompileFault as fault:
            self.error = str(fault)

    def evaluate(self, values: Mapping[str, Value], meter: Meter) -> Value:
        """Evaluate the expression. ``meter`` has the cost afterwards, also if it raises EvaluationError."""
        if self.error:
            raise ExpressionError(self.error)
        try:
            return self._evaluate(dict(values), meter)
        except (RecursionError, OutOfWork):
            raise cost_exceeded() from None


@lru_cache(maxsize=CACHED)
def compile_expression(
    text: str,
    variables: tuple[tuple[str, Type], ...],
    result: str,
    objects: ObjectTypes = NO_OBJECTS,
    environment: Environment = STORED_EXPRESSIONS,
) -> Expression:
    """Return the compiled expression. variables: names and types of what it may name; result: ``bool`` or
    ``string``; objects: the types of objects among them."""
    return Expression(text, dict(variables), result, objects, environment)


def _names_in(node: Node) -> set[str]:
    found = {node.name} if isinstance(node, Name) else set()
    return found.union(*map(_names_in, get_children(node)))
