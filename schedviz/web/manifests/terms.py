"""Labels, selectors, and the terms of affinity and topology spread as text: a selector as kubectl's ``-l``
takes it, and behind it ``@`` and the topologyKey.

The functions raise KeyError or ValueError for values that the API server does not accept."""

from collections.abc import Mapping
from typing import Any, Final

from simulator.api import Manifest

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def pairs(labels: Mapping[str, Any]) -> list[str]:
    """Format pairs: {"a": "b"} -> ["a=b"]."""
    return [f"{key}={value}" for key, value in labels.items()]


def requirement(found: Manifest) -> str:
    """Return a requirement of a label or node selector: "key", "!key", "key=value", "key in (a, b)",
    "key>1"."""
    key, operator, values = found["key"], found["operator"], found.get("values") or []
    match operator:
        case "Exists":
            return f"{key}"
        case "DoesNotExist":
            return f"!{key}"
        case "In" | "NotIn" if len(values) == 1:
            return f"{key}{'!=' if operator == 'NotIn' else '='}{values[0]}"
        case "In" | "NotIn":
            return f"{key} {operator.lower()} ({', '.join(values)})"
        case "Gt" | "Lt":
            return f"{key}{'>' if operator == 'Gt' else '<'}{values[0]}"
    raise ValueError(operator)


def label_selector(selector: Manifest) -> str:
    """Return a metav1.LabelSelector."""
    expressions = map(requirement, selector.get("matchExpressions") or ())
    return ", ".join([*pairs(selector.get("matchLabels") or {}), *expressions])


def node_term(term: Manifest) -> str:
    """Return a NodeSelectorTerm."""
    expressions = [*(term.get("matchExpressions") or ()), *(term.get("matchFields") or ())]
    return ", ".join(map(requirement, expressions))


def pod_term(term: Manifest) -> str:
    """Return a PodAffinityTerm: "app=web @ topology.kubernetes.io/zone"."""
    return f"{label_selector(term.get('labelSelector') or {})} @ {term['topologyKey']}"


def spread_constraint(constraint: Manifest) -> str:
    """Return a TopologySpreadConstraint: "1 DoNotSchedule: app=web @ topology.kubernetes.io/zone"; the number
    is maxSkew."""
    return f"{constraint['maxSkew']} {constraint['whenUnsatisfiable']}: {pod_term(constraint)}"
