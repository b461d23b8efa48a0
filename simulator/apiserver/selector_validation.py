"""Validation of labels, label selectors, node selectors, taints and tolerations, beyond their schemas.

Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go and pkg/apis/core/validation/validation.go,
v1.34.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from simulator.apiserver import names
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, not_supported, required

TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def validate_labels(given: dict[str, str], path: str) -> Iterator[Cause]:
    for key, value in given.items():
        yield from (invalid(path, key, fault) for fault in names.qualified_name_problems(key))
        if problem := names.label_value(value):
            yield invalid(path, value, problem)


def validate_label_selector(selector: dict[str, Any] | None, path: str) -> Iterator[Cause]:
    if selector is None:
        return
    yield from validate_labels(selector.get("matchLabels", {}), f"{path}.matchLabels")
    for index, expression in enumerate(selector.get("matchExpressions", ())):
        yield from _expression(
            expression, f"{path}.matchExpressions[{index}]", ("In", "NotIn", "Exists", "DoesNotExist")
        )


def validate_node_selector(selector: dict[str, Any], path: str) -> Iterator[Cause]:
    terms = selector.get("nodeSelectorTerms", ())
    if not terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms):
        yield from validate_node_selector_term(term, f"{path}.nodeSelectorTerms[{index}]")


def validate_node_selector_term(term: dict[str, Any], path: str) -> Iterator[Cause]:
    operators = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
    for index, expression in enumerate(term.get("matchExpressions", ())):
        yield from _expression(expression, f"{path}.matchExpressions[{index}]", operators)
    for index, field in enumerate(term.get("matchFields", ())):
        at = f"{path}.matchFields[{index}]"
        if field["key"] != "metadata.name":
            yield invalid(f"{at}.key", field["key"], "not a valid field selector key")
        if field["operator"] not in ("In", "NotIn"):
            yield invalid(f"{at}.operator", field["operator"], "not a valid selector operator")
        elif len(field.get("values", ())) != 1:
            yield required(
                f"{at}.values",
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
            )


def _expression(expression: dict[str, Any], path: str, operators: Iterable[str]) -> Iterator[Cause]:
    operator, values = expression["operator"], expression.get("values", ())
    if problem := names.qualified_name(expression["key"]):
        yield invalid(f"{path}.key", expression["key"], problem)
    if operator not in operators:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield forbidden(
                f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            )
    elif len(values) != 1:
        yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    for index, value in enumerate(values):
        if problem := names.label_value(value):
            yield invalid(f"{path}.values[{index}]", value, problem)


def validate_taints(given: list[dict[str, Any]], path: str) -> Iterator[Cause]:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(given):
        at = f"{path}[{index}]"
        for fault in names.qualified_name_problems(taint["key"]):
            yield invalid(f"{at}.key", taint["key"], fault)
        if problem := names.label_value(taint.get("value", "")):
            yield invalid(f"{at}.value", taint["value"], problem)
        if taint["effect"] not in TAINT_EFFECTS:
            yield not_supported(f"{at}.effect", taint["effect"], TAINT_EFFECTS, as_given=True)
        identity = (taint["key"], taint["effect"])
        if identity in seen:
            yield duplicate(at, f"{taint['key']}:{taint['effect']}")
        seen.add(identity)


def validate_tolerations(given: list[dict[str, Any]], path: str) -> Iterator[Cause]:
    for index, toleration in enumerate(given):
        at = f"{path}[{index}]"
        key, value = toleration.get("key", ""), toleration.get("value", "")
        operator, effect = toleration.get("operator", "") or "Equal", toleration.get("effect", "")
        if key and (problem := names.qualified_name(key)):
            yield invalid(f"{at}.key", key, problem)
        if not key and operator != "Exists":
            yield invalid(
                f"{at}.operator",
                toleration.get("operator", ""),
                'operator must be Exists when `key` is empty, which means "match all values and all keys"',
            )
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            yield invalid(
                f"{at}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"
            )
        if operator not in ("Equal", "Exists"):
            yield not_supported(f"{at}.operator", operator, ("Equal", "Exists"))
        elif operator == "Exists" and value:
            yield invalid(f"{at}.operator", value, "value must be empty when `operator` is 'Exists'")
        elif problem := names.label_value(value):
            yield invalid(f"{at}.operator", value, problem)
        if effect and effect not in TAINT_EFFECTS:
            yield not_supported(f"{at}.effect", effect, TAINT_EFFECTS, as_given=True)
