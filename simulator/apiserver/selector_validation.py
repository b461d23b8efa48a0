"""Validation of labels, label selectors, node selectors, taints and tolerations, beyond their schemas, and
the warnings about deprecated labels of nodes.

Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, pkg/apis/core/validation/validation.go and
pkg/api/node/util.go."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import TAINT_EFFECTS, TOLERATION_OPERATORS
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.shapes import all_of, choice, each, field, filled, must_have, named_by, one_of
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, not_supported, required

_NO_OPERATOR: Final = "not a valid selector operator"
_NO_KEY: Final = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
_SINCE_1_14 = 'deprecated since v1.14; use "{}" instead'
_SINCE_1_17 = 'deprecated since v1.17; use "{}" instead'
DEPRECATED_LABELS = {
    "beta.kubernetes.io/arch": _SINCE_1_14.format("kubernetes.io/arch"),
    "beta.kubernetes.io/os": _SINCE_1_14.format("kubernetes.io/os"),
    "failure-domain.beta.kubernetes.io/region": _SINCE_1_17.format("topology.kubernetes.io/region"),
    "failure-domain.beta.kubernetes.io/zone": _SINCE_1_17.format("topology.kubernetes.io/zone"),
    "beta.kubernetes.io/instance-type": _SINCE_1_17.format("node.kubernetes.io/instance-type"),
}


def validate_labels(given: dict[str, str], path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateLabels reports."""
    for key, value in given.items():
        yield from check_name(names.qualified_name, key, path)
        yield from check_name(names.label_value, value, path)


def validate_label_selector(selector: dict[str, Any] | None, path: str) -> Iterable[Cause]:
    return () if selector is None else _LABEL_SELECTOR(selector, path)


def _operator(expression: dict[str, Any], path: str) -> Iterable[Cause]:
    """Return the faults of the operator of a requirement (ValidateLabelSelectorRequirement)."""
    operator, has_values = expression["operator"], bool(expression.get("values"))
    if operator in ("In", "NotIn"):
        detail = "must be specified when `operator` is 'In' or 'NotIn'"
        return () if has_values else (required(f"{path}.values", detail),)
    if operator in ("Exists", "DoesNotExist"):
        detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        return (forbidden(f"{path}.values", detail),) if has_values else ()
    return (invalid(f"{path}.operator", operator, _NO_OPERATOR),)


def _node_operator(expression: dict[str, Any], path: str) -> Iterable[Cause]:
    """Return the faults of the operator of a requirement for nodes (ValidateNodeSelectorRequirement)."""
    if expression["operator"] not in ("Gt", "Lt"):
        return _operator(expression, path)
    is_single = len(expression.get("values", ())) == 1
    detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
    return () if is_single else (required(f"{path}.values", detail),)


def _node_field(requirement: dict[str, Any], path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateNodeFieldSelectorRequirement reports."""
    if requirement["operator"] not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", requirement["operator"], _NO_OPERATOR)
    elif len(requirement.get("values", ())) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", detail)
    if requirement["key"] == "metadata.name":
        yield from _NODE_NAMES(requirement, path)
    else:
        yield invalid(f"{path}.key", requirement["key"], "not a valid field selector key")


def validate_taints(given: list[dict[str, Any]], path: str) -> Iterator[Cause]:
    """Yield the faults that validateNodeTaints reports."""
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(given):
        at = f"{path}[{index}]"
        yield from _TAINT(taint, at)
        identity = (taint["key"], taint["effect"])
        if identity in seen:
            yield duplicate(at, core_struct("Taint", taint), "taints must be unique by key and effect pair")
        seen.add(identity)


def validate_tolerations(given: list[dict[str, Any]], path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateTolerations reports."""
    for index, toleration in enumerate(given):
        yield from _toleration(toleration, f"{path}[{index}]")


def _toleration(toleration: dict[str, Any], path: str) -> Iterator[Cause]:
    operator, effect = toleration.get("operator", ""), toleration.get("effect", "")
    value, at = toleration.get("value", ""), f"{path}.operator"
    if toleration.get("key"):
        yield from _KEY(toleration, path)
    elif operator != "Exists":
        yield invalid(at, operator, _NO_KEY)
    if "tolerationSeconds" in toleration and effect != "NoExecute":
        yield invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    if operator in ("Equal", ""):
        yield from _value(value, at)
    elif operator != "Exists":
        yield not_supported(at, operator, TOLERATION_OPERATORS)
    elif value:
        yield invalid(at, value, "value must be empty when `operator` is 'Exists'")
    yield from _EFFECT(toleration, path)


def _value(value: str, path: str) -> Iterable[Cause]:
    """Return the faults of the value of a taint or a toleration, whose problems upstream joins."""
    problems = names.label_value(value)
    return (invalid(path, value, ";".join(problems)),) if problems else ()


_KEY: Final = field("key", named_by(names.qualified_name))
_VALUES: Final = each("values", named_by(names.label_value))
_NODE_NAMES: Final = each("values", named_by(names.dns_subdomain))
_EFFECT: Final = filled("effect", one_of(TAINT_EFFECTS, as_given=True))
_TAINT: Final = all_of(
    _KEY, filled("value", _value), field("effect", choice(TAINT_EFFECTS, as_given=True), default="")
)
_MATCH_FIELDS: Final = each("matchFields", _node_field)
_LABEL_SELECTOR: Final = all_of(
    field("matchLabels", validate_labels),
    each("matchExpressions", _operator, _KEY, _VALUES),
)
_NODE_TERM: Final = all_of(each("matchExpressions", _node_operator, _KEY, _VALUES), _MATCH_FIELDS)
PREFERRED_TERM: Final = all_of(each("matchExpressions", _node_operator, _KEY), _MATCH_FIELDS)
"""A term that nodes need not match, in which values need not be those of labels."""
NODE_SELECTOR: Final = all_of(
    must_have("nodeSelectorTerms", detail="must have at least one node selector term"),
    each("nodeSelectorTerms", _NODE_TERM),
)


def term_warnings(term: Manifest, path: str) -> Iterator[str]:
    """Yield the warnings about a term of a node selector (GetWarningsForNodeSelectorTerm)."""
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        key = expression.get("key")
        if key in DEPRECATED_LABELS:
            yield f"{path}.matchExpressions[{index}].key: {key} is {DEPRECATED_LABELS[key]}"
