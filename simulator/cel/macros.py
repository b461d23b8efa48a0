"""The macros of CEL: calls that stand for comprehensions and presence tests.

Upstream: cel-go parser/macro.go, cel/library.go, ext/bindings.go, ext/comprehensions.go and ext/lists.go,
v0.26. The parser of the library leaves the calls as they are, as its macros and messages are others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from simulator.cel.issues import Issues
from simulator.cel.syntax import (
    Call,
    Comprehension,
    Constant,
    ListLiteral,
    MapLiteral,
    Name,
    Node,
    Select,
    Tree,
    rebuild,
)  # fmt: skip
from simulator.cel.values import Value

RESULT: Final = "@result"
"""The variable in which a macro collects its result. An expression cannot name it."""
_OLD_RESULT: Final = "__result__"
_SORTED: Final = "@__sortBy_input__"


class _MacroFault(Exception):
    """An argument is not as the macro needs it."""

    def __init__(self, node: Node, text: str) -> None:
        super().__init__(text)
        self.node = node


Macro = Callable[["_Expansion", Call], Node | None]
"""Makes the expression for which a call stands; None = the call stays. Raises _MacroFault."""
Macros = Mapping[tuple[str, int, bool], Macro]
"""Macros by the name of the function, the number of arguments, and whether the call has a target."""


def expand_macros(tree: Tree, macros: Macros, issues: Issues) -> Tree:
    """Return the tree without macros. What is wrong with their arguments is added to the issues."""
    expansion = _Expansion(tree, macros, issues)
    root = expansion.expand(tree.root)
    return Tree(root, expansion.positions)


class _Expansion:
    """Replaces the macros of one tree, the inner ones first, and makes the nodes for them."""

    def __init__(self, tree: Tree, macros: Macros, issues: Issues) -> None:
        self.positions = dict(tree.positions)
        self._macros = macros
        self._issues = issues
        self._place = 0
        self._id = max(tree.positions, default=0)

    def expand(self, node: Node) -> Node:
        call = rebuild(node, self.expand)
        if not isinstance(call, Call):
            return call
        macro = self._macros.get((call.function, len(call.arguments), call.target is not None))
        if macro is None:
            return call
        self._place = self.positions.get(call.id, 0)
        try:
            return macro(self, call) or call
        except _MacroFault as fault:
            self._issues.add(self.positions.get(fault.node.id, 0), str(fault))
            return call

    # New nodes, at the place of the macro

    def make_id(self) -> int:
        self._id += 1
        self.positions[self._id] = self._place
        return self._id

    def constant(self, value: Value) -> Constant:
        return Constant(self.make_id(), value)

    def name(self, name: str = RESULT) -> Name:
        return Name(self.make_id(), name)

    def list(self, *elements: Node) -> ListLiteral:
        return ListLiteral(self.make_id(), elements, frozenset())

    def call(self, function: str, *arguments: Node, target: Node | None = None) -> Call:
        return Call(self.make_id(), function, target, arguments)

    def loop(
        self, over: Node, variables: tuple[str, str], start: Node, *, turn: tuple[Node, Node], result: Node
    ) -> Comprehension:
        """``turn``: the condition and the step."""
        return Comprehension(self.make_id(), *variables, over, RESULT, start, *turn, result)

    def bind(self, name: str, value: Node, result: Node) -> Comprehension:
        """Return an expression in which a name stands for a value."""
        return Comprehension(
            self.make_id(),
            "#unused",
            "",
            self.list(),
            name,
            value,
            self.constant(False),
            self.name(name),
            result,
        )


def _read_name(argument: Node, fault: str) -> str:
    if not isinstance(argument, Name):
        raise _MacroFault(argument, fault)
    if argument.name in (RESULT, _OLD_RESULT):
        raise _MacroFault(argument, "iteration variable overwrites accumulator variable")
    return argument.name


def _target(call: Call) -> Node:
    assert call.target
    return call.target


def _read_variables(call: Call, count: int) -> tuple[str, str]:
    """Return the variables of a quantifier or of a comprehension of two variables."""
    arguments = call.arguments[:count]
    for each in arguments:
        if not isinstance(each, Name):
            raise _MacroFault(each, "argument must be a simple name")
    names = [each.name for each in arguments if isinstance(each, Name)]
    if len(set(names)) < count:
        raise _MacroFault(arguments[1], f"duplicate variable name: {names[0]}")
    for each in arguments:
        _read_name(each, "")
    return names[0], names[1] if count > 1 else ""


def _make_quantifier(make: Callable[[_Expansion, Node], tuple[Node, Node, Node, Node]], count: int) -> Macro:
    """Return a macro over ``count`` variables. ``make`` returns the start, the condition, the step and the
    result, by the predicate."""

    def expand(nodes: _Expansion, call: Call) -> Node:
        variables = _read_variables(call, count)
        start, condition, step, result = make(nodes, call.arguments[count])
        return nodes.loop(_target(call), variables, start, turn=(condition, step), result=result)

    return expand


def _all(nodes: _Expansion, predicate: Node) -> tuple[Node, Node, Node, Node]:
    start = nodes.constant(True)
    condition = nodes.call("@not_strictly_false", nodes.name())
    return start, condition, nodes.call("_&&_", nodes.name(), predicate), nodes.name()


def _exists(nodes: _Expansion, predicate: Node) -> tuple[Node, Node, Node, Node]:
    start = nodes.constant(False)
    condition = nodes.call("@not_strictly_false", nodes.call("!_", nodes.name()))
    return start, condition, nodes.call("_||_", nodes.name(), predicate), nodes.name()


def _exists_one(nodes: _Expansion, predicate: Node) -> tuple[Node, Node, Node, Node]:
    start, condition = nodes.constant(0), nodes.constant(True)
    more = nodes.call("_+_", nodes.name(), nodes.constant(1))
    step = nodes.call("_?_:_", predicate, more, nodes.name())
    return start, condition, step, nodes.call("_==_", nodes.name(), nodes.constant(1))


def _collect(
    nodes: _Expansion,
    call: Call,
    variables: tuple[str, str],
    start: Node,
    step: Node,
    *,
    filters: Sequence[Node],
) -> Node:
    """Return a loop that adds to a list or map what passes the filters, of which there is one at most."""
    condition = nodes.constant(True)
    for each in filters:
        step = nodes.call("_?_:_", each, step, nodes.name())
    return nodes.loop(_target(call), variables, start, turn=(condition, step), result=nodes.name())


def _map(nodes: _Expansion, call: Call) -> Node:
    variable = _read_name(call.arguments[0], "argument is not an identifier")
    return _map_over(nodes, call, variable)


def _map_over(nodes: _Expansion, call: Call, variable: str) -> Node:
    *filters, made = call.arguments[1:]
    start = nodes.list()
    step = nodes.call("_+_", nodes.name(), nodes.list(made))
    return _collect(nodes, call, (variable, ""), start, step, filters=filters)


def _filter(nodes: _Expansion, call: Call) -> Node:
    element, predicate = call.arguments
    variable = _read_name(element, "argument is not an identifier")
    start = nodes.list()
    step = nodes.call("_+_", nodes.name(), nodes.list(element))
    return _collect(nodes, call, (variable, ""), start, step, filters=(predicate,))


def _has(nodes: _Expansion, call: Call) -> Node:
    selected = call.arguments[0]
    if not isinstance(selected, Select):
        raise _MacroFault(selected, "invalid argument to has() macro")
    return Select(nodes.make_id(), selected.operand, selected.field, only_tests=True)


def _transform_list(nodes: _Expansion, call: Call) -> Node:
    variables = _read_variables(call, 2)
    *filters, made = call.arguments[2:]
    step = nodes.call("_+_", nodes.name(), nodes.list(made))
    return _collect(nodes, call, variables, nodes.list(), step, filters=filters)


def _transform_map(nodes: _Expansion, call: Call) -> Node:
    variables = _read_variables(call, 2)
    *filters, made = call.arguments[2:]
    step = nodes.call("cel.@mapInsert", nodes.name(), nodes.name(variables[0]), made)
    return _collect(nodes, call, variables, MapLiteral(nodes.make_id(), ()), step, filters=filters)


def _transform_entry(nodes: _Expansion, call: Call) -> Node:
    variables = _read_variables(call, 2)
    *filters, made = call.arguments[2:]
    step = nodes.call("cel.@mapInsert", nodes.name(), made)
    return _collect(nodes, call, variables, MapLiteral(nodes.make_id(), ()), step, filters=filters)


def _sort_by(nodes: _Expansion, call: Call) -> Node:
    target = _target(call)
    if not isinstance(target, ListLiteral | Select | Name | Comprehension | Call):
        text = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise _MacroFault(target, text)
    variable = _read_name(call.arguments[0], "argument is not an identifier")
    keys = _map_over(nodes, replace(call, target=nodes.name(_SORTED)), variable)
    return nodes.bind(_SORTED, target, nodes.call("@sortByAssociatedKeys", keys, target=nodes.name(_SORTED)))


def _bind(nodes: _Expansion, call: Call) -> Node | None:
    target = _target(call)
    if not isinstance(target, Name) or target.name != "cel":
        return None
    variable, value, result = call.arguments
    if not isinstance(variable, Name):
        raise _MacroFault(variable, "cel.bind() variable names must be simple identifiers")
    return nodes.bind(variable.name, value, result)


STANDARD_MACROS: Final[Macros] = {
    ("has", 1, False): _has,
    ("all", 2, True): _make_quantifier(_all, 1),
    ("exists", 2, True): _make_quantifier(_exists, 1),
    ("exists_one", 2, True): _make_quantifier(_exists_one, 1),
    ("existsOne", 2, True): _make_quantifier(_exists_one, 1),
    ("map", 2, True): _map,
    ("map", 3, True): _map,
    ("filter", 2, True): _filter,
}
TWO_VARIABLES: Final[Macros] = {
    ("all", 3, True): _make_quantifier(_all, 2),
    ("exists", 3, True): _make_quantifier(_exists, 2),
    ("exists_one", 3, True): _make_quantifier(_exists_one, 2),
    ("existsOne", 3, True): _make_quantifier(_exists_one, 2),
    ("transformList", 3, True): _transform_list,
    ("transformList", 4, True): _transform_list,
    ("transformMap", 3, True): _transform_map,
    ("transformMap", 4, True): _transform_map,
    ("transformMapEntry", 3, True): _transform_entry,
    ("transformMapEntry", 4, True): _transform_entry,
}
SORT_BY: Final[Macros] = {("sortBy", 2, True): _sort_by}
BIND: Final[Macros] = {("bind", 3, True): _bind}
