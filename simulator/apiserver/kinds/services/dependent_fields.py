"""The fields of a Service that depend on others: its IP families, and those that follow from its type, which
it needs, which an update keeps and which it releases.

The cluster has the family IPv4 alone. Upstream: initIPFamilyFields in alloc.go, and patchAllocatedValues and
normalizeClusterIPs in storage.go, of pkg/registry/core/service/storage, and dropTypeDependentFields in
pkg/registry/core/service/strategy.go.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.enumerations import TRAFFIC_POLICIES
from simulator.apiserver.kinds.services.validation import (
    WITH_NODE_PORTS,
    is_externally_accessible,
    needs_health_check,
    validate_addresses,
)
from simulator.apiserver.status import Cause, invalid

_ADDRESS_FIELDS: Final = ("clusterIP", "clusterIPs")
_OF_BALANCERS: Final = ("allocateLoadBalancerNodePorts", "loadBalancerClass")
HEADLESS: Final = "None"
_CONFIGURED: Final = ("IPv4",)
_FAMILIES: Final = ("IPv4", "IPv6")
_SINGLE: Final = "SingleStack"
_MULTIPLE: Final = "must be 'RequireDualStack' or 'PreferDualStack' when multiple {} are specified"
_POLICY: Final = "spec.ipFamilyPolicy"


def needs_addresses(spec: Manifest) -> bool:
    return spec.get("type") != "ExternalName"


def needs_node_ports(spec: Manifest) -> bool:
    """Whether each port of the Service gets one on the nodes."""
    kind = spec.get("type")
    return kind == "NodePort" or (
        kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts", True) is not False
    )


def keep_allocated(after: Manifest, before: Manifest) -> None:
    """Set what was allocated and an update leaves out, in place."""
    if needs_addresses(after) and needs_addresses(before):
        for field in _ADDRESS_FIELDS:
            if not after.get(field) and before.get(field):
                after[field] = before[field]
    if needs_node_ports(after) and needs_node_ports(before):
        _keep_node_ports(after, before)
    if needs_health_check(after) and needs_health_check(before) and not after.get("healthCheckNodePort"):
        after["healthCheckNodePort"] = before.get("healthCheckNodePort", 0)
    _match_addresses(after, before)


def _keep_node_ports(after: Manifest, before: Manifest) -> None:
    """Keep the node ports of a Service, whose ports are identified by their names."""
    known = {port.get("name", ""): port.get("nodePort", 0) for port in before.get("ports", ())}
    used = _node_ports(after) & _node_ports(before)
    for port in after.get("ports", ()):
        number = known.get(port.get("name", ""), 0)
        if not port.get("nodePort") and number and number not in used:
            port["nodePort"] = number


def _match_addresses(after: Manifest, before: Manifest) -> None:
    """Apply changes of ``clusterIP``, the only field that old clients have, to ``clusterIPs``
    (normalizeClusterIPs)."""
    first, known = after.get("clusterIP", ""), before.get("clusterIP", "")
    if first == known:
        if not after.get("clusterIPs") and before.get("clusterIPs"):
            after["clusterIPs"] = before["clusterIPs"]
    elif after.get("clusterIPs") == before.get("clusterIPs"):
        if known and not first:
            after.pop("clusterIPs", None)
        else:
            after["clusterIPs"] = [first]


def drop_type_dependent_fields(service: Manifest, before: Manifest) -> None:
    """Remove what the new type of an updated Service does not need, unless the update changes it, too."""
    after = service["spec"]
    if needs_addresses(before) and not needs_addresses(after):
        if _are_same(_ADDRESS_FIELDS, after, before):
            _drop(after, _ADDRESS_FIELDS)
        _drop_same(after, before, ("ipFamilies", "ipFamilyPolicy"))
    had_ports, has_ports = (spec.get("type") in WITH_NODE_PORTS for spec in (before, after))
    if had_ports and not has_ports and _node_ports(after) <= _node_ports(before):
        for port in after.get("ports", ()):
            port.pop("nodePort", None)
    if needs_health_check(before) and not needs_health_check(after):
        _drop_same(after, before, ("healthCheckNodePort",))
    if before.get("type") == "LoadBalancer" != after.get("type"):
        _drop_same(after, before, _OF_BALANCERS)
    if is_externally_accessible(before) and not is_externally_accessible(after):
        _drop_same(after, before, ("externalTrafficPolicy",))
    if after.get("type") != "LoadBalancer" and "status" in service:
        service["status"] = {**service["status"], "loadBalancer": {}}


def hide_internal_policy(spec: Manifest) -> None:
    """Remove the policy that a name of elsewhere does not need: upstream stores it and does not show it
    (defaultOnReadInternalTrafficPolicy)."""
    if not needs_addresses(spec) and spec.get("internalTrafficPolicy") in TRAFFIC_POLICIES:
        del spec["internalTrafficPolicy"]


def _node_ports(spec: Manifest) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports", ()) if port.get("nodePort")}


def _are_same(fields: Iterable[str], after: Manifest, before: Manifest) -> bool:
    return all(after.get(field) == before.get(field) for field in fields)


def _drop_same(after: Manifest, before: Manifest, fields: Iterable[str]) -> None:
    _drop(after, [field for field in fields if _are_same((field,), after, before)])


def _drop(spec: Manifest, fields: Iterable[str]) -> None:
    for field in fields:
        spec.pop(field, None)


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
