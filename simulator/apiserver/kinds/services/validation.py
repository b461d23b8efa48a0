"""Validation of Services, beyond their schema.

Upstream: ValidateService and what it calls in pkg/apis/core/validation/validation.go."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import (
    AFFINITIES,
    IP_FAMILIES,
    IP_FAMILY_POLICIES,
    PROTOCOLS,
    SERVICE_TYPES,
    TRAFFIC_POLICIES,
)
from simulator.apiserver.field_checks import (
    check_address,
    check_choice,
    check_cidr,
    check_name,
    check_non_special_address,
    check_port,
    check_port_number,
    parse_address,
)
from simulator.apiserver.repeated import repeats
from simulator.apiserver.selector_validation import validate_labels
from simulator.apiserver.shapes import all_of, choice, field, may_not_have, named_by, needed, one_of
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, not_supported, required

WITH_NODE_PORTS: Final = ("NodePort", "LoadBalancer")
_FAMILY_POLICY: Final = field("ipFamilyPolicy", one_of(IP_FAMILY_POLICIES))
_DISTRIBUTIONS: Final = ("PreferClose", "PreferSameZone", "PreferSameNode")
_MAX_AFFINITY_SECONDS: Final = 86_400
_NOT_EXTERNAL: Final = may_not_have(
    *("clusterIPs", "ipFamilies", "ipFamilyPolicy"), detail="may not be set for ExternalName services"
)
_ONLY_BALANCED: Final = "may only be used when `type` is 'LoadBalancer'"
_SOURCE_RANGES: Final = "service.beta.kubernetes.io/load-balancer-source-ranges"
_TOPOLOGY_MODE: Final = "service.kubernetes.io/topology-mode"
_TOPOLOGY_HINTS: Final = "service.kubernetes.io/topology-aware-hints"


def is_headless(spec: Manifest) -> bool:
    return spec.get("clusterIPs") == ["None"]


def validate_service(manifest: Manifest) -> Iterator[Cause]:
    spec, annotations = manifest["spec"], manifest["metadata"].get("annotations", {})
    mode, hints = annotations.get(_TOPOLOGY_MODE), annotations.get(_TOPOLOGY_HINTS)
    if mode is not None and hints is not None and mode != hints:
        detail = f"must match annotations[{_TOPOLOGY_HINTS}] when both are specified"
        yield invalid(f"metadata.annotations[{_TOPOLOGY_MODE}]", mode, detail)
    kind, ports = spec.get("type", ""), spec.get("ports") or ()
    if not ports and not is_headless(spec) and kind != "ExternalName":
        yield required("spec.ports")
    yield from _of_type(spec, kind)
    yield from _ports(ports, "spec.ports")
    yield from validate_labels(spec.get("selector", {}), "spec.selector")
    yield from _affinity(spec)
    if kind != "ExternalName":
        yield from validate_addresses(spec)
    for index, address in enumerate(spec.get("externalIPs", ())):
        faults = [*check_address(address, f"spec.externalIPs[{index}]")]
        yield from faults or check_non_special_address(address, f"spec.externalIPs[{index}]")
    yield from check_choice(kind, SERVICE_TYPES, "spec.type")
    yield from _unique_ports(ports, kind)
    yield from _source_ranges(spec, annotations)
    if kind != "LoadBalancer" and "allocateLoadBalancerNodePorts" in spec:
        yield forbidden("spec.allocateLoadBalancerNodePorts", _ONLY_BALANCED)
    yield from check_balancer_class(spec)
    yield from _traffic(spec, kind)


def _of_type(spec: Manifest, kind: str) -> Iterator[Cause]:
    if kind in WITH_NODE_PORTS:
        if is_headless(spec):
            yield invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    elif kind == "ExternalName":
        yield from _NOT_EXTERNAL(spec, "spec")
        name = (spec.get("externalName") or "").removesuffix(".")
        if name:
            yield from check_name(names.dns_subdomain, name, "spec.externalName")
        else:
            yield required("spec.externalName")


_PORT: Final = all_of(
    field("port", check_port_number, default=0),
    field("protocol", choice(PROTOCOLS), default="TCP"),
    lambda port, path: check_port(port.get("targetPort", port.get("port")), f"{path}.targetPort"),
    field("appProtocol", named_by(names.qualified_name)),
)


def _ports(ports: Sequence[Manifest], path: str) -> Iterator[Cause]:
    """Yield the faults that validateServicePort reports."""
    seen: set[str] = set()
    for index, port in enumerate(ports):
        name, at = port.get("name") or "", f"{path}[{index}]"
        if len(ports) > 1 and not name:
            yield required(f"{at}.name")
        elif name:
            yield from check_name(names.dns_label, name, f"{at}.name")
            if name in seen:
                yield duplicate(f"{at}.name", name)
            seen.add(name)
        yield from _PORT(port, at)


def _affinity(spec: Manifest) -> Iterator[Cause]:
    kind, path = spec.get("sessionAffinity", "None"), "spec.sessionAffinityConfig"
    config = spec.get("sessionAffinityConfig")
    yield from check_choice(kind, AFFINITIES, "spec.sessionAffinity")
    if kind == "ClientIP":
        seconds = ((config or {}).get("clientIP") or {}).get("timeoutSeconds", 0)
        if not 0 < seconds <= _MAX_AFFINITY_SECONDS:
            detail = f"must be greater than 0 and less than {_MAX_AFFINITY_SECONDS}"
            yield invalid(f"{path}.clientIP.timeoutSeconds", seconds, detail)
    elif kind == "None" and config is not None:
        yield forbidden(path, "must not be set when session affinity is None")


def validate_addresses(spec: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateServiceClusterIPsRelatedFields reports."""
    first, addresses = spec.get("clusterIP", ""), spec.get("clusterIPs") or []
    families, path = spec.get("ipFamilies") or [], "spec.clusterIPs"
    if first and not addresses:
        yield required(path)
    elif first and addresses[0] != first:
        yield invalid(path, addresses, "first value must match `clusterIP`")
    elif addresses and not first:
        yield invalid(path, addresses, "must be empty when `clusterIP` is not specified")
    again = repeats(families)
    for index, family in enumerate(families):
        if family not in IP_FAMILIES:
            yield not_supported(f"spec.ipFamilies[{index}]", family, IP_FAMILIES)
        if again[index]:
            yield duplicate(f"spec.ipFamilies[{index}]", family)
    yield from _FAMILY_POLICY(spec, "spec")
    wrong = []
    for index, address in enumerate(addresses):
        if index == 0 and address == "None":
            if len(addresses) > 1:
                wrong.append(invalid(path, addresses, "'None' must be the first and only value"))
        else:
            wrong += check_address(address, f"{path}[{index}]")
    yield from wrong
    if len(addresses) > 2:
        yield invalid(path, addresses, "may only hold up to 2 values")
    if not wrong and not is_headless(spec):
        yield from _families(addresses, families, path)


