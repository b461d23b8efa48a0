"""Validation of Endpoints, EndpointSlices and NetworkPolicies, beyond their schemas.

Upstream: validation.go in pkg/apis/{core,discovery,networking}/validation, v1.34."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import ADDRESS_TYPES, POLICY_TYPES, PROTOCOLS
from simulator.apiserver.field_checks import (
    check_address,
    check_choice,
    check_cidr,
    check_domain_name,
    check_name,
    check_non_special_address,
    check_port,
    check_port_number,
    parse_address,
    parse_cidr,
    too_many,
)
from simulator.apiserver.ingress_validation import (
    validate_ingress,
    validate_ingress_class,
    validate_updated_ingress,
)
from simulator.apiserver.selector_validation import validate_label_selector
from simulator.apiserver.status import (
    Cause,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)

_MAX_ADDRESSES: Final = 100
_MAX_PORTS: Final = 20_000
_MAX_ENDPOINTS: Final = 1_000
_MAX_HINTS: Final = 8


def _validate_endpoints(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that validateEndpointSubsets reports."""
    for index, subset in enumerate(manifest.get("subsets") or ()):
        path = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            yield required(path, "must specify `addresses` or `notReadyAddresses`")
        for kind in ("addresses", "notReadyAddresses"):
            for number, address in enumerate(subset.get(kind) or ()):
                yield from _endpoint_address(address, f"{path}.{kind}[{number}]")
        ports = subset.get("ports") or ()
        for number, port in enumerate(ports):
            yield from _endpoint_port(port, f"{path}.ports[{number}]", named=len(ports) > 1)


def _endpoint_address(address: Manifest, path: str) -> Iterator[Cause]:
    yield from check_address(address["ip"], f"{path}.ip")
    if address.get("hostname"):
        yield from check_name(names.dns_label, address["hostname"], f"{path}.hostname")
    if "nodeName" in address:
        yield from check_name(names.dns_subdomain, address["nodeName"], f"{path}.nodeName")
    yield from check_non_special_address(address["ip"], f"{path}.ip")


def _endpoint_port(port: Manifest, path: str, *, named: bool) -> Iterator[Cause]:
    name = port.get("name", "")
    if named and not name:
        yield required(f"{path}.name")
    elif name:
        yield from check_name(names.dns_label, name, f"{path}.name")
    yield from check_port_number(port["port"], f"{path}.port")
    yield from check_choice(port.get("protocol", "TCP"), PROTOCOLS, f"{path}.protocol")
    if "appProtocol" in port:
        yield from check_name(names.qualified_name, port["appProtocol"], f"{path}.appProtocol")


