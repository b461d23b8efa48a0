"""The operators that do not evaluate all of their arguments (cel-go interpreter/interpretable.go, v0.26)."""

from collections.abc import Callable
from typing import Final

from simulator.cel.errors import ExpressionError, no_such_overload
from simulator.cel.values import Optional, Value

Scope = dict[str, Value]
LazyStep = Callable[[Scope], Value]


def _plan_logic(decisive: bool) -> Callable[[LazyStep, LazyStep], LazyStep]:
    """Plan ``&&`` or ``||``: the decisive value of either side has priority over an error of the other
    one."""

    def plan_pair(left: LazyStep, right: LazyStep) -> LazyStep:
        def run(scope: Scope) -> Value:
            first: ExpressionError | None = None
            for step in (left, right):
                try:
                    value = step(scope)
                except ExpressionError as error:
                    first = first or error
                    continue
                if value is decisive:
                    return value
                if type(value) is not bool:
                    first = first or no_such_overload()
            if first:
                raise first
            return not decisive

        return run

    return plan_pair


def _plan_choice(condition: LazyStep, then: LazyStep, otherwise: LazyStep) -> LazyStep:
    def run(scope: Scope) -> Value:
        value = condition(scope)
        if type(value) is not bool:
            raise no_such_overload()
        return then(scope) if value else otherwise(scope)

    return run


def _plan_tolerance(step: LazyStep) -> LazyStep:
    def run(scope: Scope) -> Value:
        try:
            return step(scope) is not False
        except ExpressionError:
            return True

    return run


def _plan_or(get: Callable[[Optional], Value], name: str) -> Callable[[LazyStep, LazyStep], LazyStep]:
    """Plan ``or`` and ``orValue``: the second side is evaluated only if it is needed."""

    def plan_pair(left: LazyStep, right: LazyStep) -> LazyStep:
        def run(scope: Scope) -> Value:
            value = left(scope)
            if type(value) is not Optional:
                raise no_such_overload(name)
            return get(value) if value.items else right(scope)

        return run

    return plan_pair


LAZY: Final[dict[str, Callable[..., LazyStep]]] = {
    "_&&_": _plan_logic(False),
    "_||_": _plan_logic(True),
    "_?_:_": _plan_choice,
    "@not_strictly_false": _plan_tolerance,
    "or": _plan_or(lambda value: value, "or"),
    "orValue": _plan_or(lambda value: value.items[0], "orValue"),
}
"""Function name -> the planner of its step."""
