"""Validation of what a pod asks of its node: affinity and topology spread constraints.

Upstream: validateAffinity and validateTopologySpreadConstraints in pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import NODE_POLICIES, WHEN_UNSATISFIABLE
from simulator.apiserver.field_checks import NOT_POSITIVE, check_name
from simulator.apiserver.selector_validation import NODE_SELECTOR, PREFERRED_TERM, validate_label_selector
from simulator.apiserver.shapes import all_of, each, field, in_range, must_have, named_by, one_of
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def _label_keys(term: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateMatchLabelKeysAndMismatchLabelKeys reports."""
    matching, others = term.get("matchLabelKeys", ()), term.get("mismatchLabelKeys", ())
    if not matching and not others:
        return
    selector = term.get("labelSelector")
    for field_name, keys in (("matchLabelKeys", matching), ("mismatchLabelKeys", others)):
        if keys and selector is None:
            yield forbidden(f"{path}.{field_name}", "must not be specified when labelSelector is not set")
            continue
        for index, key in enumerate(keys):
            yield from check_name(names.qualified_name, key, f"{path}.{field_name}[{index}]")
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
        at, (key, when) = f"{path}[{index}]", identities[index]
        yield from _SPREAD(constraint, at)
        if last[identities[index]] > index:
            yield duplicate(f"{at}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {when}}}")
        if "minDomains" in constraint:
            yield from _min_domains(constraint["minDomains"], when, f"{at}.minDomains")
        yield from _SPREAD_OF(constraint, at)


def _min_domains(least: int, when: str, path: str) -> Iterator[Cause]:
    if least <= 0:
        yield invalid(path, least, NOT_POSITIVE)
    if when != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
        yield invalid(path, least, detail)


_TOPOLOGY_KEY: Final = must_have("topologyKey", detail="can not be empty")
_WEIGHT: Final = field("weight", in_range(1, 100, detail="must be in the range 1-100"))
_TERM: Final = all_of(
    field("labelSelector", validate_label_selector),
    field("namespaceSelector", validate_label_selector),
    each("namespaces", named_by(names.dns_label), indexed=False, shown="namespace"),
    _label_keys,
    _TOPOLOGY_KEY,
    field("topologyKey", named_by(names.qualified_name)),
)
"""A term of pod affinity (validatePodAffinityTerm)."""
AFFINITY: Final = all_of(
    field(f"nodeAffinity.{_REQUIRED}", NODE_SELECTOR),
    each(f"nodeAffinity.{_PREFERRED}", _WEIGHT, field("preference", PREFERRED_TERM)),
    *(
        rule
        for kind in ("podAffinity", "podAntiAffinity")
        for rule in (
            each(f"{kind}.{_REQUIRED}", _TERM),
            each(f"{kind}.{_PREFERRED}", _WEIGHT, field("podAffinityTerm", _TERM)),
        )
    ),
)
_SPREAD: Final = all_of(
    field("maxSkew", in_range(1, detail=NOT_POSITIVE)),
    _TOPOLOGY_KEY,
    field("whenUnsatisfiable", one_of(WHEN_UNSATISFIABLE)),
)
_NODE_POLICY: Final = one_of(NODE_POLICIES)
_SPREAD_OF: Final = all_of(
    field("nodeAffinityPolicy", _NODE_POLICY),
    field("nodeTaintsPolicy", _NODE_POLICY),
    _label_keys,
    field("labelSelector", validate_label_selector),
)
