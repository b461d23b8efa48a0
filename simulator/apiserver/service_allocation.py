"""Allocation of what a Service has in its cluster alone: its address and its node ports.

Upstream: pkg/registry/core/service/storage/alloc.go, v1.34, with the ranges of kubeadm and kube-apiserver.
The numbers are drawn from the Service's UID, so that the same cluster always gives the same ones."""

import hashlib
import ipaddress
from collections.abc import Iterator

from simulator.api import Manifest
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.status import Cause, invalid

SERVICES = "services"
HEADLESS = "None"
_ADDRESSES = ipaddress.IPv4Network("10.96.0.0/12")
_PORTS = range(30_000, 32_768)
_WITH_NODE_PORTS = ("NodePort", "LoadBalancer")
_NOT_IN_RANGE = (
    f"provided port is not in the valid range. The range of valid ports is {_PORTS.start}-{_PORTS.stop - 1}"
)


def allocate(service: Manifest, overlay: Overlay) -> None:
    """Set the addresses and node ports that the Service needs and does not have."""
    spec = service["spec"]
    if spec["type"] == "ExternalName":
        return
    others = _other_specs(service, overlay)
    if not spec.get("clusterIP"):
        taken = {other.get("clusterIP") for other in others}
        spec["clusterIP"] = next(ip for ip in _addresses(service) if ip not in taken)
    spec["clusterIPs"] = [spec["clusterIP"], *spec.get("clusterIPs", ())[1:]]
    if spec["clusterIP"] != HEADLESS or spec.get("selector"):
        spec.setdefault("ipFamilyPolicy", "SingleStack")
        spec.setdefault("ipFamilies", ["IPv6" if ":" in spec["clusterIP"] else "IPv4"])
    else:
        # Somebody else makes its endpoints, of whatever families.
        spec.setdefault("ipFamilyPolicy", "RequireDualStack")
        spec.setdefault("ipFamilies", ["IPv4", "IPv6"])
    if spec["type"] == "NodePort" or spec.get("allocateLoadBalancerNodePorts"):
        taken_ports = {port.get("nodePort") for other in others for port in other.get("ports", ())}
        _allocate_ports(service, taken_ports)


def keep_allocated(new: Manifest, old: Manifest) -> None:
    """Set what was allocated and an update leaves out (patchAllocatedValues and NormalizeClusterIPs)."""
    after, before = new.setdefault("spec", {}), old["spec"]
    kinds = (after.get("type", before.get("type")), before.get("type"))
    if "ExternalName" in kinds:
        return
    if not after.get("clusterIP") and not after.get("clusterIPs"):
        after["clusterIP"] = before.get("clusterIP", "")
    if after.get("clusterIP") and after["clusterIP"] == before.get("clusterIP"):
        after.setdefault("clusterIPs", before.get("clusterIPs", []))
    elif after.get("clusterIP") and after.get("clusterIPs") == before.get("clusterIPs"):
        after["clusterIPs"] = [after["clusterIP"], *after["clusterIPs"][1:]]
    for field in ("ipFamilyPolicy", "ipFamilies"):
        if field in before:
            after.setdefault(field, before[field])
    if "ClusterIP" not in kinds:
        allocated = {
            (port.get("protocol", "TCP"), port["port"]): port["nodePort"]
            for port in before.get("ports", ())
            if port.get("nodePort")
        }
        taken = {port.get("nodePort") for port in after.get("ports", ())}
        for port in after.get("ports", ()):
            number = allocated.get((port.get("protocol", "TCP"), port["port"]))
            if not port.get("nodePort") and number and number not in taken:
                port["nodePort"] = number


def find_allocation_faults(service: Manifest, overlay: Overlay, old: Manifest | None = None) -> list[Cause]:
    """Return the causes for an address or node port that the Service asks for and cannot have. Those that it
    has already (``old``) are not checked. That an address is in the range is not checked.

    Upstream: allocIPs and allocNodePort in alloc.go, with the errors of the two allocators."""
    spec, has = service["spec"], old["spec"] if old else {}
    others = _other_specs(service, overlay)
    addresses = spec.get("clusterIPs", [])
    taken = {address for other in others for address in other.get("clusterIPs", ())} - {HEADLESS}
    causes = [
        invalid(
            "spec.clusterIPs", addresses, f"failed to allocate IP {address}: provided IP is already allocated"
        )
        for address in addresses
        if address in taken and address not in has.get("clusterIPs", ())
    ]
    used = {_node_port(port) for other in others for port in other.get("ports", ())}
    kept = {_node_port(port) for port in has.get("ports", ())}
    for index, port in enumerate(spec.get("ports", ()) if spec["type"] in _WITH_NODE_PORTS else ()):
        number = port.get("nodePort")
        if number and _node_port(port) not in kept:
            detail = "" if number in _PORTS else _NOT_IN_RANGE
            detail = "provided port is already allocated" if _node_port(port) in used else detail
            if detail:
                causes.append(invalid(f"spec.ports[{index}].nodePort", number, detail))
    return causes[:1]


def _other_specs(service: Manifest, overlay: Overlay) -> list[Manifest]:
    own = service["metadata"]["uid"]
    return [other["spec"] for other in overlay.list(SERVICES) if other["metadata"]["uid"] != own]


def _node_port(port: Manifest) -> tuple[str, int]:
    return port.get("protocol", "TCP"), port.get("nodePort", 0)


def _allocate_ports(service: Manifest, taken: set[int]) -> None:
    ports = service["spec"].get("ports", ())
    taken |= {port.get("nodePort") for port in ports}
    free = (number for number in _drawn(service, len(_PORTS)) if _PORTS[number] not in taken)
    for port in ports:
        if not port.get("nodePort"):
            port["nodePort"] = _PORTS[next(free)]


def _addresses(service: Manifest) -> Iterator[str]:
    # Neither the network's own address nor its first, which is that of the API server, nor the broadcast's.
    return (str(_ADDRESSES[2 + number]) for number in _drawn(service, _ADDRESSES.num_addresses - 3))


def _drawn(service: Manifest, count: int) -> Iterator[int]:
    """All numbers below ``count``, from one that the Service's UID decides."""
    first = int.from_bytes(hashlib.sha256(service["metadata"]["uid"].encode()).digest()[:8])
    return ((first + step) % count for step in range(count))
