"""Parses selectors, by the library of CEL's authors."""

import re
from typing import Final

from cel_expr_python import cel

from simulator.cel.syntax import Tree, read_tree

MAX_LENGTH: Final = 100_000
"""Limit of code points in an expression (cel-go parser/options.go)."""
_EXTENSIONS: Final = ("optional", "bindings", "two-var-comprehensions")
_ENVIRONMENT: Final = cel.NewEnv(
    config=cel.NewEnvConfigFromYaml(f"extensions: [{', '.join(f'{{name: {each}}}' for each in _EXTENSIONS)}]")
)
_WITHOUT_PLACE: Final = re.compile(r"\nERROR: <input>:(?:4294967295|-1):(?:0|-1): <<nil>> parsetree")


class SyntaxFault(Exception):
    """The text is no expression. The message is cel-go's."""


def parse(expression: str) -> Tree:
    """Return the tree of an expression. Raises SyntaxFault."""
    if len(expression) > MAX_LENGTH:
        raise SyntaxFault(
            "ERROR: <input>:-1:0: expression code point size exceeds limit:"
            f" size: {len(expression)}, limit {MAX_LENGTH}"
        )
    try:
        return read_tree(_ENVIRONMENT.compile(expression, disable_check=True).serialize())
    except RuntimeError as error:  # the library raises nothing more exact
        if "recursion" in str(error):  # the library's limit is 32
            raise SyntaxFault("ERROR: <input>:-1:0: expression recursion limit exceeded: 250") from None
        text = str(error).removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
        raise SyntaxFault(_WITHOUT_PLACE.sub("", text).replace(r"\u003F", "?")) from None
