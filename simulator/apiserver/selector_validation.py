"""Validation of labels, label selectors, node selectors, taints and tolerations, beyond their schemas.

Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go and pkg/apis/core/validation/validation.go,
v1.34.
"""

from collections.abc import Iterator
from typing import Any, Final

from simulator.apiserver import names
from simulator.apiserver.enumerations import TAINT_EFFECTS, TOLERATION_OPERATORS
from simulator.apiserver.field_checks import check_choice, check_name
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, not_supported, required

_NO_OPERATOR: Final = "not a valid selector operator"
_NO_KEY: Final = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'


def validate_labels(given: dict[str, str], path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateLabels reports."""
    for key, value in given.items():
        yield from check_name(names.qualified_name, key, path)
        yield from check_name(names.label_value, value, path)


def validate_label_selector(selector: dict[str, Any] | None, path: str) -> Iterator[Cause]:
    if selector is None:
        return
    yield from validate_labels(selector.get("matchLabels", {}), f"{path}.matchLabels")
    for index, expression in enumerate(selector.get("matchExpressions", ())):
        yield from _expression(expression, f"{path}.matchExpressions[{index}]")


def validate_node_selector(selector: dict[str, Any], path: str) -> Iterator[Cause]:
    terms = selector.get("nodeSelectorTerms", ())
    if not terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms):
        yield from validate_node_selector_term(term, f"{path}.nodeSelectorTerms[{index}]")


def validate_node_selector_term(
    term: dict[str, Any], path: str, *, any_value: bool = False
) -> Iterator[Cause]:
    """Yield the faults of a term. ``any_value``: values need not be those of labels, as in a preferred
    term."""
    for index, expression in enumerate(term.get("matchExpressions", ())):
        at = f"{path}.matchExpressions[{index}]"
        yield from _expression(expression, at, of_nodes=True, any_value=any_value)
    for index, field in enumerate(term.get("matchFields", ())):
        yield from _node_field(field, f"{path}.matchFields[{index}]")


def _expression(
    expression: dict[str, Any], path: str, *, of_nodes: bool = False, any_value: bool = False
) -> Iterator[Cause]:
    """Yield the faults that ValidateLabelSelectorRequirement reports; ``of_nodes``: those of
    ValidateNodeSelectorRequirement."""
    operator, values = expression["operator"], expression.get("values", ())
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield forbidden(f"{path}.values", detail)
    elif of_nodes and operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield invalid(f"{path}.operator", operator, _NO_OPERATOR)
    yield from check_name(names.qualified_name, expression["key"], f"{path}.key")
    for index, value in enumerate(() if any_value else values):
        yield from check_name(names.label_value, value, f"{path}.values[{index}]")


def _node_field(field: dict[str, Any], path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateNodeFieldSelectorRequirement reports."""
    values = field.get("values", ())
    if field["operator"] not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", field["operator"], _NO_OPERATOR)
    elif len(values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", detail)
    if field["key"] != "metadata.name":
        yield invalid(f"{path}.key", field["key"], "not a valid field selector key")
        return
    for index, value in enumerate(values):
        yield from check_name(names.dns_subdomain, value, f"{path}.values[{index}]")


def validate_taints(given: list[dict[str, Any]], path: str) -> Iterator[Cause]:
    """Yield the faults that validateNodeTaints reports."""
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(given):
        at = f"{path}[{index}]"
        yield from check_name(names.qualified_name, taint["key"], f"{at}.key")
        yield from _value(taint.get("value", ""), f"{at}.value")
        yield from check_choice(taint["effect"], TAINT_EFFECTS, f"{at}.effect", as_given=True)
        identity = (taint["key"], taint["effect"])
        if identity in seen:
            yield duplicate(at, core_struct("Taint", taint), "taints must be unique by key and effect pair")
        seen.add(identity)


def validate_tolerations(given: list[dict[str, Any]], path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateTolerations reports."""
    for index, toleration in enumerate(given):
        at = f"{path}[{index}]"
        key, value = toleration.get("key", ""), toleration.get("value", "")
        operator, effect = toleration.get("operator", ""), toleration.get("effect", "")
        if key:
            yield from check_name(names.qualified_name, key, f"{at}.key")
        elif operator != "Exists":
            yield invalid(f"{at}.operator", operator, _NO_KEY)
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield invalid(f"{at}.effect", effect, detail)
        if operator in ("Equal", ""):
            yield from _value(value, f"{at}.operator")
        elif operator != "Exists":
            yield not_supported(f"{at}.operator", operator, TOLERATION_OPERATORS)
        elif value:
            yield invalid(f"{at}.operator", value, "value must be empty when `operator` is 'Exists'")
        if effect and effect not in TAINT_EFFECTS:
            yield not_supported(f"{at}.effect", effect, TAINT_EFFECTS, as_given=True)


def _value(value: str, path: str) -> Iterator[Cause]:
    """Yield the faults of the value of a taint or a toleration, whose problems upstream joins."""
    if problems := names.label_value(value):
        yield invalid(path, value, ";".join(problems))