def _validate_endpoint_slice(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateEndpointSlice in pkg/apis/discovery/validation reports."""
    kind = manifest["addressType"]
    if not kind:
        yield required("addressType")
    elif kind not in ADDRESS_TYPES:
        yield not_supported("addressType", kind, ADDRESS_TYPES)
    endpoints = manifest.get("endpoints") or ()
    if len(endpoints) > _MAX_ENDPOINTS:
        yield too_many("endpoints", len(endpoints), _MAX_ENDPOINTS)
    else:
        for index, endpoint in enumerate(endpoints):
            yield from _endpoint(endpoint, kind, f"endpoints[{index}]")
    ports = manifest.get("ports") or ()
    if len(ports) > _MAX_PORTS:
        yield too_many("ports", len(ports), _MAX_PORTS)
    else:
        yield from _slice_ports(ports)


def _endpoint(endpoint: Manifest, kind: str, path: str) -> Iterator[Cause]:
    addresses = endpoint.get("addresses") or ()
    if not addresses:
        yield required(f"{path}.addresses", "must contain at least 1 address")
    elif len(addresses) > _MAX_ADDRESSES:
        yield too_many(f"{path}.addresses", len(addresses), _MAX_ADDRESSES)
    for index, address in enumerate(addresses):
        at = f"{path}.addresses[{index}]"
        if kind in ("IPv4", "IPv6"):
            parsed = parse_address(address)
            if parsed is None or parsed.version != int(kind[-1]):
                yield invalid(at, address, f"must be a valid {kind} address")
            yield from check_non_special_address(address, at)
        elif kind == "FQDN":
            yield from check_domain_name(address, at)
    if endpoint.get("nodeName") is not None:
        yield from check_name(names.dns_subdomain, endpoint["nodeName"], f"{path}.nodeName")
    if endpoint.get("hostname") is not None:
        yield from check_name(names.dns_label, endpoint["hostname"], f"{path}.hostname")
    yield from _hints(endpoint.get("hints") or {}, f"{path}.hints")


def _hints(hints: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateHints reports."""
    zones, nodes = hints.get("forZones") or (), hints.get("forNodes") or ()
    for field, given in (("forZones", zones), ("forNodes", nodes)):
        if len(given) > _MAX_HINTS:
            yield too_many(f"{path}.{field}", len(given), _MAX_HINTS)
            return
    for field, given, rule in (
        ("forZones", zones, names.label_value),
        ("forNodes", nodes, names.dns_subdomain),
    ):
        known: set[str] = set()
        for index, hint in enumerate(given):
            at = f"{path}.{field}[{index}].name"
            if hint["name"] in known:
                yield duplicate(at, hint["name"])
            known.add(hint["name"])
            yield from check_name(rule, hint["name"], at)


def _slice_ports(ports: Any) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, port in enumerate(ports):
        path, name = f"ports[{index}]", port.get("name", "")
        if name:
            yield from check_name(names.dns_label, name, f"{path}.name")
        if name in seen:
            yield duplicate(f"{path}.name", name)
        seen.add(name)
        if port.get("port") is not None:
            yield from check_port_number(port["port"], f"{path}.port")
        yield from check_choice(port.get("protocol", "TCP"), PROTOCOLS, f"{path}.protocol")
        if port.get("appProtocol") is not None:
            yield from check_name(names.qualified_name, port["appProtocol"], f"{path}.appProtocol")


def _validate_network_policy(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateNetworkPolicySpec reports."""
    spec = manifest.get("spec") or {}
    yield from validate_label_selector(spec.get("podSelector"), "spec.podSelector")
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            path = f"spec.{direction}[{index}]"
            for number, port in enumerate(rule.get("ports") or ()):
                yield from _policy_port(port, f"{path}.ports[{number}]")
            for number, peer in enumerate(rule.get(peers) or ()):
                yield from _peer(peer, f"{path}.{peers}[{number}]")
    types = spec.get("policyTypes") or []
    if len(types) > len(POLICY_TYPES):
        yield invalid("spec.policyTypes", types, "may not specify more than two policyTypes")
        return
    for index, kind in enumerate(types):
        if kind not in POLICY_TYPES:
            yield not_supported(f"spec.policyTypes[{index}]", kind, POLICY_TYPES, as_given=True)


def _policy_port(port: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateNetworkPolicyPort reports."""
    if port.get("protocol", "TCP") not in PROTOCOLS:
        choices = ("TCP", "UDP", "SCTP")
        yield not_supported(f"{path}.protocol", port["protocol"], choices, as_given=True)
    number, end = port.get("port"), port.get("endPort")
    if number is not None:
        if isinstance(number, str) and end is not None:
            yield invalid(f"{path}.endPort", end, "may not be specified when `port` is non-numeric")
        yield from check_port(number, f"{path}.port")
        if isinstance(number, int) and end is not None:
            if end < number:
                yield invalid(f"{path}.endPort", number, "must be greater than or equal to `port`")
            yield from check_port_number(end, f"{path}.endPort")
    elif end is not None:
        yield invalid(f"{path}.endPort", end, "may not be specified when `port` is not specified")


def _peer(peer: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateNetworkPolicyPeer reports."""
    given = 0
    for field in ("podSelector", "namespaceSelector"):
        if peer.get(field) is not None:
            given += 1
            yield from validate_label_selector(peer[field], f"{path}.{field}")
    block = peer.get("ipBlock")
    if block is not None:
        yield from _ip_block(block, f"{path}.ipBlock")
        if given:
            yield forbidden(path, "may not specify both ipBlock and another peer")
    elif not given:
        yield required(path, "must specify a peer")


def _ip_block(block: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateIPBlock reports."""
    if not block.get("cidr"):
        yield required(f"{path}.cidr")
        return
    yield from check_cidr(block["cidr"], f"{path}.cidr")
    network = parse_cidr(block["cidr"])
    if network is None:
        return
    for index, text in enumerate(block.get("except") or ()):
        at, hole = f"{path}.except[{index}]", parse_cidr(text)
        yield from check_cidr(text, at)
        if hole is None:
            continue
        inside = network.version == hole.version and hole.network_address in network
        if not inside or network.prefixlen >= hole.prefixlen:
            yield invalid(at, text, "must be a strict subset of `cidr`")


NETWORK_CHECKS: Final[dict[str, Callable[[Manifest], Iterator[Cause]]]] = {
    "endpoints": _validate_endpoints,
    "endpointslices.discovery.k8s.io": _validate_endpoint_slice,
    "ingressclasses.networking.k8s.io": validate_ingress_class,
    "ingresses.networking.k8s.io": validate_ingress,
    "networkpolicies.networking.k8s.io": _validate_network_policy,
}
NETWORK_CHECKS_OF_UPDATED: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    "ingresses.networking.k8s.io": validate_updated_ingress,
}
"""The checks of updated objects, where these are others than those of new ones."""
