"""Node selectors: a disjunction of terms, each a conjunction of expressions on labels and on fields.

staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from simulator.objects.labels import Labels, Requirement, parse_requirement


class NodeSelectorTerm(NamedTuple):
    expressions: tuple[Requirement, ...]
    fields: tuple[Requirement, ...]
    """The requirements on fields. Only the field ``metadata.name`` can be selected."""

    @property
    def empty(self) -> bool:
        """An empty term selects nothing."""
        return not self.expressions and not self.fields

    def matches(self, name: str, labels: Labels) -> bool:
        if self.empty or not all(r.matches(labels) for r in self.expressions):
            return False
        return all(selects_names(r) and r.matches_value(name) for r in self.fields)


def selects_names(field: Requirement) -> bool:
    """Whether a requirement on a field can match: it is on metadata.name, with one value
    (nodeSelectorRequirementsAsFieldSelector)."""
    return field.key == "metadata.name" and len(field.values) == 1


NodeSelector = tuple[NodeSelectorTerm, ...]
"""The terms of a node selector. A node matches if any of the terms matches. Without terms, no node
matches."""


class PreferredTerm(NamedTuple):
    weight: int
    term: NodeSelectorTerm


def node_selector_term(manifest: Mapping[str, Any]) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        tuple(parse_requirement(r) for r in manifest.get("matchExpressions") or ()),
        tuple(parse_requirement(r) for r in manifest.get("matchFields") or ()),
    )


def node_selector(manifest: Mapping[str, Any] | None) -> NodeSelector | None:
    """Parse a NodeSelector. None, which matches every node, for a missing one."""
    if manifest is None:
        return None
    return tuple(node_selector_term(term) for term in manifest.get("nodeSelectorTerms") or ())


def preferred_terms(manifests: Sequence[Mapping[str, Any]] | None) -> tuple[PreferredTerm, ...]:
    return tuple(PreferredTerm(m["weight"], node_selector_term(m["preference"])) for m in manifests or ())


def node_selector_matches(selector: NodeSelector, name: str, labels: Labels) -> bool:
    return any(term.matches(name, labels) for term in selector)
