"""How the functions of a library are described."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from simulator.cel.values import Map, Value, type_name

_SIGNATURE: Final = re.compile(r"(?:(?P<target>[^ ]+)\.)?\((?P<arguments>.*)\) -> (?P<result>.+)")
_NAMES: Final = {"duration": "google.protobuf.Duration", "timestamp": "google.protobuf.Timestamp"}


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """A type in a signature. One capital letter is a parameter."""

    name: str
    parameters: tuple["TypeSpec", ...] = ()

    @property
    def is_parameter(self) -> bool:
        return len(self.name) == 1

    def accepts(self, value: Value) -> bool:
        """Whether a value is of this type; of the elements the first one counts
        (types.Type.IsAssignableRuntimeType)."""
        if self.is_parameter or self.name in ("dyn", "any"):
            return True
        if _NAMES.get(self.name, self.name) != type_name(value):
            return False
        if isinstance(value, list) and value:
            return self.parameters[0].accepts(value[0])
        if isinstance(value, Map) and len(value):
            return all(map(TypeSpec.accepts, self.parameters, next(iter(value.items()))))
        return True

    def describe(self) -> dict[str, object]:
        """The type in the configuration of the library's environment."""
        found: dict[str, object] = {"type_name": self.name}
        if self.is_parameter:
            found["is_type_param"] = True
        if self.parameters:
            found["params"] = [each.describe() for each in self.parameters]
        return found


class Function:
    """One overload of a function."""

    def __init__(self, name: str, overload: str, signature: str, run: Callable[..., Value]) -> None:
        """signature: ``(string) -> int``, of a member ``string.(int) -> bool``."""
        found = _SIGNATURE.fullmatch(signature)
        assert found
        target, arguments, result = found.groups()
        self.name = name
        self.overload = overload
        self.is_member = target is not None
        self.parameters = tuple(map(_parse, ([target] if target else []) + _split(arguments)))
        self.result = _parse(result)
        self.run = run

    def accepts(self, arguments: tuple[Value, ...]) -> bool:
        """Whether the arguments are of the types of this overload."""
        parameters = self.parameters
        if len(parameters) != len(arguments):
            return False
        return all(map(TypeSpec.accepts, parameters, arguments))

    def describe(self) -> dict[str, object]:
        """The overload in the configuration of the library's environment."""
        found: dict[str, object] = {"id": self.overload, "return": self.result.describe()}
        parameters = [each.describe() for each in self.parameters]
        if self.is_member:
            found["target"] = parameters.pop(0)
        found["args"] = parameters
        return found


def _parse(text: str) -> TypeSpec:
    name, bracket, rest = text.partition("(")
    return TypeSpec(name, tuple(map(_parse, _split(rest[:-1])))) if bracket else TypeSpec(name)


def _split(text: str) -> list[str]:
    """The parts between the commas outside of brackets."""
    return re.findall(r"[\w.]+(?:\([^()]*(?:\([^()]*\))?[^()]*\))?", text)
