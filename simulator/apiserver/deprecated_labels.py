"""Labels of nodes that are deprecated (pkg/api/node/util.go, v1.34)."""

from collections.abc import Iterator

from simulator.api import Manifest

_SINCE_1_14 = 'deprecated since v1.14; use "{}" instead'
_SINCE_1_17 = 'deprecated since v1.17; use "{}" instead'
DEPRECATED_LABELS = {
    "beta.kubernetes.io/arch": _SINCE_1_14.format("kubernetes.io/arch"),
    "beta.kubernetes.io/os": _SINCE_1_14.format("kubernetes.io/os"),
    "failure-domain.beta.kubernetes.io/region": _SINCE_1_17.format("topology.kubernetes.io/region"),
    "failure-domain.beta.kubernetes.io/zone": _SINCE_1_17.format("topology.kubernetes.io/zone"),
    "beta.kubernetes.io/instance-type": _SINCE_1_17.format("node.kubernetes.io/instance-type"),
}


def term_warnings(term: Manifest, path: str) -> Iterator[str]:
    """Yield the warnings about a term of a node selector (GetWarningsForNodeSelectorTerm)."""
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        key = expression.get("key")
        if key in DEPRECATED_LABELS:
            yield f"{path}.matchExpressions[{index}].key: {key} is {DEPRECATED_LABELS[key]}"
