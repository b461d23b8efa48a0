"""Checks the types of an expression (cel-go checker/checker.go, v0.26).

The library's own check cannot declare the types of Kubernetes, and prints other errors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from simulator.cel.functions import Function, Signature
from simulator.cel.issues import Issues
from simulator.cel.library import FUNCTIONS, Library
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
from simulator.cel.types import (
    BOOL,
    DYN,
    ERROR,
    INT,
    NO_OBJECTS,
    PRIMITIVES,
    ObjectTypes,
    Type,
    Unifier,
    get_more_general,
    parse_type,
    rename,
)  # fmt: skip
from simulator.cel.values import type_name

_OPAQUE: Final = ("kubernetes.Quantity", "kubernetes.Semver", "kubernetes.URL", "kubernetes.NamedFormat")
"""Types of objects whose fields are unknown."""
TYPES: Final = {
    **{each: Type(each) for each in (*PRIMITIVES, "net.IP", "net.CIDR", *_OPAQUE)},
    "null_type": Type("null"),
    "list": parse_type("list(dyn)"),
    "map": parse_type("map(dyn, dyn)"),
    "type": Type("type"),
    "optional_type": parse_type("optional_type(dyn)"),
    "google.protobuf.Duration": Type("duration"),
    "google.protobuf.Timestamp": Type("timestamp"),
}  # fmt: skip
"""Name that an expression can use for a type -> the type."""


@dataclass(slots=True)
class Checked:
    """The types and overloads of a checked tree."""

    result: Type
    types: Mapping[int, Type]
    """Id of a node -> its type."""
    type_names: frozenset[int]
    """Ids of names and selections that name a type: ``int``, ``net.IP``."""
    variables: frozenset[int]
    """Ids of selections that are the name of a variable: ``authorizer.requestResource``."""
    qualified: frozenset[int]
    """Ids of calls whose target is a part of the function's name: ``sets.contains``."""
    overloads: Mapping[int, tuple[Function, ...]]
    """Id of a call of one of Kubernetes' functions -> the overloads whose types fit."""
    signatures: Mapping[int, tuple[Signature | None, ...]]
    """Id of a call -> the signatures that fit; None = a selection from an optional (``a.?b``), which has no
    signature."""


def check(
    tree: Tree,
    issues: Issues,
    library: Library,
    variables: Mapping[str, Type],
    objects: ObjectTypes = NO_OBJECTS,
) -> Checked:
    """Checks a tree. If anything is wrong, it is added to the issues. objects: the types of the variables and
    of their fields that are objects."""
    checker = _Checker(tree, issues, library, variables, objects)
    result = checker.unifier.resolve(checker.check(tree.root), DYN)
    types = {number: checker.unifier.resolve(each, DYN) for number, each in checker.types.items()}
    type_names, variables_named = frozenset(checker.type_names), frozenset(checker.variables)
    return Checked(
        result,
        types,
        type_names,
        variables_named,
        frozenset(checker.qualified),
        checker.overloads,
        checker.signatures,
    )


