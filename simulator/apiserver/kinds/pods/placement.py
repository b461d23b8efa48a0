"""Validation of what a pod asks of its node: affinity and topology spread constraints.

Upstream: validateAffinity and validateTopologySpreadConstraints in pkg/apis/core/validation/validation.go,
v1.34.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import NODE_POLICIES, WHEN_UNSATISFIABLE
from simulator.apiserver.field_checks import NOT_POSITIVE, check_name
from simulator.apiserver.selector_validation import (
    validate_label_selector,
    validate_node_selector,
    validate_node_selector_term,
)
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, not_supported, required

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_MAX_WEIGHT: Final = 100
_NO_SELECTOR: Final = "must not be specified when labelSelector is not set"


def validate_affinity(affinity: Manifest, path: str) -> Iterator[Cause]:
    node, at = affinity.get("nodeAffinity", {}), f"{path}.nodeAffinity"
    if _REQUIRED in node:
        yield from validate_node_selector(node[_REQUIRED], f"{at}.{_REQUIRED}")
    for index, preferred in enumerate(node.get(_PREFERRED, ())):
        term = f"{at}.{_PREFERRED}[{index}]"
        yield from _weight(preferred, term)
        # With one node alone, any value may do: upstream does not look at it.
        yield from validate_node_selector_term(preferred["preference"], f"{term}.preference", any_value=True)
    for kind in ("podAffinity", "podAntiAffinity"):
        terms, at = affinity.get(kind, {}), f"{path}.{kind}"
        for index, term in enumerate(terms.get(_REQUIRED, ())):
            yield from _pod_affinity_term(term, f"{at}.{_REQUIRED}[{index}]")
        for index, preferred in enumerate(terms.get(_PREFERRED, ())):
            yield from _weight(preferred, f"{at}.{_PREFERRED}[{index}]")
            place = f"{at}.{_PREFERRED}[{index}].podAffinityTerm"
            yield from _pod_affinity_term(preferred["podAffinityTerm"], place)


def _weight(preferred: Manifest, path: str) -> Iterator[Cause]:
    if not 1 <= preferred["weight"] <= _MAX_WEIGHT:
        yield invalid(f"{path}.weight", preferred["weight"], "must be in the range 1-100")


def _pod_affinity_term(term: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validatePodAffinityTerm reports."""
    yield from validate_label_selector(term.get("labelSelector"), f"{path}.labelSelector")
    yield from validate_label_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for namespace in term.get("namespaces", ()):
        yield from check_name(names.dns_label, namespace, f"{path}.namespace")
    yield from _label_keys(term, path)
    key = term["topologyKey"]
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from check_name(names.qualified_name, key, f"{path}.topologyKey")


def _label_keys(term: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateMatchLabelKeysAndMismatchLabelKeys reports."""
    selector = term.get("labelSelector")
    matching, others = term.get("matchLabelKeys", ()), term.get("mismatchLabelKeys", ())
    for field, keys in (("matchLabelKeys", matching), ("mismatchLabelKeys", others)):
        if keys and selector is None:
            yield forbidden(f"{path}.{field}", _NO_SELECTOR)
            continue
        for index, key in enumerate(keys):
            yield from check_name(names.qualified_name, key, f"{path}.{field}[{index}]")
    if selector is not None:
        yield from _keys_in_selector(selector, matching, path)
    known = {*others}
    for index, key in enumerate(matching):
        if key in known:
            detail = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield invalid(f"{path}.matchLabelKeys[{index}]", key, detail)


def _keys_in_selector(selector: Manifest, keys: Sequence[str], path: str) -> Iterator[Cause]:
    """Yield the faults of the keys. Upstream has added a requirement for each key to the selector before it
    compares the key with others, and writes the index of the key behind the path of the term."""
    seen = {*selector.get("matchLabels", ())}
    places = {key: index for index, key in enumerate(keys)}
    for expression in selector.get("matchExpressions", ()):
        key = expression["key"]
        if key in places and key in seen:
            yield invalid(f"{path}[{places[key]}]", key, "exists in both matchLabelKeys and labelSelector")
        seen.add(key)


def validate_spread(constraints: list[Manifest], path: str) -> Iterator[Cause]:
    identities = [(each["topologyKey"], each["whenUnsatisfiable"]) for each in constraints]
    last = {identity: index for index, identity in enumerate(identities)}
    for index, constraint in enumerate(constraints):
        at = f"{path}[{index}]"
        key, when = identities[index]
        if constraint["maxSkew"] <= 0:
            yield invalid(f"{at}.maxSkew", constraint["maxSkew"], NOT_POSITIVE)
        if not key:
            yield required(f"{at}.topologyKey", "can not be empty")
        if when not in WHEN_UNSATISFIABLE:
            yield not_supported(f"{at}.whenUnsatisfiable", when, WHEN_UNSATISFIABLE)
        if last[identities[index]] > index:
            yield duplicate(f"{at}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {when}}}")
        if "minDomains" in constraint:
            yield from _min_domains(constraint["minDomains"], when, f"{at}.minDomains")
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if field in constraint and constraint[field] not in NODE_POLICIES:
                yield not_supported(f"{at}.{field}", constraint[field], NODE_POLICIES)
        yield from _label_keys(constraint, at)
        yield from validate_label_selector(constraint.get("labelSelector"), f"{at}.labelSelector")


def _min_domains(least: int, when: str, path: str) -> Iterator[Cause]:
    if least <= 0:
        yield invalid(path, least, NOT_POSITIVE)
    if when != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
        yield invalid(path, least, detail)
