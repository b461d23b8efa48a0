"""The nodes of a ResourceSlice, of a device or of an allocation, with the errors that the scheduler finds in
node selectors (NodeMatches in pools_incubating.go; NewNodeSelector in
staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go). The API server refuses
such selectors."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from simulator.api import Manifest
from simulator.objects.labels import parse_int64
from simulator.objects.node_selector import NodeSelector, node_selector


class NodeSelectorError(ValueError):
    """The error of an invalid node selector. The message has all causes."""


class NodeSelection(NamedTuple):
    """The first field that is set decides; without any, no node is selected."""

    node_name: str = ""
    all_nodes: bool = False
    selector_manifest: Manifest | None = None
    selector: NodeSelector | None = None
    fault: str = ""
    """The reason for which the selector could not be parsed."""

    @property
    def is_given(self) -> bool:
        return bool(self.node_name or self.all_nodes or self.selector_manifest is not None)

    @property
    def required(self) -> Manifest | None:
        """The node selector, where that is what selects the nodes."""
        return None if self.node_name or self.all_nodes else self.selector_manifest


NO_NODES: Final = NodeSelection()


def parse_node_selection(manifest: Manifest) -> NodeSelection:
    """Parse the fields nodeName, allNodes and nodeSelector of a slice's spec or of a device."""
    given: Manifest | None = manifest.get("nodeSelector")
    selector: NodeSelector | None = None
    fault = ""
    if given is not None:
        try:
            selector = checked_node_selector(given)
        except NodeSelectorError as error:
            fault = str(error)
    elif not manifest.get("nodeName") and not manifest.get("allNodes"):
        return NO_NODES
    name, everywhere = manifest.get("nodeName") or "", bool(manifest.get("allNodes"))
    return NodeSelection(name, everywhere, given, selector, fault)


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
