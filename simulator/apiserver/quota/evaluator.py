"""Counting the objects of a resource for ResourceQuotas. Resources whose objects use more than their count
have evaluators of their own.

Upstream: apiserver/pkg/quota/v1/generic/evaluator.go and pkg/quota/v1/evaluator/core/registry.go, v1.34.
"""

from collections.abc import Collection, Iterator
from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver.amounts import Amounts

QUOTAS: Final = "resourcequotas"
LEGACY_NAMES: Final = frozenset(("configmaps", "replicationcontrollers", QUOTAS, "secrets"))
"""Resources that are counted under their own name, too (legacyObjectCountAliases)."""


class Evaluator:
    """The rule by which the objects of one resource use a quota."""

    updates: frozenset[str] = frozenset()
    """The subresources whose updates are charged, "" being the object itself. Creations always are."""

    def __init__(self, resource: str) -> None:
        """``resource``: the id of a namespaced resource."""
        self.count_name = f"count/{resource}"
        self._names = (self.count_name, resource) if resource in LEGACY_NAMES else (self.count_name,)

    def matching(self, names: Collection[str]) -> list[str]:
        """Return the names among these, sorted, under which the objects are counted (MatchingResources)."""
        return sorted(name for name in names if self.charges(name))

    def charges(self, name: str) -> bool:
        return name in self._names

    def usage(self, manifest: Manifest, now: Micros) -> Amounts:
        """Return the object's usage at this time."""
        return Amounts.counted(self._names)

    def missing(self, manifest: Manifest, names: Collection[str]) -> str:
        """Return the resources that the object must specify where a quota has these names, as the message
        names them; "" = none (Constraints)."""
        return ""

    def in_scope(self, selector: Manifest, manifest: Manifest) -> bool:
        """Whether the object is in the scope of a scope selector's expression."""
        return False

    def matches(self, quota: Manifest, manifest: Manifest) -> bool:
        """Whether the quota is about this object: it has one of its names, and the object is in all of its
        scopes (Matches)."""
        hard = (quota.get("status") or {}).get("hard") or {}
        return any(map(self.charges, hard)) and self.in_scopes(quota, manifest)

    def in_scopes(self, quota: Manifest, manifest: Manifest) -> bool:
        return all(self.in_scope(selector, manifest) for selector in scope_selectors(quota))


def scope_selectors(quota: Manifest) -> Iterator[Manifest]:
    """Yield the scopes of a quota as expressions of a scope selector (getScopeSelectorsFromQuota)."""
    spec = quota.get("spec") or {}
    for scope in spec.get("scopes") or ():
        yield {"scopeName": scope, "operator": "Exists"}
    yield from (spec.get("scopeSelector") or {}).get("matchExpressions") or ()


def selects(selector: Manifest, found: Collection[str]) -> bool:
    """Whether an expression selects an object that refers to these classes. Without any, it is matched
    against an object without the label; of several, one is enough."""
    wanted = selector.get("values") or ()
    match selector.get("operator"):
        case "Exists":
            return bool(found)
        case "DoesNotExist":
            return not found
        case "In":
            return any(name in wanted for name in found)
        case "NotIn":
            return not found or any(name not in wanted for name in found)
    return False
