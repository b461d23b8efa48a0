"""Compiles expressions (cel-go cel/env.go, cel/program.go; v0.26)."""

from collections.abc import Mapping
from typing import NamedTuple

from simulator.cel.checker import Checked, check
from simulator.cel.cost_estimate import estimate_cost
from simulator.cel.cost_tracking import plan_with_cost
from simulator.cel.declared_sizes import DeclaredSize, Limits
from simulator.cel.errors import CompileFault
from simulator.cel.folding import ProgramFault, fold_constants
from simulator.cel.functions import Environment
from simulator.cel.issues import Issues
from simulator.cel.library import LIBRARIES
from simulator.cel.literals import validate
from simulator.cel.parser import SyntaxFault, parse
from simulator.cel.program import Evaluation, plan
from simulator.cel.syntax import Name, Node, Tree, get_children
from simulator.cel.types import NO_OBJECTS, ObjectTypes, Type


class Compiled(NamedTuple):
    """An expression that was parsed and checked."""

    tree: Tree
    checked: Checked

    @property
    def result(self) -> Type:
        return self.checked.result

    def names(self) -> frozenset[str]:
        """Return all names in it."""
        return frozenset(_names_in(self.tree.root))

    def plan(self) -> Evaluation:
        """Return its evaluation, which counts the iterations, but no cost. Raises CompileFault."""
        return plan(self._fold(), self.checked)

    def plan_with_cost(self) -> Evaluation:
        """Return its evaluation, which ends at the limit of the meter. Raises CompileFault."""
        return plan_with_cost(self._fold(), self.checked)

    def estimate_cost(self, variables: DeclaredSize, limits: Limits | None = None) -> int:
        """Return the largest cost of an evaluation. variables: their sizes, as those of fields."""
        return estimate_cost(self.tree, self.checked, variables, limits).most

    def _fold(self) -> Node:
        try:
            return fold_constants(self.tree.root, self.checked)
        except ProgramFault as fault:
            raise CompileFault(f"program instantiation failed: {fault}") from None


def compile_tree(
    text: str, environment: Environment, variables: Mapping[str, Type], objects: ObjectTypes = NO_OBJECTS
) -> Compiled:
    """Parse and check an expression. Raises CompileFault."""
    issues, library = Issues(text), LIBRARIES[environment]
    try:
        tree = parse(text, library)
        checked = check(tree, issues, library, variables, objects)
        if library.is_of_kubernetes and not issues:
            validate(tree, checked, issues)
    except SyntaxFault as fault:
        raise CompileFault(f"compilation failed: {fault}") from None
    except RecursionError:
        message = "compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 250"
        raise CompileFault(message) from None
    if issues:
        raise CompileFault(f"compilation failed: {issues}")
    return Compiled(tree, checked)


def _names_in(node: Node) -> set[str]:
    found = {node.name} if isinstance(node, Name) else set()
    return found.union(*map(_names_in, get_children(node)))
