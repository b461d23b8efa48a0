"""The fields that depend on the type of a Service: those that it needs, those that an update keeps and those
that it releases.

Upstream: patchAllocatedValues and normalizeClusterIPs in pkg/registry/core/service/storage/storage.go, and
dropTypeDependentFields in pkg/registry/core/service/strategy.go, v1.34.
"""

from collections.abc import Iterable
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.enumerations import TRAFFIC_POLICIES
from simulator.apiserver.kinds.services.validation import is_externally_accessible, needs_health_check

_ADDRESS_FIELDS: Final = ("clusterIP", "clusterIPs")
_WITH_NODE_PORTS: Final = ("NodePort", "LoadBalancer")
_OF_BALANCERS: Final = ("allocateLoadBalancerNodePorts", "loadBalancerClass")


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
    had_ports, has_ports = (spec.get("type") in _WITH_NODE_PORTS for spec in (before, after))
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
