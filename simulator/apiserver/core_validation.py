"""Validation of Services, ConfigMaps, Secrets, ResourceQuotas, Leases, RuntimeClasses and
HorizontalPodAutoscalers, beyond their schemas.

Upstream: validation.go in pkg/apis/{core,coordination,node,autoscaling}/validation, v1.34."""

import ipaddress
from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.status import Cause, duplicate, invalid, not_supported, required
from simulator.objects import quantity

SERVICE_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
NOT_AN_ADDRESS: Final = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"


def _service(manifest: Manifest) -> Iterator[Cause]:
    """ValidateService."""
    spec = manifest["spec"]
    kind, ports = spec.get("type", "ClusterIP"), spec.get("ports") or ()
    if not ports and kind != "ExternalName" and spec.get("clusterIP") != "None":
        yield required("spec.ports")
    seen: set[str] = set()
    for index, port in enumerate(ports):
        path = f"spec.ports[{index}]"
        yield from _service_port(port, path, named=len(ports) > 1)
        name = port.get("name") or ""
        if name and name in seen:
            yield duplicate(f"{path}.name", name)
        seen.add(name)
    if kind not in SERVICE_TYPES:
        yield not_supported("spec.type", kind, SERVICE_TYPES)
    if kind == "ExternalName":
        name = (spec.get("externalName") or "").removesuffix(".")
        if not name:
            yield required("spec.externalName")
        elif problem := names.dns_subdomain(name):
            yield invalid("spec.externalName", name, problem)
    for index, address in enumerate(spec.get("clusterIPs") or ()):
        if address not in ("", "None") and not _is_address(address):
            yield invalid(f"spec.clusterIPs[{index}]", address, NOT_AN_ADDRESS)


def _service_port(port: Manifest, path: str, *, named: bool) -> Iterator[Cause]:
    name = port.get("name") or ""
    if named and not name:
        yield required(f"{path}.name")
    elif name and (problem := names.dns_label(name)):
        yield invalid(f"{path}.name", name, problem)
    number = port.get("port") or 0
    if not 1 <= number <= 65535:
        yield invalid(f"{path}.port", number, names.PORT_RANGE)
    protocol = port.get("protocol", "TCP")
    if protocol not in PROTOCOLS:
        yield not_supported(f"{path}.protocol", protocol, PROTOCOLS)
    yield from port_or_name(port.get("targetPort", number), f"{path}.targetPort")


def port_or_name(value: object, path: str) -> Iterator[Cause]:
    """ValidatePortNumOrName: a number, or the name of a port."""
    if isinstance(value, int):
        if not 1 <= value <= 65535:
            yield invalid(path, value, names.PORT_RANGE)
        return
    for problem in names.port_name_problems(str(value)):
        yield invalid(path, value, problem)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _config_map(manifest: Manifest) -> Iterator[Cause]:
    data, binary = manifest.get("data") or {}, manifest.get("binaryData") or {}
    for key in sorted(data):
        yield from _config_key(key, f"data[{key}]")
        if key in binary:
            yield invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    for key in sorted(binary):
        yield from _config_key(key, f"binaryData[{key}]")


def _secret(manifest: Manifest) -> Iterator[Cause]:
    for key in sorted(manifest.get("data") or ()):
        yield from _config_key(key, f"data[{key}]")


def _config_key(key: str, path: str) -> Iterator[Cause]:
    if problem := names.config_key(key):
        yield invalid(path, key, problem)


def _resource_quota(manifest: Manifest) -> Iterator[Cause]:
    for name, amount in sorted(((manifest.get("spec") or {}).get("hard") or {}).items()):
        if quantity.parse_quantity(amount) < 0:
            yield invalid(f"spec.hard[{name}]", str(amount), "must be greater than or equal to 0")


def _lease(manifest: Manifest) -> Iterator[Cause]:
    """ValidateLeaseSpec."""
    spec = manifest.get("spec") or {}
    seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if seconds is not None and seconds <= 0:
        yield invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    if transitions is not None and transitions < 0:
        yield invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0")


def _runtime_class(manifest: Manifest) -> Iterator[Cause]:
    handler = manifest.get("handler", "")
    if problem := names.dns_label(handler):
        yield invalid("handler", handler, problem)


def _autoscaler(manifest: Manifest) -> Iterator[Cause]:
    """validateHorizontalPodAutoscalerSpec."""
    spec = manifest["spec"]
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    if least is not None and least < 1:
        yield invalid("spec.minReplicas", least, "must be greater than or equal to 1")
    if most < 1:
        yield invalid("spec.maxReplicas", most, "must be greater than 0")
    if least is not None and most < least:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    target = spec.get("scaleTargetRef") or {}
    for field in ("kind", "name"):
        if not target.get(field):
            yield required(f"spec.scaleTargetRef.{field}")
        elif problem := names.path_segment(target[field]):
            yield invalid(f"spec.scaleTargetRef.{field}", target[field], problem)
    # Kinds of the core group have no such prefix; a ReplicationController has the version alone.
    if not target.get("apiVersion") and target.get("kind") != "ReplicationController":
        yield invalid("spec.scaleTargetRef.apiVersion", "", "apiVersion must specify API group")


def _endpoints(manifest: Manifest) -> Iterator[Cause]:
    """ValidateEndpoints."""
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
    try:
        ip = ipaddress.ip_address(address["ip"])
    except ValueError:
        yield invalid(f"{path}.ip", address["ip"], NOT_AN_ADDRESS)
        return
    for is_wrong, detail in (
        (ip.is_unspecified, "may not be unspecified (0.0.0.0 or ::)"),
        (ip.is_loopback, "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
        (ip.is_link_local, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
    ):
        if is_wrong:
            yield invalid(f"{path}.ip", address["ip"], detail)
    if address.get("hostname") and (problem := names.dns_label(address["hostname"])):
        yield invalid(f"{path}.hostname", address["hostname"], problem)
    if address.get("nodeName") and (problem := names.dns_subdomain(address["nodeName"])):
        yield invalid(f"{path}.nodeName", address["nodeName"], problem)


def _endpoint_port(port: Manifest, path: str, *, named: bool) -> Iterator[Cause]:
    name = port.get("name", "")
    if named and not name:
        yield required(f"{path}.name")
    elif name and (problem := names.dns_label(name)):
        yield invalid(f"{path}.name", name, problem)
    if not 1 <= port["port"] <= names.MAX_PORT:
        yield invalid(f"{path}.port", port["port"], names.PORT_RANGE)
    if port.get("protocol", "TCP") not in PROTOCOLS:
        yield not_supported(f"{path}.protocol", port["protocol"], PROTOCOLS)


CORE_CHECKS: dict[str, Callable[[Manifest], Iterator[Cause]]] = {
    "endpoints": _endpoints,
    "services": _service,
    "configmaps": _config_map,
    "secrets": _secret,
    "resourcequotas": _resource_quota,
    "leases.coordination.k8s.io": _lease,
    "runtimeclasses.node.k8s.io": _runtime_class,
    "horizontalpodautoscalers.autoscaling": _autoscaler,
}
