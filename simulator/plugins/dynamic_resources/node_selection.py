"""Node selectors of slices and of allocations, with the errors that the scheduler finds in them
(NewNodeSelector in staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go,
v1.34). The API server refuses such selectors."""

from collections.abc import Iterator

from simulator.api import Manifest
from simulator.objects.labels import parse_int64
from simulator.objects.node_selector import NodeSelector, node_selector


class NodeSelectorError(ValueError):
    """The error of an invalid node selector. The message has all causes."""


def checked_node_selector(manifest: Manifest) -> NodeSelector:
    """Parse a node selector. Raises NodeSelectorError."""
    causes = [
        f"nodeSelectorTerms[{i}].matchExpressions[{j}].{cause}"
        for i, term in enumerate(manifest.get("nodeSelectorTerms") or ())
        for j, expression in enumerate(term.get("matchExpressions") or ())
        for cause in _causes(expression)
    ]
    if causes:
        raise NodeSelectorError(causes[0] if len(causes) == 1 else f"[{', '.join(causes)}]")
    parsed = node_selector(manifest)
    assert parsed is not None
    return parsed


def _causes(expression: Manifest) -> Iterator[str]:
    values = expression.get("values") or []
    match expression.get("operator"):
        case "In" | "NotIn":
            if not values:
                yield ("values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty")
        case "Exists" | "DoesNotExist":
            if values:
                yield (
                    f"values: Invalid value: {_go_strings(values)}: "
                    "values set must be empty for exists and does not exist"
                )
        case "Gt" | "Lt":
            if len(values) != 1:
                given = _go_strings(values) if values else "null"
                yield (
                    f"values: Invalid value: {given}: for 'Gt', 'Lt' operators, exactly one value is required"
                )
            elif parse_int64(values[0]) is None:
                yield (
                    f'values[0]: Invalid value: "{values[0]}": '
                    "for 'Gt', 'Lt' operators, the value must be an integer"
                )


def _go_strings(values: list[str]) -> str:
    return "[" + ",".join(f'"{value}"' for value in values) + "]"
