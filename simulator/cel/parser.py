"""Parses expressions, by the library of CEL's authors. It is used for nothing else."""

import re
from typing import Final

from cel_expr_python import cel

from simulator.cel.issues import Issues
from simulator.cel.library import Library
from simulator.cel.macros import expand_macros
from simulator.cel.syntax import Tree, read_tree

MAX_LENGTH: Final = 100_000
"""Limit of code points in an expression (cel-go parser/options.go)."""
_CONFIG: Final = "stdlib: {disable_macros: true}"
_PARSER: Final = cel.NewEnv(config=cel.NewEnvConfigFromYaml(_CONFIG))
_PARSER_OF_OPTIONALS: Final = cel.NewEnv(
    config=cel.NewEnvConfigFromYaml(f"{_CONFIG}\nextensions: [{{name: optional}}]")
)
_WITHOUT_PLACE: Final = re.compile(r"\nERROR: <input>:(?:4294967295|-1):(?:0|-1): <<nil>> parsetree")


class SyntaxFault(Exception):
    """The text is no expression. The message is cel-go's."""


def parse(expression: str, library: Library) -> Tree:
    """Return the tree of an expression, without macros. Raises SyntaxFault."""
    if len(expression) > MAX_LENGTH:
        raise SyntaxFault(
            "ERROR: <input>:-1:0: expression code point size exceeds limit:"
            f" size: {len(expression)}, limit {MAX_LENGTH}"
        )
    parser = _PARSER_OF_OPTIONALS if library.is_of_kubernetes else _PARSER
    try:
        tree = read_tree(parser.compile(expression, disable_check=True).serialize())
    except RuntimeError as error:  # the library raises nothing more exact
        if "recursion" in str(error):  # the library's limit is 32
            raise SyntaxFault("ERROR: <input>:-1:0: expression recursion limit exceeded: 250") from None
        text = str(error).removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
        raise SyntaxFault(_WITHOUT_PLACE.sub("", text).replace(r"\u003F", "?")) from None
    issues = Issues(expression)
    expanded = expand_macros(tree, library.macros, issues)
    if issues:
        raise SyntaxFault(str(issues))
    return expanded
