"""The IP families of a Service: what it asks for, what follows from its addresses, and the default.

The cluster has the family IPv4 alone. Upstream: initIPFamilyFields in
pkg/registry/core/service/storage/alloc.go, v1.34.
"""

from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.kinds.services.validation import validate_addresses
from simulator.apiserver.status import Cause, invalid

HEADLESS: Final = "None"
_CONFIGURED: Final = ("IPv4",)
_FAMILIES: Final = ("IPv4", "IPv6")
_SINGLE: Final = "SingleStack"
_MULTIPLE: Final = "must be 'RequireDualStack' or 'PreferDualStack' when multiple {} are specified"
_POLICY: Final = "spec.ipFamilyPolicy"


def set_families(spec: Manifest, before: Manifest | None, *, any_family: bool) -> list[Cause]:
    """Set the policy and the families of a Service in place; the causes for what it cannot have. ``before``:
    the spec that is updated. ``any_family``: as in a cluster with both families."""
    if spec.get("type") == "ExternalName" or _stays_dual(spec, before):
        return []
    is_endless = spec.get("clusterIP") == HEADLESS and not spec.get("selector")
    if "ipFamilyPolicy" not in spec:
        inherited = (before or {}).get("ipFamilyPolicy")
        spec["ipFamilyPolicy"] = inherited or ("RequireDualStack" if is_endless else _SINGLE)
    causes = [*validate_addresses(spec)]
    if causes:
        return causes
    configured = _FAMILIES if any_family else _CONFIGURED
    causes = [*_released(spec, before), *_of_policy(spec), *_of_addresses(spec, configured)]
    if causes:
        return causes
    families = spec.setdefault("ipFamilies", [_CONFIGURED[0]])
    if is_endless:
        # Its endpoints are not made by the cluster, and may have any families.
        if len(families) == 1 and spec["ipFamilyPolicy"] != _SINGLE:
            families += [family for family in _FAMILIES if family not in families]
        return []
    return [*_not_configured(spec, configured)]


def _stays_dual(spec: Manifest, before: Manifest | None) -> bool:
    """Whether the fields of a dual-stack Service stay (isMatchingPreferDualStackClusterIPFields)."""
    fields = ("type", "ipFamilyPolicy", "clusterIPs", "ipFamilies")
    return (
        before is not None
        and spec.get("ipFamilyPolicy") == "PreferDualStack"
        and all(spec.get(field) == before.get(field) for field in fields)
    )


def _released(spec: Manifest, before: Manifest | None) -> Iterator[Cause]:
    if before is None:
        return
    for field, what in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")):
        given, known = spec.get(field, []), before.get(field, [])
        if spec["ipFamilyPolicy"] == _SINGLE:
            if given == known and len(given) > 1:
                spec[field] = given[:1]
        elif given and len(given) < len(known):
            detail = f"must be 'SingleStack' to release the secondary {what}"
            yield invalid(_POLICY, spec["ipFamilyPolicy"], detail)


def _of_policy(spec: Manifest) -> Iterator[Cause]:
    for field, what in (("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")):
        if spec["ipFamilyPolicy"] == _SINGLE and len(spec.get(field, ())) == 2:
            yield invalid(_POLICY, _SINGLE, _MULTIPLE.format(what))


def _of_addresses(spec: Manifest, configured: tuple[str, ...]) -> Iterator[Cause]:
    """Add the families of addresses for which none is given."""
    addresses: list[Any] = spec.get("clusterIPs", [])
    for index, address in enumerate(addresses):
        if address == HEADLESS:
            return
        family = "IPv6" if ":" in address else "IPv4"
        if index < len(spec.get("ipFamilies", ())):
            continue
        if family in configured:
            spec.setdefault("ipFamilies", []).append(family)
        else:
            detail = f"{family} is not configured on this cluster"
            yield invalid(f"spec.clusterIPs[{index}]", addresses, detail)


def _not_configured(spec: Manifest, configured: tuple[str, ...]) -> Iterator[Cause]:
    if spec["ipFamilyPolicy"] == "RequireDualStack" and len(configured) < 2:
        detail = "this cluster is not configured for dual-stack services"
        yield invalid(_POLICY, "RequireDualStack", detail)
    for index, family in enumerate(spec["ipFamilies"]):
        if family not in configured:
            yield invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster")
