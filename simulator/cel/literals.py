"""Checks literals: those of durations, times, regular expressions and formats must be such, and all elements
of a list or a map must be of one type (cel-go cel/validator.go, ext/formatting.go; v0.26)."""

from collections.abc import Iterable

from simulator.cel.checker import Checked
from simulator.cel.conversions import to_duration, to_timestamp
from simulator.cel.errors import ExpressionError
from simulator.cel.formatting import check_kind, read_format
from simulator.cel.issues import Issues
from simulator.cel.syntax import Call, Constant, ListLiteral, MapLiteral, Node, Tree, get_children
from simulator.cel.types import Type
from simulator.kernel.go_regexp import find_fault


def validate(tree: Tree, checked: Checked, issues: Issues) -> None:
    """Adds to the issues what is wrong with literals."""
    _Validator(tree, checked, issues).visit(tree.root, in_format=False)


class _Validator:
    def __init__(self, tree: Tree, checked: Checked, issues: Issues) -> None:
        self._positions = tree.positions
        self._types = checked.types
        self._issues = issues

    def visit(self, node: Node, *, in_format: bool) -> None:
        """Validates the node and all below it. in_format: within a call of ``format``, where a literal may
        have elements of different types."""
        if isinstance(node, Call):
            self._visit_call(node)
            in_format = in_format or node.function == "format"
        elif isinstance(node, ListLiteral) and not in_format:
            kinds = [self._get_type(each, index in node.optional) for index, each in enumerate(node.elements)]
            self._compare(zip(node.elements, kinds, strict=True), first_only=True)
        elif isinstance(node, MapLiteral) and not in_format:
            self._compare([(each.key, self._get_type(each.key, False)) for each in node.entries])
            self._compare([(each.value, self._get_type(each.value, each.optional)) for each in node.entries])
        for each in get_children(node):
            self.visit(each, in_format=in_format)

    def _get_type(self, node: Node, optional: bool) -> Type:
        kind = self._types[node.id]
        return kind.parameters[0] if optional and kind.parameters else kind

    def _compare(self, found: Iterable[tuple[Node, Type]], *, first_only: bool = False) -> None:
        wanted: Type | None = None
        for node, kind in found:
            wanted = wanted or kind
            if kind != wanted:
                self._issues.add_mismatch(self._positions.get(node.id, 0), wanted, kind)
                if first_only:
                    return

    def _visit_call(self, node: Call) -> None:
        if not node.arguments:
            return
        first = node.arguments[0]
        if node.function == "format" and isinstance(node.target, Constant) and isinstance(first, ListLiteral):
            self._check_format(node, str(node.target.value), first)
        elif isinstance(first, Constant) and isinstance(first.value, str) and _is_wrong(node, first.value):
            self._issues.add(self._positions.get(first.id, 0), f"invalid {node.function} argument")

    def _check_format(self, node: Call, text: str, values: ListLiteral) -> None:
        elements = values.elements
        place = self._positions.get(node.id, 0)

        def check(index: int, letter: str, _: int) -> str:
            nonlocal place
            kind = self._types[elements[index].id]
            if not kind.is_dynamic:
                place = self._positions.get(elements[index].id, 0)
                check_kind(letter, Type(kind.name).describe())
                place = self._positions.get(node.id, 0)
            return ""

        try:
            used = read_format(text, len(elements), check)[1]
        except ExpressionError as error:
            self._issues.add(place, str(error))
            return
        if len(elements) > used:
            self._issues.add(
                place,
                f"too many arguments supplied to string.format (expected {used}, got {len(elements)})",
            )


def _is_wrong(call: Call, text: str) -> bool:
    try:
        if call.function == "duration":
            to_duration(text)
        elif call.function == "timestamp":
            to_timestamp(text)
        elif call.function == "matches":
            return bool(find_fault(text))
    except ExpressionError:
        return True
    return False
