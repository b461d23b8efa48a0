"""Evaluates a syntax tree as cel-go does (interpreter/planner.go, interpretable.go; v0.26).

Each expression becomes a function of the variables in scope. An error of cel-go is a value; here it is an
exception, and a :class:`_Failure` where a variable holds it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from simulator.cel.checker import TYPES, Checked
from simulator.cel.errors import SelectorError, cost_exceeded, no_such_overload
from simulator.cel.functions import Function
from simulator.cel.library import LIBRARY
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
    Tree,
    get_name,
)  # fmt: skip
from simulator.cel.values import Map, Optional, TypeName, Value, go_name, type_name

MAX_ITERATIONS: Final = 20_000
"""Of all macros of one evaluation."""
DEVICE: Final = "device"
_COUNT: Final = "@iterations"
Scope = dict[str, Value]
Step = Callable[[Scope], Value]


@dataclass(frozen=True, slots=True)
class _Failure:
    """The value of a variable whose evaluation failed."""

    error: SelectorError


def plan(tree: Tree, checked: Checked) -> Callable[[Value], Value]:
    """A function that evaluates the tree for a device. It raises SelectorError."""
    evaluate = plan_scope(tree, checked)
    return lambda device: evaluate({DEVICE: device}, [0])


def plan_scope(tree: Tree, checked: Checked) -> Callable[[Scope, list[int]], Value]:
    """A function that evaluates the tree for the values of its variables. Its second argument has the number
    of iterations so far, of all evaluations that share it. It raises SelectorError."""
    step = _Planner(checked).plan(tree.root)
    return lambda scope, iterations: step({**scope, _COUNT: iterations})


class _Planner:
    def __init__(self, checked: Checked) -> None:
        self._checked = checked

    def plan(self, node: Node) -> Step:
        if isinstance(node, Constant):
            value = node.value
            return lambda _: value
        if isinstance(node, Name):
            return _plan_name(node.name)
        if isinstance(node, Select):
            return self._plan_select(node)
        if isinstance(node, Call):
            return self._plan_call(node)
        if isinstance(node, ListLiteral):
            return self._plan_list(node)
        if isinstance(node, MapLiteral):
            return self._plan_map(node)
        if isinstance(node, Comprehension):
            return _Loop(node, self.plan).run
        assert isinstance(node, MessageLiteral)
        return _fail(SelectorError(f"unknown type '{node.name}'"))

    def _plan_select(self, node: Select) -> Step:
        name = get_name(node)
        if name in TYPES or node.id in self._checked.variables:
            return _plan_name(name)
        operand, field = self.plan(node.operand), node.field
        if node.only_tests:
            return lambda scope: _tests(operand(scope), field)
        return lambda scope: look_up(operand(scope), field)

    def _plan_call(self, node: Call) -> Step:
        name, target = node.function, node.target
        if target is not None and node.id in self._checked.qualified:
            name, target = f"{get_name(target)}.{name}", None
        name = name.removeprefix(".")
        parts = node.arguments if target is None else (target, *node.arguments)
        arguments = tuple(self.plan(each) for each in parts)
        if name in _LAZY:
            return _LAZY[name](*arguments)
        candidates = LIBRARY.get(name)
        if candidates:
            fitting = self._checked.overloads[node.id]
            return _plan_library_call(name, fitting if len(fitting) == 1 else candidates, arguments)
        run = STANDARD[name]
        if len(arguments) == 1:
            only = arguments[0]
            return lambda scope: run(only(scope))
        if len(arguments) == 2:
            left, right = arguments
            return lambda scope: run(left(scope), right(scope))
        return lambda scope: run(*[each(scope) for each in arguments])

    def _plan_list(self, node: ListLiteral) -> Step:
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

    def _plan_map(self, node: MapLiteral) -> Step:
        entries = [(self.plan(each.key), self.plan(each.value), each.optional) for each in node.entries]

        def run(scope: Scope) -> Value:
            found = Map()
            for key_step, value_step, optional in entries:
                key, value = key_step(scope), value_step(scope)
                if isinstance(key, list | Map | Optional | float) or key is None:
                    raise SelectorError(f"unsupported key type: {type_name(key)}")
                for item in _items(value) if optional else (value,):
                    if found.contains(key):
                        raise SelectorError(f"Failed with repeated key: {key}")
                    found.put(key, item)
            return found

        return run


def _items(value: Value) -> Iterable[Value]:
    if type(value) is not Optional:
        raise SelectorError(f"cannot initialize optional list element from non-optional value {value}")
    return value.items


def _fail(error: SelectorError) -> Step:
    def run(_: Scope) -> Value:
        raise error

    return run


def _plan_name(name: str) -> Step:
    name = name.removeprefix(".")
    if name in TYPES:
        value = TypeName(name)
        return lambda _: value

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


def _plan_library_call(name: str, candidates: Iterable[Function], arguments: tuple[Step, ...]) -> Step:
    def run(scope: Scope) -> Value:
        values = tuple([each(scope) for each in arguments])
        for function in candidates:
            if function.accepts(values):
                return function.run(*values)
        raise no_such_overload(f"{name}({', '.join(map(type_name, values))})")

    return run


def _plan_logic(decisive: bool) -> Callable[[Step, Step], Step]:
    """``&&`` or ``||``: the decisive value of either side wins over an error of the other one."""

    def plan_pair(left: Step, right: Step) -> Step:
        def run(scope: Scope) -> Value:
            first: SelectorError | None = None
            for step in (left, right):
                try:
                    value = step(scope)
                except SelectorError as error:
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


def _plan_choice(condition: Step, then: Step, otherwise: Step) -> Step:
    def run(scope: Scope) -> Value:
        value = condition(scope)
        if type(value) is not bool:
            raise no_such_overload()
        return then(scope) if value else otherwise(scope)

    return run


def _plan_tolerance(step: Step) -> Step:
    def run(scope: Scope) -> Value:
        try:
            return step(scope) is not False
        except SelectorError:
            return True

    return run


def _plan_or(get: Callable[[Optional], Value], name: str) -> Callable[[Step, Step], Step]:
    """``or`` and ``orValue``: the second side is evaluated only if it is needed."""

    def plan_pair(left: Step, right: Step) -> Step:
        def run(scope: Scope) -> Value:
            value = left(scope)
            if type(value) is not Optional:
                raise no_such_overload(name)
            return get(value) if value.items else right(scope)

        return run

    return plan_pair


_LAZY: Final[dict[str, Callable[..., Step]]] = {
    "_&&_": _plan_logic(False),
    "_||_": _plan_logic(True),
    "_?_:_": _plan_choice,
    "@not_strictly_false": _plan_tolerance,
    "or": _plan_or(lambda value: value, "or"),
    "orValue": _plan_or(lambda value: value.items[0], "orValue"),
}


class _Loop:
    """A comprehension, which all macros over lists and maps become (evalFold)."""

    def __init__(self, node: Comprehension, plan_node: Callable[[Node], Step]) -> None:
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
            raise SelectorError(f"got '{go_name(over)}', expected iterable type")
        inner = dict(scope)
        inner[node.accumulator] = _try(self._start, scope)
        for first, second in _iterate(over, bool(node.second_variable)):
            scope[_COUNT][0] += 1
            if scope[_COUNT][0] > MAX_ITERATIONS:
                raise cost_exceeded()
            inner[node.variable] = first
            if node.second_variable:
                inner[node.second_variable] = second
            try:
                if self._condition(inner) is False:
                    break
            except SelectorError:
                pass  # an error is not false
            inner[node.accumulator] = _try(self._step, inner)
        found = {**scope, node.accumulator: inner[node.accumulator]}
        return self._result(found)


def _iterate(over: list[Value] | Map, in_pairs: bool) -> Iterable[tuple[Value, Value]]:
    if isinstance(over, Map):
        return over.items()
    return enumerate(over) if in_pairs else ((each, None) for each in over)


def _try(step: Step, scope: Scope) -> Value:
    try:
        return step(scope)
    except SelectorError as error:
        return _Failure(error)
