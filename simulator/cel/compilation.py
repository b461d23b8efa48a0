"""Compiles expressions (cel-go cel/env.go, cel/program.go; v0.26)."""

from collections.abc import Mapping
from typing import NamedTuple

from simulator.cel.checker import Checked, check
from simulator.cel.folding import ProgramFault, fold_constants
from simulator.cel.issues import Issues
from simulator.cel.library import Environment
from simulator.cel.literals import validate
from simulator.cel.object_types import NO_OBJECTS, ObjectTypes
from simulator.cel.parser import SyntaxFault, parse
from simulator.cel.syntax import Node, Tree
from simulator.cel.types import Type


class CompileFault(Exception):
    """An expression does not compile. The message is upstream's."""


class Compiled(NamedTuple):
    """An expression that was parsed and checked."""

    tree: Tree
    checked: Checked

    @property
    def result(self) -> Type:
        return self.checked.result

    def fold(self) -> Node:
        """Return the expression of its program. Raises CompileFault."""
        try:
            return fold_constants(self.tree.root, self.checked)
        except ProgramFault as fault:
            raise CompileFault(f"program instantiation failed: {fault}") from None


def compile_tree(
    text: str, environment: Environment, variables: Mapping[str, Type], objects: ObjectTypes = NO_OBJECTS
) -> Compiled:
    """Parse and check an expression. Raises CompileFault."""
    issues = Issues(text)
    try:
        tree = parse(text, environment)
        checked = check(tree, issues, environment, variables, objects)
        if environment.is_of_kubernetes and not issues:
            validate(tree, checked, issues)
    except SyntaxFault as fault:
        raise CompileFault(f"compilation failed: {fault}") from None
    except RecursionError:
        text = "compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 250"
        raise CompileFault(text) from None
    if issues:
        raise CompileFault(f"compilation failed: {issues}")
    return Compiled(tree, checked)
