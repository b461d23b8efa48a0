"""The types of expressions, and which may be given for which (cel-go checker/types.go, v0.26)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from simulator.cel.values import Map, Value, type_name

_NAMES: Final = {
    "duration": "google.protobuf.Duration", "timestamp": "google.protobuf.Timestamp",
    "any": "google.protobuf.Any", "null": "null_type",
}  # fmt: skip
PRIMITIVES: Final = ("bool", "int", "uint", "double", "string", "bytes")
_STRUCTURED: Final = ("list", "map", "type")


@dataclass(frozen=True, slots=True)
class Type:
    """A type. One capital letter is a parameter of a declaration, ``%1`` a variable of the check."""

    name: str
    parameters: tuple["Type", ...] = ()

    @property
    def is_parameter(self) -> bool:
        return len(self.name) == 1

    @property
    def is_variable(self) -> bool:
        return self.name[0] == "%"

    @property
    def is_dynamic(self) -> bool:
        """Whether values may be of any type."""
        return self.name in ("dyn", "any")

    @property
    def is_nullable(self) -> bool:
        return self.name not in PRIMITIVES and self.name not in _STRUCTURED

    def __str__(self) -> str:
        """Return the type in errors of the check (FormatCELType)."""
        return self._show(self.name)

    def describe(self) -> str:
        """Return the type by its name at run time (Type.String)."""
        name = _NAMES.get(self.name, self.name)
        if not self.parameters:
            return name
        return f"{name}({', '.join(each.describe() for each in self.parameters)})"

    def _show(self, name: str) -> str:
        return f"{name}({', '.join(map(str, self.parameters))})" if self.parameters else name

    def accepts(self, value: Value) -> bool:
        """Whether a value is of this type; of the elements the first one counts
        (Type.IsAssignableRuntimeType)."""
        if self.is_parameter or self.is_dynamic:
            return True
        if _NAMES.get(self.name, self.name) != type_name(value):
            return False
        if isinstance(value, list) and value:
            return self.parameters[0].accepts(value[0])
        if isinstance(value, Map) and len(value):
            return all(map(Type.accepts, self.parameters, next(iter(value.items()))))
        return True


DYN: Final = Type("dyn")
ERROR: Final = Type("!error!")
BOOL: Final = Type("bool")
INT: Final = Type("int")
STRING: Final = Type("string")


def parse_type(text: str) -> Type:
    """Return the type that a signature names: ``list(A)``."""
    name, bracket, rest = text.partition("(")
    return Type(name, parse_types(rest[:-1])) if bracket else Type(name)


def parse_types(text: str) -> tuple[Type, ...]:
    """Return types with commas between."""
    return tuple(map(parse_type, re.findall(r"[\w.@]+(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?", text)))


def rename(declared: Type, variables: dict[str, Type]) -> Type:
    """Return the type with variables for the parameters of its declaration."""
    if declared.is_parameter:
        return variables[declared.name]
    if not declared.parameters:
        return declared
    return Type(declared.name, tuple(rename(each, variables) for each in declared.parameters))


class Unifier:
    """The types that are found for type variables."""

    def __init__(self) -> None:
        self._found: dict[str, Type] = {}
        self._count = 0

    def make_variable(self) -> Type:
        self._count += 1
        return Type(f"%{self._count}")

    def resolve(self, kind: Type, free: Type | None = None) -> Type:
        """Return the type with what is known for its variables; the rest becomes ``free``, if given."""
        if kind.is_variable:
            found = self._found.get(kind.name)
            return self.resolve(found, free) if found else free or kind
        if not kind.parameters:
            return kind
        return Type(kind.name, tuple(self.resolve(each, free) for each in kind.parameters))

    def is_assignable(self, given: Iterable[Type], wanted: Iterable[Type]) -> bool:
        """Whether each type may be given for the wanted one. If not, the types of
        the variables stay as they were."""
        before = dict(self._found)
        if all(self._assigns(*pair) for pair in zip(given, wanted, strict=True)):
            return True
        self._found = before
        return False

    def _assigns(self, one: Type, other: Type) -> bool:
        if other.is_variable:
            fits, was_known = self._substitutes(one, other)
            if fits or was_known:
                return fits
        if one.is_variable:
            return self._substitutes(other, one)[0]
        if one.is_dynamic or other.is_dynamic or ERROR in (one, other):
            return True
        if "null" in (one.name, other.name):
            return other.is_nullable if one.name == "null" else one.is_nullable
        if one.name != other.name:
            return False
        return one.name == "type" or all(map(self._assigns, one.parameters, other.parameters))

    def _substitutes(self, kind: Type, variable: Type) -> tuple[bool, bool]:
        """Whether a type may stand for a variable, and whether the variable was known."""
        if kind == variable:
            return True, True
        known = self._found.get(variable.name)
        if known:
            if kind == known:
                return True, True
            if self._assigns(kind, known):
                general = get_more_general(kind, known)
                if not self._occurs(variable, general):
                    self._found[variable.name] = general
                return True, True
            return False, True
        if self._occurs(variable, kind):
            return False, False
        self._found[variable.name] = kind
        return True, False

    def _occurs(self, variable: Type, within: Type) -> bool:
        if variable == within:
            return True
        if within.is_variable:
            known = self._found.get(within.name)
            return known is not None and self._occurs(variable, known)
        return any(self._occurs(variable, each) for each in within.parameters)


def get_more_general(one: Type, other: Type) -> Type:
    """Return the less specific of two types that agree (mostGeneral)."""
    return one if _is_general(one, other) else other


def _is_general(one: Type, other: Type) -> bool:
    if one.is_dynamic or one.is_variable:
        return True
    if other.is_dynamic or other.is_variable or one.name != other.name:
        return False
    return one.name == "type" or all(map(_is_general, one.parameters, other.parameters))


@dataclass(frozen=True, slots=True, eq=False)
class ObjectTypes:
    """Types of objects by name. Two of them are equal only if they are the same."""

    fields: Mapping[str, Mapping[str, Type]]
    """The types of the fields of each."""


NO_OBJECTS: Final = ObjectTypes({})
