"""Validation of what a pod asks of its node: affinity and topology spread constraints.

Upstream: validateAffinity and validateTopologySpreadConstraints in pkg/apis/core/validation/validation.go,
v1.34.
"""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names, selector_validation
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, not_supported, required

WHEN_UNSATISFIABLE: Final = ("DoNotSchedule", "ScheduleAnyway")
NODE_POLICIES: Final = ("Honor", "Ignore")


def validate_affinity(affinity: Manifest, path: str) -> Iterator[Cause]:
    node = affinity.get("nodeAffinity", {})
    if node.get("requiredDuringSchedulingIgnoredDuringExecution"):
        yield from selector_validation.validate_node_selector(
            node["requiredDuringSchedulingIgnoredDuringExecution"],
            f"{path}.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
        )
    for at, preferred in _preferred(node, f"{path}.nodeAffinity"):
        yield from _weight(preferred, at)
        yield from selector_validation.validate_node_selector_term(
            preferred["preference"], f"{at}.preference"
        )
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind, {})
        for index, term in enumerate(terms.get("requiredDuringSchedulingIgnoredDuringExecution", ())):
            at = f"{path}.{kind}.requiredDuringSchedulingIgnoredDuringExecution[{index}]"
            yield from _pod_affinity_term(term, at)
        for at, preferred in _preferred(terms, f"{path}.{kind}"):
            yield from _weight(preferred, at)
            yield from _pod_affinity_term(preferred["podAffinityTerm"], f"{at}.podAffinityTerm")


def _preferred(affinity: Manifest, path: str) -> Iterator[tuple[str, Manifest]]:
    field = "preferredDuringSchedulingIgnoredDuringExecution"
    for index, term in enumerate(affinity.get(field, ())):
        yield f"{path}.{field}[{index}]", term


def _weight(preferred: Manifest, path: str) -> Iterator[Cause]:
    if not 1 <= preferred["weight"] <= 100:
        yield invalid(f"{path}.weight", preferred["weight"], "must be in the range 1-100")


def _pod_affinity_term(term: Manifest, path: str) -> Iterator[Cause]:
    yield from selector_validation.validate_label_selector(term.get("labelSelector"), f"{path}.labelSelector")
    yield from selector_validation.validate_label_selector(
        term.get("namespaceSelector"), f"{path}.namespaceSelector"
    )
    for namespace in term.get("namespaces", ()):
        if problem := names.dns_label(namespace):
            yield invalid(f"{path}.namespace", namespace, problem)
    yield from _topology_key(term["topologyKey"], f"{path}.topologyKey")
    yield from _match_label_keys(term, path)


def _topology_key(key: str, path: str) -> Iterator[Cause]:
    if not key:
        yield required(path, "can not be empty")
    elif problem := names.qualified_name(key):
        yield invalid(path, key, problem)


def _match_label_keys(term: Manifest, path: str) -> Iterator[Cause]:
    for index, key in enumerate(term.get("matchLabelKeys", ())):
        if key in term.get("mismatchLabelKeys", ()):
            detail = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield invalid(f"{path}.matchLabelKeys[{index}]", key, detail)
    for field in ("matchLabelKeys", "mismatchLabelKeys"):
        keys = term.get(field, ())
        if keys and term.get("labelSelector") is None:
            yield forbidden(f"{path}.{field}", "must not be specified when labelSelector is not set")
        for index, key in enumerate(keys):
            if problem := names.qualified_name(key):
                yield invalid(f"{path}.{field}[{index}]", key, problem)


def validate_spread(constraints: list[Manifest], path: str) -> Iterator[Cause]:
    identities = [(each["topologyKey"], each["whenUnsatisfiable"]) for each in constraints]
    for index, constraint in enumerate(constraints):
        at = f"{path}[{index}]"
        when = constraint["whenUnsatisfiable"]
        if constraint["maxSkew"] <= 0:
            yield invalid(f"{at}.maxSkew", constraint["maxSkew"], "must be greater than zero")
        yield from _topology_key(constraint["topologyKey"], f"{at}.topologyKey")
        if when not in WHEN_UNSATISFIABLE:
            yield not_supported(f"{at}.whenUnsatisfiable", when, WHEN_UNSATISFIABLE)
        if identities[index] in identities[index + 1 :]:
            shown = f"{{{constraint['topologyKey']}, {when}}}"
            yield duplicate(f"{at}.{{topologyKey, whenUnsatisfiable}}", shown)
        if "minDomains" in constraint:
            if constraint["minDomains"] <= 0:
                yield invalid(f"{at}.minDomains", constraint["minDomains"], "must be greater than zero")
            if when != "DoNotSchedule":
                yield invalid(
                    f"{at}.minDomains",
                    constraint["minDomains"],
                    f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}",
                )
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if field in constraint and constraint[field] not in NODE_POLICIES:
                yield not_supported(f"{at}.{field}", constraint[field], NODE_POLICIES)
        yield from selector_validation.validate_label_selector(
            constraint.get("labelSelector"), f"{at}.labelSelector"
        )
        yield from _match_label_keys(constraint, at)
