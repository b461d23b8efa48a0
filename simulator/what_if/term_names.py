"""The names of constraints in suggestions: label selectors, and terms of node and pod affinity. Constraints
that differ have different names."""

from collections.abc import Iterator

from simulator.api import Manifest


def format_expression(expression: Manifest) -> str:
    """Format an expression of a label selector or of a node selector term."""
    values = ", ".join(expression.get("values") or ())
    match expression["operator"]:
        case "In":
            return f"{expression['key']} in ({values})"
        case "NotIn":
            return f"{expression['key']} not in ({values})"
        case "Gt" | "Lt" as operator:
            return f"{expression['key']} {'>' if operator == 'Gt' else '<'} {values}"
        case "DoesNotExist":
            return f"no {expression['key']}"
    return str(expression["key"])


def format_node_term(term: Manifest) -> str:
    listed = (*(term.get("matchExpressions") or ()), *(term.get("matchFields") or ()))
    return " and ".join(map(format_expression, listed))


def format_selector(selector: Manifest | None) -> str:
    """Format a label selector; a nil one selects no pods, an empty one all."""
    if selector is None:
        return "no pods"
    return " and ".join(_requirements(selector)) or "all pods"


def _requirements(selector: Manifest) -> Iterator[str]:
    for key, value in (selector.get("matchLabels") or {}).items():
        yield f"{key}={value}"
    yield from map(format_expression, selector.get("matchExpressions") or ())


def format_pod_term(term: Manifest) -> str:
    """Format the pods of a term of pod (anti-)affinity: its selector, and its namespaces if they are not only
    the pod's own. The topology key is not contained."""
    text = format_selector(term.get("labelSelector"))
    places = [f"namespace {name}" for name in term.get("namespaces") or ()]
    others = term.get("namespaceSelector")
    if others is not None:
        listed = " and ".join(_requirements(others))
        places.append(f"namespaces with {listed}" if listed else "all namespaces")
    return f"{text} in {' or '.join(places)}" if places else text