def _families(addresses: list[str], families: list[str], path: str) -> Iterator[Cause]:
    found = [parsed and f"IPv{parsed.version}" for parsed in map(parse_address, addresses)]
    if len(addresses) > 1 and len({*found}) < 2:
        yield invalid(path, addresses, "may specify no more than one IP for each IP family")
    for index, (address, family, wanted) in enumerate(zip(addresses, found, families, strict=False)):
        if wanted in IP_FAMILIES and family != wanted:
            detail = f"expected an {wanted} value as indicated by `ipFamilies[{index}]`"
            yield invalid(f"{path}[{index}]", address, detail)


def _unique_ports(ports: Any, kind: str) -> Iterator[Cause]:
    if kind == "ClusterIP":
        for index, port in enumerate(ports):
            if port.get("nodePort"):
                yield forbidden(f"spec.ports[{index}].nodePort", "may not be used when `type` is 'ClusterIP'")
    for name in ("nodePort", "port"):
        seen = set()
        for index, port in enumerate(ports):
            number, protocol = port.get(name) or 0, port.get("protocol", "TCP")
            if (protocol, number) in seen and (number or name == "port"):
                at = f"spec.ports[{index}]"
                if name == "nodePort":
                    yield duplicate(f"{at}.nodePort", number)
                else:
                    yield duplicate(at, _port_struct(protocol, number), whole=True)
            seen.add((protocol, number))


