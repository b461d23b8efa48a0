"""The functions of CEL, and the environments that know them."""

import re
from collections.abc import Callable
from enum import Enum, auto
from typing import Final

from simulator.cel.types import Type, parse_type, parse_types
from simulator.cel.values import Value


class Environment(Enum):
    """What an expression may use beside its variables."""

    STORED_EXPRESSIONS = auto()
    """All that this version knows: for what is stored (environment.StoredExpressions)."""
    NEW_EXPRESSIONS = auto()
    """What v1.33 knows, too: for what is written to the API server (environment.NewExpressions)."""
    STORED_SELECTORS = auto()
    """The same with ``cel.bind``, for the selectors of devices."""
    NEW_SELECTORS = auto()
    LIST_SELECTORS = auto()
    """Those of devices whose attributes can be lists (the feature gate DRAListTypeAttributes): with
    ``includes``."""
    CONDITIONS = auto()
    """CEL without extensions and without ``matches``, for the conditions of lessons."""


_SIGNATURE: Final = re.compile(r"(?:(?P<target>.+)\.)?\((?P<arguments>.*)\) -> (?P<result>.+)")


class Signature:
    """The types of one overload: ``(string) -> int``, of a member ``string.(int) -> bool``."""

    def __init__(self, text: str) -> None:
        found = _SIGNATURE.fullmatch(text)
        assert found
        target, arguments, result = found.groups()
        self.is_member = target is not None
        self.parameters: tuple[Type, ...] = ((parse_type(target),) if target else ()) + parse_types(arguments)
        self.result = parse_type(result)
        self.names = frozenset(re.findall(r"\b[A-Z]\b", text))
        """The parameters of types."""


class Function:
    """One overload of a function."""

    def __init__(
        self, name: str, signature: str, run: Callable[..., Value], *, is_guarded: bool = True
    ) -> None:
        """``is_guarded``: whether it is called only with arguments of its types."""
        self.name = name
        self.signature = Signature(signature)
        self.run = run
        self._is_guarded = is_guarded

    def accepts(self, arguments: tuple[Value, ...]) -> bool:
        """Whether the arguments are of the types of this overload."""
        parameters = self.signature.parameters
        if len(parameters) != len(arguments):
            return False
        return not self._is_guarded or all(map(Type.accepts, parameters, arguments))