class _Checker:
    def __init__(
        self,
        tree: Tree,
        issues: Issues,
        library: Library,
        variables: Mapping[str, Type],
        objects: ObjectTypes,
    ) -> None:
        self._positions = tree.positions
        self._issues = issues
        self._scope: dict[str, Type] = dict(variables)
        self._objects = objects.fields
        self._known = library.signatures
        self.unifier = Unifier()
        self.type_names: set[int] = set()
        self.variables: set[int] = set()
        self.qualified: set[int] = set()
        self.overloads: dict[int, tuple[Function, ...]] = {}
        self.signatures: dict[int, tuple[Signature | None, ...]] = {}
        self.types: dict[int, Type] = {}

    def check(self, node: Node) -> Type:
        """Return the type of an expression."""
        found = self.types[node.id] = self._check(node)
        return found

    def _check(self, node: Node) -> Type:
        if isinstance(node, Constant):
            name = type_name(node.value)
            return Type("null") if name == "null_type" else Type(name)
        if isinstance(node, Name):
            return self._check_name(node)
        if isinstance(node, Select):
            return self._check_select(node)
        if isinstance(node, Call):
            return self._check_call(node)
        if isinstance(node, ListLiteral):
            return self._check_list(node)
        if isinstance(node, MapLiteral):
            return self._check_map(node)
        if isinstance(node, Comprehension):
            return self._check_comprehension(node)
        assert isinstance(node, MessageLiteral)
        self._issues.add_undeclared(self._place(node), node.name)
        return ERROR

    def _place(self, node: Node) -> int:
        return self._positions.get(node.id, 0)

    def _find(self, node: Node, name: str) -> Type | None:
        name = name.removeprefix(".")
        found = self._scope.get(name)
        if found is None and name in TYPES:
            self.type_names.add(node.id)
            return Type("type", (TYPES[name],))
        return found

    def _check_name(self, node: Name) -> Type:
        found = self._find(node, node.name)
        if found is None:
            self._issues.add_undeclared(self._place(node), node.name.removeprefix("."))
        return found or ERROR

    def _check_select(self, node: Select) -> Type:
        name = get_name(node)
        found = self._find(node, name) if name else None
        if found is not None:
            self.variables.add(node.id)
            return found
        kind = self._check_field(node, node.operand, node.field, optional=False)
        return BOOL if node.only_tests else self.unifier.resolve(kind)

    def _check_field(self, node: Node, operand: Node, name: str, *, optional: bool) -> Type:
        kind = self.unifier.resolve(self.check(operand))
        is_optional = kind.name == "optional_type"
        target = kind.parameters[0] if is_optional else kind
        result = DYN
        if target.name == "map":
            result = target.parameters[1]
        elif target.name in self._objects:
            result = self._objects[target.name].get(name, ERROR)
            if result == ERROR:
                self._issues.add(self._place(node), f"undefined field '{name}'")
        elif target.name in _OPAQUE:
            result = ERROR
            self._issues.add(self._place(node), f"unexpected failed resolution of '{target}'")
        elif target.is_variable:
            self.unifier.is_assignable([DYN], [target])
        elif not target.is_dynamic and target != ERROR:
            self._issues.add(self._place(node), f"type '{target}' does not support field selection")
        return Type("optional_type", (result,)) if is_optional or optional else result

    def _check_call(self, node: Call) -> Type:
        if node.function == "_?._":
            operand, named = node.arguments
            assert isinstance(named, Constant)
            self.signatures[node.id] = (None,)
            return self.unifier.resolve(self._check_field(node, operand, named.value, optional=True))
        arguments = [self.check(each) for each in node.arguments]
        if node.target is not None:
            prefix = get_name(node.target)
            name = f"{prefix}.{node.function}"
            if not prefix or name not in self._known:
                arguments.insert(0, self.check(node.target))
                return self._resolve(node, node.function, arguments, is_member=True)
            self.qualified.add(node.id)
            return self._resolve(node, name, arguments, is_member=False)
        return self._resolve(node, node.function, arguments, is_member=False)

    def _resolve(self, node: Call, name: str, given: list[Type], *, is_member: bool) -> Type:
        """Return the type of a call: that of the overload that fits, of any type if several of them do."""
        name = name.removeprefix(".")
        if name not in self._known:
            self._issues.add_undeclared(self._place(node), name)
            return ERROR
        result: Type | None = None
        fitting: list[Signature] = []
        for signature in self._known[name]:
            if signature.is_member != is_member or len(signature.parameters) != len(given):
                continue
            found = self._try(signature, given)
            if found is None:
                continue
            fitting.append(signature)
            if result is None:
                result = found
            elif not result.is_dynamic and found != result:
                result = DYN
        if result is None:
            shown = [str(self.unifier.resolve(each, DYN)) for each in given]
            target = shown.pop(0) + "." if is_member else ""
            text = f"found no matching overload for '{name}' applied to '{target}({', '.join(shown)})'"
            self._issues.add(self._place(node), text)
            return ERROR
        self.signatures[node.id] = tuple(fitting)
        functions = FUNCTIONS.get(name)
        if functions:
            self.overloads[node.id] = tuple(each for each in functions if each.signature in fitting)
        return result

    def _try(self, signature: Signature, given: list[Type]) -> Type | None:
        variables = {each: self.unifier.make_variable() for each in sorted(signature.names)}
        wanted = [rename(each, variables) for each in signature.parameters]
        if not self.unifier.is_assignable(given, wanted):
            return None
        return self.unifier.resolve(rename(signature.result, variables))

    def _check_list(self, node: ListLiteral) -> Type:
        joined: Type | None = None
        for index, each in enumerate(node.elements):
            kind = self.check(each)
            if index in node.optional:
                kind = self._unwrap(each, kind)
            joined = self._join(joined, kind)
        return Type("list", (joined or self.unifier.make_variable(),))

    def _check_map(self, node: MapLiteral) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for entry in node.entries:
            keys = self._join(keys, self.check(entry.key))
            kind = self.check(entry.value)
            if entry.optional:
                kind = self._unwrap(entry.value, kind)
            values = self._join(values, kind)
        variable = self.unifier.make_variable
        return Type("map", (keys or variable(), values or variable()))

    def _unwrap(self, node: Node, kind: Type) -> Type:
        resolved = self.unifier.resolve(kind)
        if resolved.name == "optional_type":
            return resolved.parameters[0]
        if not resolved.is_dynamic:
            self._issues.add_mismatch(self._place(node), Type("optional_type", (resolved,)), resolved)
        return resolved

    def _join(self, joined: Type | None, kind: Type) -> Type:
        """Return the type of all elements so far."""
        if joined is None:
            return kind
        return get_more_general(joined, kind) if self.unifier.is_assignable([joined], [kind]) else DYN

    def _check_comprehension(self, node: Comprehension) -> Type:
        over = self.unifier.resolve(self.check(node.over))
        accumulator = self.check(node.start)
        first = second = DYN
        if over.name == "list":
            first = second = over.parameters[0]
            first = INT if node.second_variable else first
        elif over.name == "map":
            first, second = over.parameters
        elif over.is_dynamic or over.is_variable or over == ERROR:
            self.unifier.is_assignable([DYN], [over])
        else:
            self._issues.add(
                self._place(node.over),
                f"expression of type '{over}' cannot be range of a comprehension"
                " (must be list, map, or dynamic)",
            )
            first = second = ERROR
        outer = self._scope
        with_result = {**outer, node.accumulator: accumulator}
        inner = {**with_result, node.variable: first}
        if node.second_variable:
            inner[node.second_variable] = second
        self._scope = inner
        self._expect(node.condition, BOOL)
        self._expect(node.step, accumulator)
        self._scope = with_result
        result = self.unifier.resolve(self.check(node.result))
        self._scope = outer
        return result

    def _expect(self, node: Node, wanted: Type) -> None:
        kind = self.check(node)
        if not self.unifier.is_assignable([wanted], [kind]):
            resolve = self.unifier.resolve
            self._issues.add_mismatch(self._place(node), resolve(wanted), resolve(kind))