def _port_struct(protocol: str, number: int) -> dict[str, Any]:
    """Return a ServicePort with nothing else, as upstream shows it."""
    first = {"Name": "", "Protocol": protocol, "AppProtocol": None}
    return {**first, "Port": number, "TargetPort": 0, "NodePort": 0}


def _source_ranges(spec: Manifest, annotations: dict[str, str]) -> Iterator[Cause]:
    ranges, path = spec.get("loadBalancerSourceRanges") or [], "spec.LoadBalancerSourceRanges"
    balanced = spec.get("type") == "LoadBalancer"
    if ranges:
        if not balanced:
            yield forbidden(path, _ONLY_BALANCED)
        for index, text in enumerate(ranges):
            yield from check_cidr(text.strip(), f"{path}[{index}]")
    elif _SOURCE_RANGES in annotations:
        at, text = f"metadata.annotations[{_SOURCE_RANGES}]", annotations[_SOURCE_RANGES].strip()
        if not balanced:
            yield forbidden(at, _ONLY_BALANCED)
        for each in text.split(",") if text else ():
            yield from check_cidr(each.strip(), at)


def check_balancer_class(spec: Manifest) -> Iterator[Cause]:
    """Yield the faults that validateLoadBalancerClassField reports for a new Service."""
    name, path = spec.get("loadBalancerClass"), "spec.loadBalancerClass"
    if name is not None and spec.get("type") == "LoadBalancer":
        yield from check_name(names.qualified_name, name, path)
    elif name is not None:
        yield forbidden(path, _ONLY_BALANCED)


def is_externally_accessible(spec: Manifest) -> bool:
    """Return whether the Service is accessible from outside (ExternallyAccessible in
    pkg/api/service/util.go)."""
    kind = spec.get("type")
    return kind in WITH_NODE_PORTS or (kind == "ClusterIP" and bool(spec.get("externalIPs")))


def needs_health_check(spec: Manifest) -> bool:
    """Whether load balancers ask the nodes at a port of their own where the endpoints are (NeedsHealthCheck
    in pkg/api/service/util.go)."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _traffic(spec: Manifest, kind: str) -> Iterator[Cause]:
    external, port = spec.get("externalTrafficPolicy", ""), spec.get("healthCheckNodePort", 0)
    if is_externally_accessible(spec):
        yield from check_choice(external, TRAFFIC_POLICIES, "spec.externalTrafficPolicy")
    elif external:
        detail = "may only be set for externally-accessible services"
        yield invalid("spec.externalTrafficPolicy", external, detail)
    if needs_health_check(spec):
        yield from _HEALTH_CHECK_PORT(spec, "spec")
    elif port:
        detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        yield invalid("spec.healthCheckNodePort", port, detail)
    if spec.get("internalTrafficPolicy") is None and kind in ("ClusterIP", *WITH_NODE_PORTS):
        yield required("spec.internalTrafficPolicy")
    yield from _POLICIES(spec, "spec")


_HEALTH_CHECK_PORT: Final = needed("healthCheckNodePort", check_port_number)
_POLICIES: Final = all_of(
    field("internalTrafficPolicy", one_of(TRAFFIC_POLICIES)),
    field("trafficDistribution", one_of(_DISTRIBUTIONS, as_given=True)),
)
