"""Expressions whose cost is counted: the rules of custom resources, and the conditions of lessons."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from simulator.cel.declared_sizes import DeclaredSize, Limits
from simulator.cel.errors import CompileFault, ExpressionError, cost_exceeded
from simulator.cel.functions import Environment
from simulator.cel.meter import Meter
from simulator.cel.types import DYN, NO_OBJECTS, ObjectTypes, Type
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
        # The compiler loads the library that parses: only where there are expressions.
        from simulator.cel.compilation import compile_tree  # noqa: PLC0415

        self.error = ""
        """The compile error, in upstream's words."""
        self.names: frozenset[str] = frozenset()
        """All names in it, if it is an expression."""
        self.result: Type = DYN
        try:
            compiled = compile_tree(text, environment, variables, objects)
            self.names = compiled.names()
            self.result = compiled.result
            if self.result.name not in (result, "any", "dyn"):
                raise CompileFault(f"must evaluate to a {result}")
            self._evaluate = compiled.plan_with_cost()
            self._compiled = compiled
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

    def estimate_cost(self, variables: DeclaredSize, limits: Limits) -> int:
        """Return the largest cost of an evaluation. variables: their sizes, as those of fields. The
        expression must have compiled."""
        return self._compiled.estimate_cost(variables, limits)


@lru_cache(maxsize=CACHED)
def compile_expression(
    text: str,
    variables: tuple[tuple[str, Type], ...],
    result: str,
    objects: ObjectTypes = NO_OBJECTS,
    environment: Environment = Environment.STORED_EXPRESSIONS,
) -> Expression:
    """Return the compiled expression. variables: names and types of what it may name; result: ``bool`` or
    ``string``; objects: the types of objects among them."""
    return Expression(text, dict(variables), result, objects, environment)
