"""Evaluates a syntax tree as cel-go does (interpreter/planner.go, interpretable.go; v0.26).

Each expression becomes a function of the variables in scope. An error of cel-go is a value; here it is an
exception, and a :class:`_Failure` where a variable holds it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from simulator.cel.checker import Checked
from simulator.cel.errors import ExpressionError, no_such_overload
from simulator.cel.functions import Function
from simulator.cel.lazy import LAZY, LazyStep, Scope
from simulator.cel.library import FUNCTIONS
from simulator.cel.meter import Meter
from simulator.cel.operators import find, find_optionally, look_up
from simulator.cel.standard import STANDARD
from simulator.cel.syntax import (
    Call,
    Comprehension,
    Constant,
    ListLiteral,
    MapLiteral,
    MessageLiteral,
    Name,
    Node,
    Select,
    get_name,
)  # fmt: skip
from simulator.cel.values import Map, Optional, Value, go_name, type_name

METER: Final = "@meter"
"""The name by which a scope has the meter of the evaluation."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """The value of a variable whose evaluation failed."""

    error: ExpressionError


Evaluation = Callable[[Scope, Meter], Value]
"""Evaluates an expression for the values of its variables. Raises EvaluationError."""


def plan(root: Node, checked: Checked) -> Evaluation:
    """Return the evaluation of a tree, which counts the iterations, but no cost."""
    step = Planner(checked).plan(root)
    return lambda scope, meter: step({**scope, METER: meter})


class Planner:
    """Makes the function of each node."""

    def __init__(self, checked: Checked) -> None:
        self._checked = checked

    def plan(self, node: Node) -> LazyStep:
        if isinstance(node, Constant):
            value = node.value
            return lambda _: value
        if isinstance(node, Name):
            return plan_name(node.name)
        if isinstance(node, Select):
            return self.plan_select(node)
        if isinstance(node, Call):
            return self.plan_call(node)
        if isinstance(node, ListLiteral):
            return self.plan_list(node)
        if isinstance(node, MapLiteral):
            return self.plan_map(node)
        if isinstance(node, Comprehension):
            return _Loop(node, self.plan).run
        assert isinstance(node, MessageLiteral)
        return _fail(ExpressionError(f"unknown type '{node.name}'"))

    def plan_select(self, node: Select) -> LazyStep:
        name = get_name(node)
        if node.id in self._checked.variables:
            return plan_name(name)
        operand, field = self.plan(node.operand), node.field
        if node.only_tests:
            return lambda scope: _tests(operand(scope), field)
        return lambda scope: look_up(operand(scope), field)

    def plan_call(self, node: Call) -> LazyStep:
        name, target = node.function, node.target
        if target is not None and node.id in self._checked.qualified:
            name, target = f"{get_name(target)}.{name}", None
        name = name.removeprefix(".")
        parts = node.arguments if target is None else (target, *node.arguments)
        return self.plan_function(node, name, tuple(self.plan(each) for each in parts))

    def plan_function(self, node: Call, name: str, arguments: tuple[LazyStep, ...]) -> LazyStep:
        """Return the call of a function by its whole name."""
        run = self.find_function(node, name)
        if run is None:
            return LAZY[name](*arguments)
        if len(arguments) == 1:
            only = arguments[0]
            return lambda scope: run(only(scope))
        if len(arguments) == 2:
            left, right = arguments
            return lambda scope: run(left(scope), right(scope))
        return lambda scope: run(*[each(scope) for each in arguments])

    def find_function(self, node: Call, name: str) -> Callable[..., Value] | None:
        """Return the function that is called with the values of the arguments; None = not all of them are
        always evaluated."""
        if name in LAZY:
            return None
        candidates = FUNCTIONS.get(name)
        if not candidates:
            return STANDARD[name]
        fitting = self._checked.overloads[node.id]
        return _dispatch(name, fitting if len(fitting) == 1 else candidates)

    def plan_list(self, node: ListLiteral) -> LazyStep:
        elements = [(self.plan(each), index in node.optional) for index, each in enumerate(node.elements)]
        if not node.optional:
            steps = [step for step, _ in elements]
            return lambda scope: [step(scope) for step in steps]

        def run(scope: Scope) -> Value:
            found: list[Value] = []
            for step, optional in elements:
                value = step(scope)
                found.extend(_items(value) if optional else [value])
            return found

        return run

    def plan_map(self, node: MapLiteral) -> LazyStep:
        entries = [(self.plan(each.key), self.plan(each.value), each.optional) for each in node.entries]

        def run(scope: Scope) -> Value:
            found = Map()
            for key_step, value_step, optional in entries:
                key, value = key_step(scope), value_step(scope)
                if isinstance(key, list | Map | Optional | float) or key is None:
                    raise ExpressionError(f"unsupported key type: {type_name(key)}")
                for item in _items(value) if optional else (value,):
                    if found.contains(key):
                        raise ExpressionError(f"Failed with repeated key: {key}")
                    found.put(key, item)
            return found

        return run


def _items(value: Value) -> Iterable[Value]:
    if type(value) is not Optional:
        raise ExpressionError(f"cannot initialize optional list element from non-optional value {value}")
    return value.items


def _fail(error: ExpressionError) -> LazyStep:
    def run(_: Scope) -> Value:
        raise error

    return run


def plan_name(name: str) -> LazyStep:
    """Return a function that reads a variable."""
    name = name.removeprefix(".")

    def run(scope: Scope) -> Value:
        value = scope[name]
        if type(value) is _Failure:
            raise value.error
        return value

    return run


def _tests(value: Value, field: str) -> Value:
    if type(value) is Optional:
        return bool(find_optionally(value, field).items)
    return bool(find(value, field))


def _dispatch(name: str, candidates: Iterable[Function]) -> Callable[..., Value]:
    def run(*values: Value) -> Value:
        for function in candidates:
            if function.accepts(values):
                return function.run(*values)
        raise no_such_overload(f"{name}({', '.join(map(type_name, values))})")

    return run


class _Loop:
    """A comprehension, which all macros over lists and maps become (evalFold)."""

    def __init__(self, node: Comprehension, plan_node: Callable[[Node], LazyStep]) -> None:
        self._node = node
        self._over = plan_node(node.over)
        self._start = plan_node(node.start)
        self._condition = plan_node(node.condition)
        self._step = plan_node(node.step)
        self._result = plan_node(node.result)

    def run(self, scope: Scope) -> Value:
        node = self._node
        over = self._over(scope)
        if not isinstance(over, list | Map):
            raise ExpressionError(f"got '{go_name(over)}', expected iterable type")
        inner = dict(scope)
        inner[node.accumulator] = _try(self._start, scope)
        meter = scope[METER]
        for first, second in _iterate(over, bool(node.second_variable)):
            meter.count(1)
            inner[node.variable] = first
            if node.second_variable:
                inner[node.second_variable] = second
            try:
                if self._condition(inner) is False:
                    break
            except ExpressionError:
                pass  # an error is not false
            inner[node.accumulator] = _try(self._step, inner)
        found = {**scope, node.accumulator: inner[node.accumulator]}
        return self._result(found)


def _iterate(over: list[Value] | Map, in_pairs: bool) -> Iterable[tuple[Value, Value]]:
    if isinstance(over, Map):
        return over.items()
    return enumerate(over) if in_pairs else ((each, None) for each in over)


def _try(step: LazyStep, scope: Scope) -> Value:
    try:
        return step(scope)
    except ExpressionError as error:
        return _Failure(error)
